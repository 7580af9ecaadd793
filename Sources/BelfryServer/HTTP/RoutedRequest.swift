import BelfryBytes
import BelfryHTTP
import BelfryInterface
import BelfryModel

/// A request whose row and caller are known before its body has arrived. It handles the request once the body
/// is complete. It is a class because the exchange keeps it until then.
final class RoutedRequest: HTTPRoutedRequest {
  static let router = Router()

  let match: Router.Match
  /// Also nil if a ticket names the caller.
  private(set) var caller: Caller?
  private let ticket: UTF8Text?
  private let services: LoopServices
  /// Called after Redis was asked if the caller's token was revoked, for a socket that keeps the caller.
  private var onCleared: ((Caller) -> Void)?

  var bodyMaxBytes: Int { match.route.body.form.sizeMaxBytes }
  var account: UTF8Text? { caller?.actor.charged.map { UTF8Text($0.text) } }

  init(_ head: HTTPRequestHead, _ services: LoopServices) throws(Problem) {
    self.services = services
    match = try Self.router.match(method: head.method, path: head.segments)
    let route = match.route
    guard route.access == .everyone || services.isMeant(by: head) else { throw .misdirected }
    do throws(Refusal) {
      try Caller.refuseOtherPages(head, of: route, services)
      ticket = match.isHead ? nil : try Caller.ticket(head, of: route)
      caller = ticket == nil ? try Caller(head, of: route, services) : nil
    } catch {
      throw Problem(error)
    }
    guard head.contentLength != 0, let type = head.headers["Content-Type"] else { return }
    guard route.body.form.accepts(type) else { throw .unsupportedMediaType(route.body.form.mediaType) }
  }

  /// Makes a request from a frame of a socket, for the caller who has connected.
  init(
    _ handler: Handler, by caller: Caller, _ services: LoopServices,
    onCleared: @escaping (Caller) -> Void
  ) throws(Refusal) {
    self.services = services
    self.onCleared = onCleared
    self.caller = caller
    ticket = nil
    match = Router.Match(handler: handler, parameters: [:], isHead: false)
    try caller.requireRight(to: match.route)
  }

  // MARK: Handling

  /// The content coding of a body that is sent as it is.
  private static let noEncoding: UTF8Text = "identity"

  func handle(_ request: HTTPRequest, _ exchange: HTTPExchange) {
    var headers: [UTF8Text: UTF8Text] = [:]
    for property in match.route.headerProperties {
      guard let text = request.headers[property.name], !text.isEmpty else { continue }
      headers[UTF8Text(property.name)] = UTF8Text(text)
    }
    let parts = RequestParts(
      path: match.parameters, query: request.head.query, headers: headers, body: request.body)
    var given = GivenRequest(
      parts: parts, held: request.held, address: services.client(of: request.head).host)
    do throws(Refusal) {
      if !request.body.isEmpty, let encoding = request.headers["Content-Encoding"].map({ UTF8Text($0) }),
        encoding != Self.noEncoding
      {
        throw .invalid("Content-Encoding", "is not understood: send the body without compression")
      }
      let work = try prepare(&given)
      let answer = PendingAnswer(exchange, changesSomething: match.route.verb != .get, services)
      let asked = Request(self, given, answer)
      switch work {
      case .reply(let work): reply(to: asked, answer, work)
      case .stream(let open):
        try whenCleared(asked, on: exchange) { [self] asked throws(Refusal) in
          try stream(to: asked, on: exchange, open)
        }
      case .socket(let open):
        let handshake: WebSocketHandshake
        do throws(WebSocketHandshake.Flaw) {
          handshake = try WebSocketHandshake(request.head, subprotocol: SocketRoutes.subprotocol)
        } catch {
          return exchange.respond(services.counted(HTTPResponse(error)))
        }
        try whenCleared(asked, on: exchange) { [self] asked throws(Refusal) in
          try SocketSession.open(
            try open(asked, services), asked.caller, handshake, on: exchange, from: asked.address,
            services
          )
        }
      }
    } catch {
      refuse(error, to: exchange)
    }
  }

  /// Handles a frame or a request that is answered with a reply.
  func handle(_ given: GivenRequest, for taker: any AnswerTaker) {
    var given = given
    do throws(Refusal) {
      guard case .reply(let work) = try prepare(&given) else {
        throw Refusal(.notFound, "this operation is not available over a WebSocket")
      }
      let answer = PendingAnswer(taker, changesSomething: match.route.verb != .get, services)
      reply(to: Request(self, given, answer), answer, work)
    } catch {
      refuse(error, to: taker)
    }
  }

  /// Charges the price of the request. An account in debt is refused before anything is read.
  private func prepare(_ given: inout GivenRequest) throws(Refusal) -> Handler.Work {
    // The request was admitted when its headers were there. Its credential may have been revoked while its
    // body came.
    if !given.parts.body.isEmpty, let caller, !services.isAccepted(caller.credential) {
      throw services.refusal(of: caller.credential)
    }
    let price = match.route.price
    try services.take(price, of: caller)
    if match.route.body.form == .none { try given.parts.requireNoBody() }
    let work = try match.handler.prepare(&given.parts)
    let further = price.priceOfBody(names: given.parts.namedCount, bytes: given.parts.body.count)
    services.owe(further, price.pace, of: caller)
    return work
  }

  private func reply(
    to request: Request, _ answer: PendingAnswer,
    _ work: @escaping (Request, LoopServices) async throws(Refusal) -> HTTPResponse
  ) {
    answer.allowMoreTime(seconds: 0)
    let hasStarted = services.scope.start { [self] in
      let response: HTTPResponse
      var request = request
      var isWrongField = false
      do throws(Refusal) {
        if let caller, !services.isCleared(caller) {
          let cleared = try await services.cleared(caller)
          onCleared?(cleared)
          request.caller = cleared
        }
        response = try await work(request, services)
      } catch {
        response = HTTPResponse(answer.explained(error))
        isWrongField = error.code == .invalidField
      }
      // A request with a wrong field has changed nothing, no matter which layer refused it.
      if match.route.isAudited, !isWrongField { await Audit.record(request, match.route, response, services) }
      answer.finish(response)
    }
    if !hasStarted {
      answer.finish(HTTPResponse(Refusal(.unavailable, "this broker is shutting down")))
    }
  }

  /// Opens a stream or a socket once it is known that the caller's token was not revoked.
  private func whenCleared(
    _ request: Request, on exchange: HTTPExchange, _ open: @escaping (Request) throws(Refusal) -> Void
  ) throws(Refusal) {
    let isKnown = caller.map(services.isCleared) ?? true
    guard ticket != nil || !isKnown else { return try open(request) }
    let hasStarted = services.scope.start { [self] in
      do throws(Refusal) {
        var request = request
        if let ticket { request.caller = try await redeem(ticket) }
        if let caller { request.caller = try await services.cleared(caller) }
        try open(request)
      } catch {
        refuse(error, to: exchange)
      }
    }
    if !hasStarted { throw Refusal(.unavailable, "this broker is shutting down") }
  }

  private func redeem(_ ticket: UTF8Text) async throws(Refusal) -> Caller {
    let caller = try await services.redeem(ticket)
    // The token that asked for the ticket must still pay the price of the request.
    try services.take(match.route.price, of: caller)
    return caller
  }

  private func stream(
    to request: Request, on exchange: HTTPExchange,
    _ open: (Request, LoopServices) throws(Refusal) -> StreamOpening
  ) throws(Refusal) {
    let opening = try open(request, services)
    if match.isHead { return exchange.respond(services.counted(NotificationStream.head)) }
    try NotificationStream.open(opening, on: exchange, services)
    services.counts.count(status: 200)
  }

  /// A client that sends too fast gets its refusal after a short delay. If it came at once, a client that
  /// immediately tries again would cost the loop more through refusals than through service.
  private static let delayOfTooFast = Duration.milliseconds(200)

  private func refuse(_ refusal: Refusal, to taker: any AnswerTaker) {
    let response = HTTPResponse(services.explained(refusal))
    guard refusal.code == .rateLimited else { return taker.respond(services.counted(response)) }
    let answer = PendingAnswer(taker, changesSomething: false, services)
    _ = services.loop.schedule(after: Self.delayOfTooFast) { answer.finish(response) }
  }
}

extension LoopServices {
  /// True if the request calls the broker by one of its own names. A page can point its own name at any
  /// address, and would then be taken for a page of the broker's own origin.
  func isMeant(by head: HTTPRequestHead) -> Bool {
    let hosts = broker.configuration.browsers.hosts
    if hosts.isEmpty { return true }
    guard let host = head.host.flatMap({ HostName(Substring($0)) }) else { return false }
    return hosts.contains { $0.means(host) }
  }

  /// If the broker may not work on the keyspace, for example while it is being moved, callers are told why.
  func explained(_ refusal: Refusal) -> Refusal {
    guard refusal.code == .unavailable, let why = broker.keyspace.refusal else { return refusal }
    return Refusal(.unavailable, why, retryAfterSeconds: refusal.retryAfterSeconds ?? 1)
  }

  /// Counts a response, and adds the headers that all responses have.
  func counted(_ response: HTTPResponse) -> HTTPResponse {
    counts.count(status: response.status)
    var response = response
    response.headers += response.isShared ? HTTPResponse.headersOfDocuments : HTTPResponse.headersAlways
    return response
  }
}

extension RouteBody.Form {
  /// Some clients name no type. Their body is then read in the form that the route takes.
  func accepts(_ contentType: String) -> Bool {
    // The usual spelling.
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
