import BelfryBytes
import BelfryHTTP
import BelfryInterface
import BelfryModel

/// A request whose row and caller are known before its body is there. When that is, it handles it. A class, for the
/// exchange keeps it until then.
final class RoutedRequest: HTTPRoutedRequest {
  static let router = Router()

  let match: Router.Match
  /// Nil also where a ticket is to say who it is.
  private(set) var caller: Caller?
  private let ticket: UTF8Text?
  private let services: LoopServices

  var bodyMaxBytes: Int { match.route.body.form.sizeMaxBytes }
  var account: UTF8Text? { caller?.actor.charged.map { UTF8Text($0.text) } }

  init(_ head: HTTPRequestHead, _ services: LoopServices) throws(Problem) {
    self.services = services
    match = try Self.router.match(method: head.method, path: head.segments)
    let route = match.route
    guard route.access == .everyone || services.isMeant(by: head) else { throw .misdirected }
    do throws(Refusal) {
      ticket = match.isHead ? nil : try Caller.ticket(head, of: route)
      caller = ticket == nil ? try Caller(head, of: route, services) : nil
    } catch {
      throw Problem(error)
    }
    guard head.contentLength != 0, let type = head.headers["Content-Type"] else { return }
    guard route.body.form.accepts(type) else { throw .unsupportedMediaType(route.body.form.mediaType) }
  }

  // MARK: Handling

  func handle(_ request: HTTPRequest, _ exchange: HTTPExchange) {
    do throws(Refusal) {
      // It was admitted when its headers were there; what it was admitted by may have been taken back while its body came.
      if !request.body.isEmpty, let caller, !services.isAccepted(caller.credential) {
        throw services.refusal(of: caller.credential)
      }
      let work = try prepare(request)
      let answer = PendingAnswer(exchange, services)
      let asked = Request(self, request, answer)
      switch work {
      case .reply(let work): reply(to: asked, answer, work)
      case .stream(let open): try stream(to: asked, on: exchange, open)
      }
    } catch {
      refuse(error, on: exchange)
    }
  }

  /// For a price: whoever is in debt is refused before anything is read.
  private func prepare(_ request: HTTPRequest) throws(Refusal) -> Handler.Work {
    let route = match.route
    let price = route.price
    try services.take(price, of: caller)
    var headers: [UTF8Text: UTF8Text] = [:]
    for property in route.headerProperties {
      guard let text = request.headers[property.name], !text.isEmpty else { continue }
      headers[UTF8Text(property.name)] = UTF8Text(text)
    }
    var parts = RequestParts(
      path: match.parameters, query: request.head.query, headers: headers, body: request.body)
    let work = try match.handler.prepare(&parts)
    services.owe(price.perName * parts.namedCount, price.pace, of: caller)
    return work
  }

  private func reply(
    to request: Request, _ answer: PendingAnswer,
    _ work: @escaping (Request, LoopServices) async throws(Refusal) -> HTTPResponse
  ) {
    answer.allowMoreTime(seconds: 0)
    let hasStarted = services.scope.start { [self] in
      let response: HTTPResponse
      do throws(Refusal) {
        if let caller, caller.unclearedToken != nil { try await services.clear(caller) }
        response = try await work(request, services)
      } catch {
        response = HTTPResponse(error)
      }
      if match.route.isAudited { await Audit.record(request, match.route, response, services) }
      answer.finish(response)
    }
    if !hasStarted {
      answer.finish(HTTPResponse(Refusal(.unavailable, "this broker is shutting down")))
    }
  }

  private func stream(
    to request: Request, on exchange: HTTPExchange,
    _ open: @escaping (Request, LoopServices) throws(Refusal) -> StreamOpening
  ) throws(Refusal) {
    guard ticket != nil || caller?.unclearedToken != nil else {
      return try begin(request, on: exchange, open)
    }
    let hasStarted = services.scope.start { [self] in
      do throws(Refusal) {
        var request = request
        if let ticket { request.caller = try await redeem(ticket) }
        if let caller { try await services.clear(caller) }
        try begin(request, on: exchange, open)
      } catch {
        refuse(error, on: exchange)
      }
    }
    if !hasStarted { throw Refusal(.unavailable, "this broker is shutting down") }
  }

  private func redeem(_ ticket: UTF8Text) async throws(Refusal) -> Caller {
    let caller = try await services.redeem(ticket)
    // It was asked for with a token that is good for as much.
    try services.take(match.route.price, of: caller)
    return caller
  }

  private func begin(
    _ request: Request, on exchange: HTTPExchange,
    _ open: (Request, LoopServices) throws(Refusal) -> StreamOpening
  ) throws(Refusal) {
    let opening = try open(request, services)
    if match.isHead { return exchange.respond(services.counted(NotificationStream.head)) }
    try NotificationStream.open(opening, on: exchange, services)
    services.counts.count(status: 200)
  }

  /// Whoever goes too fast hears of it a little later: told at once, a client that tries again at once would cost the
  /// loop more by being refused than by being served.
  private static let delayOfTooFast = Duration.milliseconds(200)

  private func refuse(_ refusal: Refusal, on exchange: HTTPExchange) {
    let response = HTTPResponse(refusal)
    guard refusal.code == .rateLimited else { return exchange.respond(services.counted(response)) }
    let answer = PendingAnswer(exchange, services)
    _ = services.loop.schedule(after: Self.delayOfTooFast) { answer.finish(response) }
  }
}

extension LoopServices {
  /// Whether the request calls the broker by a name of its own. A page can have a name of its own lead to any address, and would be taken
  /// for one of the broker's own origin.
  func isMeant(by head: HTTPRequestHead) -> Bool {
    let hosts = broker.configuration.browsers.hosts
    if hosts.isEmpty { return true }
    guard let host = head.host.flatMap({ HostName(Substring($0)) }) else { return false }
    return hosts.contains { $0.means(host) }
  }

  /// A response as it leaves: counted, and with the headers that all have.
  func counted(_ response: HTTPResponse) -> HTTPResponse {
    counts.count(status: response.status)
    var response = response
    response.headers += response.isShared ? HTTPResponse.headersOfDocuments : HTTPResponse.headersAlways
    return response
  }
}

extension RouteBody.Form {
  /// Some clients name no type; what they send is then read as what the route takes.
  func accepts(_ contentType: String) -> Bool {
    // As nearly all say it.
    if case .json = self, UTF8Text(contentType) == Self.json { return true }
    let space = UInt8(ascii: " ")
    let type = contentType.utf8.prefix { $0 != UInt8(ascii: ";") }
      .drop { $0 == space }.prefix { $0 != space }
    return switch self {
    case .none: true
    case .json: HTTPHeaders.isSame(type, "application/json")
    case .lines:
      Self.linesTypes.contains { HTTPHeaders.isSame(type, $0) }
    }
  }

  private static let json: UTF8Text = "application/json"
  private static let linesTypes: [StaticString] = [
    "application/x-ndjson", "application/ndjson", "application/jsonl",
  ]
}
