import BelfryBytes
import BelfryHTTP
import BelfryInterface
import BelfryModel
import BelfrySystem

/// The caller of a request, as the token and the headers name it.
struct Caller: Sendable, Hashable {
  let actor: Actor
  let role: TokenClaims.Role
  /// The name that the token or the key gives itself.
  let subject: String
  let credential: Credential
  /// The scopes that the token or the key is limited to; nil: no limit.
  let scopes: Set<Scope>?
  let expiresAtSeconds: Int64
  /// The token, if it is a user's own.
  private(set) var revocableToken: UTF8Text?
  /// The epoch of ``Revocations`` in which Redis said that the token was not revoked
  /// (``LoopServices/cleared(_:)``); nil before Redis was asked.
  private(set) var clearedIn: Int?

  /// The caller after Redis has said that the token was not revoked.
  func cleared(in epoch: Int) -> Caller {
    var caller = self
    caller.clearedIn = epoch
    return caller
  }

  /// - Parameters:
  ///   - account: the header `Belfry-Account`: the account that an app or an operator acts for.
  ///   - device: the header `Belfry-Device`.
  init(
    _ claims: TokenClaims, by credential: Credential, account: String?, device: String?
  ) throws(Refusal) {
    self.credential = credential
    scopes = claims.scopes
    role = claims.role
    subject = claims.subject
    expiresAtSeconds = claims.expiresAtSeconds
    actor = Actor(
      account: try Self.account(claims, account), device: try Self.device(claims, device),
      isTrusted: claims.role != .user)
  }

  /// Makes a caller from a record.
  init(
    actor: Actor, role: TokenClaims.Role, subject: String, credential: Credential, scopes: Set<Scope>?,
    expiresAtSeconds: Int64
  ) {
    self.actor = actor
    self.role = role
    self.subject = subject
    self.credential = credential
    self.scopes = scopes
    self.expiresAtSeconds = expiresAtSeconds
  }

  private static func account(_ claims: TokenClaims, _ header: String?) throws(Refusal) -> AccountID? {
    let named = try header.map { text throws(Refusal) in
      guard let account = AccountID(text) else {
        throw Refusal.invalid(RequestHeader.account, "must be \(AccountID.rule)")
      }
      return account
    }
    guard claims.role == .user else { return named }
    let own = AccountID(claims.subject)
    guard named == nil || named == own else {
      throw Refusal(.forbidden, "a user's token acts for its own account only", field: RequestHeader.account)
    }
    return own
  }

  private static func device(_ claims: TokenClaims, _ header: String?) throws(Refusal) -> DeviceID? {
    guard let header else { return claims.device }
    guard let device = DeviceID(header) else {
      throw .invalid(RequestHeader.device, "must be \(DeviceID.rule)")
    }
    guard claims.device == nil || claims.device == device else {
      throw Refusal(.forbidden, "the token is for another device", field: RequestHeader.device)
    }
    return device
  }

  /// The time until the token expires.
  func rest() -> Duration { .milliseconds(expiresAtSeconds * 1_000 - WallClock.nowMilliseconds()) }

  /// The account whose feed, servers or subscriptions the request is about.
  func account() throws(Refusal) -> AccountID {
    guard let account = actor.account else {
      throw .invalid(RequestHeader.account, "is needed: it names the account to act for")
    }
    return account
  }
}

// MARK: - From a request

extension Caller {
  /// Nil if the route needs no token and the request has none.
  init?(_ head: HTTPRequestHead, of route: Route, _ services: LoopServices) throws(Refusal) {
    let header = head.headers["Authorization"]
    switch route.access {
    case .everyone: return nil
    case .loopbackOrToken where header == nil && services.client(of: head).isLoopback: return nil
    case .loopbackOrToken, .tokenLater, .token, .trusted, .operators: break
    }
    if route.access == .tokenLater, header == nil, Self.saysLater(head) { return nil }
    guard let token = try Self.token(head, header, services.broker) else {
      if route.access == .tokenLater { return nil }
      throw .tokenNeeded
    }
    try self.init(
      token: token, account: head.headers[RequestHeader.account],
      device: head.headers[RequestHeader.device], for: route, services)
  }

  /// Refuses the pages of other origins for sockets. A browser keeps such a page from reading answers, but
  /// does not keep it from opening a socket. It does not matter how the page authenticates.
  static func refuseOtherPages(
    _ head: HTTPRequestHead, of route: Route, _ services: LoopServices
  ) throws(Refusal) {
    guard route.access == .tokenLater, services.broker.crossOrigin.asker(head.headers) == .other else {
      return
    }
    throw .otherOrigin
  }

  /// Makes a caller from a token, which comes from a header or from the first frame of a socket.
  init(
    token: UTF8Text, account: String?, device: String?, for route: Route, _ services: LoopServices
  ) throws(Refusal) {
    let (claims, credential, epoch) = try Self.verify(token, services)
    try self.init(claims, by: credential, account: account, device: device)
    try requireRight(to: route)
    clearedIn = epoch
    if credential.issue != nil { revocableToken = token }
  }

  /// The ticket of a request, if its route takes one and the request has no other credential.
  static func ticket(_ head: HTTPRequestHead, of route: Route) throws(Refusal) -> UTF8Text? {
    guard route.options.takesTicket, !head.headers.contains("Authorization"),
      let ticket = head.query.first(where: { $0.name == ticketName })?.value
    else { return nil }
    for name in [RequestHeader.account, RequestHeader.device] where head.headers.contains(name) {
      throw .invalid(name, "cannot be combined with a ticket, which names its account")
    }
    return ticket
  }

  /// True if the first frame of a socket names the caller, and a cookie does not.
  private static func saysLater(_ head: HTTPRequestHead) -> Bool {
    head.query.contains { $0.name == saysLaterName && $0.value == one }
  }

  private static let one: UTF8Text = "1"
  private static let saysLaterName = UTF8Text(SocketRoutes.saysLater.name)
  private static let ticketName = UTF8Text(NotificationRoutes.ticket.name)

  /// The token of a request: from `Authorization`, or otherwise from the session's cookie. A browser sends
  /// the cookie with every request, no matter which page caused it. So a request that changes something needs
  /// an allowed origin, and a page of another origin gets nothing. This holds for requests, streams and
  /// sockets with the cookie.
  private static func token(
    _ head: HTTPRequestHead, _ header: String?, _ broker: Broker
  ) throws(Refusal) -> UTF8Text? {
    if header != nil { return try bearer(header) }
    guard broker.configuration.browsers.givesCookies, let cookies = head.headers[SessionCookie.header],
      let token = try broker.sessionToken(in: cookies, of: head)
    else { return nil }
    switch broker.crossOrigin.asker(head.headers) {
    case .allowed: return token
    // A picture or a link on another page: that page could not read the answer, but a stream would be open.
    case .unnamed where CrossOrigin.isFromAnotherPage(head.headers): throw .otherOrigin
    case .unnamed where head.method == get || head.method == self.head: return token
    case .unnamed:
      throw Refusal(
        .forbidden,
        "a request with a session cookie must have an Origin that the broker allows (browsers.allowedOrigins)",
        field: CrossOrigin.origin)
    case .other: throw .otherOrigin
    }
  }

  private static let get: UTF8Text = "GET"
  private static let head: UTF8Text = "HEAD"

  private static func verify(
    _ token: UTF8Text, _ services: LoopServices
  ) throws(Refusal) -> (TokenClaims, Credential, clearedIn: Int?) {
    let nowSeconds = WallClock.nowMilliseconds() / 1_000
    if OperatorRoutes.isKey(token.string) {
      let key = try services.broker.backEndKeys.verify(token, nowSeconds: nowSeconds)
      return (key.claims, .backEndKey(key.id), nil)
    }
    let verified: VerifiedToken
    do throws(TokenError) {
      verified = try services.tokens.verify(token, nowSeconds: nowSeconds)
    } catch {
      // A client throws its token away after a 401, and this token may become valid in a moment.
      if error == .unknownKey, services.broker.keySet?.missKey() == true {
        throw Refusal(.unavailable, "the token's key is being fetched; try again", retryAfterSeconds: 1)
      }
      throw Refusal(.unauthorized, "the token is not accepted: \(error.cause)")
    }
    let credential = Credential.key(verified.key, verified.issue)
    if let issue = verified.issue, services.broker.revocations.isRevoked(issue) { throw .revokedToken }
    return (verified.claims, credential, verified.clearedIn)
  }

  /// Refuses a caller whose token does not allow this route.
  func requireRight(to route: Route) throws(Refusal) {
    switch (route.access, role) {
    case (.trusted, .user): throw Refusal(.forbidden, "this needs an app or operator token")
    case (.operators, .user), (.operators, .app): throw Refusal(.forbidden, "this needs an operator token")
    default: break
    }
    guard let scopes, !scopes.contains(route.scope) else { return }
    let has = scopes.isEmpty ? "none" : Scope.text(of: scopes)
    throw Refusal(.forbidden, "this needs the scope \(route.scope.rawValue), and the token has \(has)")
  }

  /// The token in an `Authorization` header.
  static func bearer(_ header: String?) throws(Refusal) -> UTF8Text {
    guard let header else { throw .tokenNeeded }
    let space = UInt8(ascii: " ")
    let scheme = header.utf8.prefix { $0 != space }
    let token = header.utf8[scheme.endIndex...].drop { $0 == space }
    guard !token.isEmpty, HTTPHeaders.isSame(scheme, "bearer") else {
      throw Refusal(.unauthorized, "Authorization must be: Bearer <JWT or key>")
    }
    return UTF8Text(Substring(token))
  }
}

extension Refusal {
  fileprivate static let tokenNeeded = Refusal(
    .unauthorized, "this needs a token or a key in the header \"Authorization: Bearer <JWT or key>\"")
}
