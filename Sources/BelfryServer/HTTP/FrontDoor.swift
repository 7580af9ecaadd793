import BelfryBytes
import BelfryHTTP
import BelfryLoop
import BelfryModel

/// Lets requests in, has them answered, and sees to it that each is answered in time. One per loop, on its
/// thread.
final class FrontDoor: HTTPHandler {
  /// Longer than any answer takes while Redis is well, and than Redis is waited for when it is not. Whoever
  /// would wait longer is told to come back rather than kept.
  static let answerMaxSeconds = 10

  private let services: LoopServices

  init(_ services: LoopServices) {
    self.services = services
  }

  let fieldsGivenOnce = [
    "Authorization", Caller.accountHeader, Caller.deviceHeader, "Content-Type", Feeds.lastEventID.name,
  ]

  func admit(_ head: HTTPRequestHead) -> HTTPAdmission {
    do throws(Problem) {
      let admission = try Admission(head, services)
      return .admitted(
        HTTPAdmitted(
          found: admission, bodyMaxBytes: admission.match.route.body.form.sizeMaxBytes,
          account: admission.caller?.actor.charged.map { UTF8Text($0.text) }))
    } catch {
      return .refused(counted(error.reply))
    }
  }

  func refuse(_ refusal: HTTPRefusal) -> HTTPResponse { counted(Problem(refusal).reply) }

  func pausedAccepting(_ pause: HTTPPause) {
    Log.line(
      "accepting paused",
      [
        "loop": services.loop.name, "cause": pause.cause, "connections": String(pause.connections),
        "streams": String(pause.streams),
      ])
  }

  func handle(_ request: HTTPRequest, _ exchange: HTTPExchange) {
    do throws(Problem) {
      guard let admission = exchange.found as? Admission else {
        throw Problem(Refusal(.unavailable, "this request was not admitted"))
      }
      let route = admission.match.route
      let asked = try read(request, admission, exchange)
      switch route.answer.way {
      case .reply(let answer): reply(to: asked, of: route, on: exchange, answer)
      case .stream(let open): try stream(to: asked, on: exchange, isHead: admission.match.isHead, open)
      }
    } catch {
      refuse(error, on: exchange)
    }
  }

  /// Whoever goes too fast hears of it a little later: told at once, a client that tries again at once would cost the
  /// loop more by being refused than by being served.
  private static let delayOfTooFast = Duration.milliseconds(200)

  private func refuse(_ problem: Problem, on exchange: HTTPExchange) {
    guard problem.status == Refusal.Code.rateLimited.status else {
      return exchange.respond(counted(problem.reply))
    }
    let pending = PendingAnswer(exchange)
    _ = services.loop.schedule(after: Self.delayOfTooFast) { [self] in finish(pending, problem.reply) }
  }

  /// For a price: whoever is in debt is refused before anything is read.
  private func read(
    _ request: HTTPRequest, _ admission: Admission, _ exchange: HTTPExchange
  ) throws(Problem) -> Request {
    let price = admission.match.route.price
    do throws(Refusal) {
      try services.take(price, of: admission.caller)
      let asked = try Request(admission, request, exchange)
      services.owe(price.perName * asked.namedCount, price.pace, of: asked.caller)
      return asked
    } catch {
      throw Problem(error)
    }
  }

  // MARK: Replies

  private func reply(
    to request: Request, of route: Route, on exchange: HTTPExchange,
    _ answer: @escaping (Request, LoopServices) async throws(Refusal) -> Reply
  ) {
    let pending = PendingAnswer(exchange)
    let timer = services.loop.schedule(after: .seconds(Self.answerMaxSeconds + request.waitSeconds)) {
      [self] in
      finish(pending, Problem(Refusal(.unavailable, "this took too long; try again")).reply)
    }
    let hasStarted = services.scope.start { [self] in
      let reply: Reply
      do throws(Refusal) {
        reply = try await answer(request, services)
      } catch {
        reply = Problem(error).reply
      }
      if route.isAudited { await Audit.record(request, route, reply, services) }
      timer.cancel()
      finish(pending, reply)
    }
    if !hasStarted {
      timer.cancel()
      finish(pending, Problem(Refusal(.unavailable, "this broker is shutting down")).reply)
    }
  }

  private func finish(_ pending: PendingAnswer, _ reply: Reply) {
    guard let exchange = pending.take() else { return }
    exchange.respond(counted(reply))
  }

  // MARK: Streams

  private func stream(
    to request: Request, on exchange: HTTPExchange, isHead: Bool,
    _ open: (Request, LoopServices) throws(Refusal) -> StreamOpening
  ) throws(Problem) {
    do throws(Refusal) {
      let opening = try open(request, services)
      if isHead { return exchange.respond(counted(NotificationStream.head)) }
      try NotificationStream.open(opening, on: exchange, services)
      services.counts.count(status: 200)
    } catch {
      throw Problem(error)
    }
  }

  private func counted(_ reply: Reply) -> HTTPResponse {
    services.counts.count(status: reply.status)
    var headers = reply.headers + Reply.headersAlways
    if let type = reply.contentType { headers.append(("Content-Type", type)) }
    return HTTPResponse(status: reply.status, headers: headers, body: reply.body)
  }
}

/// An exchange that waits for its answer, and gets one: the work's, or that it took too long.
private final class PendingAnswer {
  private var exchange: HTTPExchange?

  init(_ exchange: HTTPExchange) {
    self.exchange = exchange
  }

  func take() -> HTTPExchange? {
    defer { exchange = nil }
    return exchange
  }
}
