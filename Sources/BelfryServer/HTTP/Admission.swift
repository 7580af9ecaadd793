import BelfryHTTP
import BelfryModel

/// What is known of a request before its body is read: which route it means, and who is asking. A class, for
/// the exchange keeps it until the body is there.
final class Admission {
  private static let router = Router()

  let match: Router.Match
  let caller: Caller?

  init(_ head: HTTPRequestHead, tokens: TokenCache) throws(Problem) {
    match = try Self.router.match(method: head.method, path: head.segments)
    let route = match.route
    do throws(Refusal) {
      caller = try Self.caller(of: head, route.access, tokens)
    } catch {
      throw Problem(error)
    }
    try Self.check(head, route.body.form)
  }

  private static func caller(
    of head: HTTPRequestHead, _ access: Route.Access, _ tokens: TokenCache
  ) throws(Refusal) -> Caller? {
    let header = head.headers["Authorization"]
    switch access {
    case .everyone: return nil
    case .loopbackOrToken where head.client.isLoopback && header == nil: return nil
    case .loopbackOrToken, .token, .trusted: break
    }
    let token = try Caller.bearer(header)
    let verified: VerifiedToken
    do {
      verified = try tokens.verify(token, nowSeconds: WallClock.nowMilliseconds() / 1_000)
    } catch {
      throw Refusal(.unauthorized, "the token is not accepted: \(error.cause)")
    }
    guard access != .trusted || verified.claims.role != .user else {
      throw Refusal(.forbidden, "this needs an app's or an operator's token")
    }
    return try Caller(
      verified.claims, by: .key(verified.key), account: head.headers[Caller.accountHeader],
      device: head.headers[Caller.deviceHeader])
  }

  private static func check(_ head: HTTPRequestHead, _ body: Route.Body.Form) throws(Problem) {
    guard head.contentLength != 0 else { return }
    if let type = head.headers["Content-Type"], !body.accepts(type) {
      throw .unsupportedMediaType(body.mediaType)
    }
    if let length = head.contentLength { try checkSize(length, body) }
  }

  /// Of a chunked body the size is known only when it is there.
  static func checkSize(_ bytes: Int, _ body: Route.Body.Form) throws(Problem) {
    guard bytes > body.sizeMaxBytes else { return }
    let most = body == .none ? "has no body here" : "has at most \(body.sizeMaxBytes) bytes here"
    throw Problem(Refusal(.tooLarge, "a request \(most), this one has \(bytes)"))
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
