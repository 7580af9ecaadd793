import BelfryInterface
import Foundation

/// A request as a value, before anything is sent.
struct HTTPRequest: Sendable {
  let method: HTTPVerb
  /// The path below the base URL, with its escapes.
  let path: String
  var query: [(name: String, value: String)] = []
  var headers: [String: String] = [:]
  var body: Data?
  /// True if doing it twice has the same effect as doing it once. Such a request may be sent again after a lost answer.
  var isRepeatable: Bool
  /// True if the request asks for another protocol. Bytes for ``HTTPExchange/send(_:)`` are then sent as they are.
  var isUpgrade = false
  /// How long the broker may hold the request on purpose, in seconds.
  var holdSeconds: Double = 0

  /// - Parameter path: the values for the placeholders of the route's path, in their order.
  init(_ route: Route, _ path: String..., isRepeatable: Bool? = nil) {
    self.init(route, path, isRepeatable: isRepeatable)
  }

  init(_ route: Route, _ path: [String], isRepeatable: Bool? = nil) {
    method = route.verb
    self.path = route.path.filled(with: path.map { $0.escaped })
    self.isRepeatable = isRepeatable ?? (method == .get || method == .put)
  }

  var changesSomething: Bool { method != .get }

  mutating func ask(_ name: String, _ value: String?) {
    if let value { query.append((name, value)) }
  }
}

extension HTTPRequest {
  /// Nil if the base is not an `http` or `https` URL with a host.
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
        "\(item.name)=\(item.value.escaped)"
      }.joined(separator: "&")
    }
    return parts.url
  }
}

extension String {
  /// Letters, digits and `-._~`. Everything else is escaped, also `+`, which some servers read as a space in a query.
  private static let unreserved = CharacterSet(
    charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")

  /// The text as a value in a query, or as one segment of a path. Foundation crashes on a path with a space in it.
  fileprivate var escaped: String { addingPercentEncoding(withAllowedCharacters: Self.unreserved) ?? "" }

  /// True if the text is visible ASCII only. A line break in a header's value would begin another header.
  var isHeaderValue: Bool { !isEmpty && utf8.allSatisfy { (0x21...0x7e).contains($0) } }
}
