import BelfryInterface
import Foundation

/// A request as a value, before anything is sent.
struct HTTPRequest: Sendable {
  let method: HTTPVerb
  /// Below the base URL. Made of words, ids and accids, none of which needs an escape.
  let path: String
  var query: [(name: String, value: String)] = []
  var headers: [String: String] = [:]
  var body: Data?
  /// Done twice it is done once, so a lost answer may be asked for again.
  var isRepeatable: Bool
  /// Asks for another protocol. What is sent by ``HTTPExchange/send(_:)`` is then sent as it is.
  var isUpgrade = false
  /// How long the broker may hold the request on purpose.
  var holdSeconds: Double = 0

  /// - Parameter path: what the row's path names, in its order.
  init(_ route: Route, _ path: String..., isRepeatable: Bool? = nil) {
    self.init(route, path, isRepeatable: isRepeatable)
  }

  init(_ route: Route, _ path: [String], isRepeatable: Bool? = nil) {
    method = route.verb
    self.path = route.path.filled(with: path)
    self.isRepeatable = isRepeatable ?? (method == .get || method == .put)
  }

  var changesSomething: Bool { method != .get }

  mutating func ask(_ name: String, _ value: String?) {
    if let value { query.append((name, value)) }
  }
}

extension HTTPRequest {
  /// Letters, digits and `-._~`: everything else in a query is escaped, `+` too, which some servers read as
  /// a space.
  private static let unreserved = CharacterSet(
    charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")

  /// Nil when the base is not an `http` or `https` URL with a host.
  func url(below base: URL) -> URL? {
    guard var parts = URLComponents(url: base, resolvingAgainstBaseURL: true),
      let scheme = parts.scheme?.lowercased(), scheme == "http" || scheme == "https",
      parts.host?.isEmpty == false
    else { return nil }
    while parts.percentEncodedPath.hasSuffix("/") { parts.percentEncodedPath.removeLast() }
    parts.percentEncodedPath += path
    parts.fragment = nil
    if !query.isEmpty {
      parts.percentEncodedQuery = query.map { item in
        "\(item.name)=\(item.value.addingPercentEncoding(withAllowedCharacters: Self.unreserved) ?? "")"
      }.joined(separator: "&")
    }
    return parts.url
  }
}

extension String {
  /// Visible ASCII only: a line break in a header's value would begin another header.
  var isHeaderValue: Bool { !isEmpty && utf8.allSatisfy { (0x21...0x7e).contains($0) } }
}
