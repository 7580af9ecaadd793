import BelfryBytes
import BelfryHTTP
import BelfryLoop
import BelfryModel
import BelfrySystem

/// What is known of a request before its body is read: which route it means, and who is asking. A class, for
/// the exchange keeps it until the body is there.
final class Admission {
  private static let router = Router()

  let match: Router.Match
  let caller: Caller?

  init(_ head: HTTPRequestHead, _ services: LoopServices) throws(Problem) {
    match = try Self.router.match(method: head.method, path: head.segments)
    let route = match.route
    do throws(Refusal) {
      caller = try Self.caller(of: head, route, services)
    } catch {
      throw Problem(error)
    }
    try Self.check(head, route.body.form)
  }

  private static func caller(
    of head: HTTPRequestHead, _ route: Route, _ services: LoopServices
  ) throws(Refusal) -> Caller? {
    let header = head.headers["Authorization"]
    switch route.access {
    case .everyone: return nil
    case .loopbackOrToken where head.client.isLoopback && header == nil: return nil
    case .loopbackOrToken, .token, .trusted, .operators: break
    }
    let (claims, credential) = try verify(try Caller.bearer(header), services)
    try check(claims, may: route)
    return try Caller(
      claims, by: credential, account: head.headers[Caller.accountHeader],
      device: head.headers[Caller.deviceHeader])
  }

  private static func verify(
    _ token: UTF8Text, _ services: LoopServices
  ) throws(Refusal) -> (TokenClaims, Credential) {
    let nowSeconds = WallClock.nowMilliseconds() / 1_000
    if BackEndKey.isOne(token.string) {
      let key = try services.broker.backEndKeys.verify(token, nowSeconds: nowSeconds)
      return (key.claims, .backEndKey(key.id))
    }
    do {
      let verified = try services.tokens.verify(token, nowSeconds: nowSeconds)
      return (verified.claims, .key(verified.key))
    } catch {
      throw Refusal(.unauthorized, "the token is not accepted: \(error.cause)")
    }
  }

  private static func check(_ claims: TokenClaims, may route: Route) throws(Refusal) {
    switch (route.access, claims.role) {
    case (.trusted, .user): throw Refusal(.forbidden, "this needs an app's or an operator's token")
    case (.operators, .user), (.operators, .app): throw Refusal(.forbidden, "this needs an operator's token")
    default: break
    }
    guard let scopes = claims.scopes, !scopes.contains(route.scope) else { return }
    let has = scopes.isEmpty ? "none" : Scope.text(of: scopes)
    throw Refusal(.forbidden, "this needs the scope \(route.scope.rawValue), and the token has \(has)")
  }

  private static func check(_ head: HTTPRequestHead, _ body: Route.Body.Form) throws(Problem) {
    guard head.contentLength != 0 else { return }
    if let type = head.headers["Content-Type"], !body.accepts(type) {
      throw .unsupportedMediaType(body.mediaType)
    }
  }
}

extension Route.Body.Form {
  /// Some clients name no type; what they send is then read as what the route takes.
  func accepts(_ contentType: String) -> Bool {
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

  private static let linesTypes: [StaticString] = [
    "application/x-ndjson", "application/ndjson", "application/jsonl",
  ]

  var mediaType: String { self == .lines ? "application/x-ndjson" : "application/json" }
}
