import BelfryBytes
import BelfryHTTP
import BelfryInterface
import BelfryModel

/// Sessions of browsers: a token in a cookie.
enum Sessions {
  static let handlers: [Handler] = [
    SessionRoutes.begin.handled(by: begin), SessionRoutes.end.handled(by: end),
  ]

  private static func begin(
    _ request: Request, _ services: LoopServices
  ) async throws(Refusal) -> HTTPResponse {
    let head = try head(of: request, services)
    let caller = try request.known()
    // A token in a cookie does not count: a client with only a cookie would receive the same cookie again.
    let token = try Caller.bearer(head.headers["Authorization"])
    guard case .key = caller.credential else {
      throw Refusal(.forbidden, "a key cannot open a session: keys are for back ends, not for browsers")
    }
    guard SessionCookie.holds(token) else {
      throw .invalid(
        "Authorization",
        "must be a token of at most \(SessionCookie.tokenBytesMax) bytes, which a cookie can hold")
    }
    let seconds = max(caller.rest().components.seconds, 0)
    var response = HTTPResponse.json(["expiresAt": .integer(caller.expiresAtSeconds * 1_000)], status: 201)
    response.headers.append(
      services.broker.sessionCookie(for: head).field(
        holding: token, seconds: seconds, sameSite: sameSite(head, services)))
    return response
  }

  /// If a page of another site asks for the cookie, the cookie must be for other sites; otherwise the browser
  /// would not send it along.
  private static func sameSite(_ head: HTTPRequestHead, _ services: LoopServices) -> SessionCookie.SameSite {
    guard case .allowed = services.broker.crossOrigin.asker(head.headers),
      services.broker.sessionCookie(for: head) == .secure
    else { return .strict }
    return CrossOrigin.isFromAnotherSite(head.headers) ? .none : .strict
  }

  private static func end(_ request: Request, _ services: LoopServices) async throws(Refusal) -> HTTPResponse
  {
    let head = try head(of: request, services)
    var response = HTTPResponse.noContent
    response.headers.append(services.broker.sessionCookie(for: head).ending)
    return response
  }

  /// - Throws: if there are no sessions, or if the page's origin is not allowed. Such a page could log the
  ///   user in as another user, or log the user out.
  private static func head(of request: Request, _ services: LoopServices) throws(Refusal) -> HTTPRequestHead {
    guard services.broker.configuration.browsers.givesCookies else {
      throw Refusal(.notFound, "this broker does not give session cookies (browsers.cookie)")
    }
    guard let head = request.head else { throw Refusal(.unavailable, "this took too long; try again") }
    if services.broker.crossOrigin.asker(head.headers) == .other { throw .otherOrigin }
    return head
  }
}

extension Refusal {
  static let otherOrigin = Refusal(
    .forbidden, "pages of this origin may not do this (browsers.allowedOrigins)", field: CrossOrigin.origin)
}

extension Broker {
  /// The name and form of the cookie that the answer to this request sets.
  func sessionCookie(for head: HTTPRequestHead) -> SessionCookie {
    .given(to: head, isEncrypted: certificate != nil)
  }

  /// The token in a request's session cookie.
  func sessionToken(in cookies: String, of head: HTTPRequestHead) throws(Refusal) -> UTF8Text? {
    for cookie in SessionCookie.taken(from: head, isEncrypted: certificate != nil) {
      if let token = try cookie.value(in: cookies) { return token }
    }
    return nil
  }
}
