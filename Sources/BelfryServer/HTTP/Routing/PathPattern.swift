/// The path of a route, such as `/v1/servers/{serverId}`.
package struct PathPattern: Sendable, Hashable, CustomStringConvertible {
  private enum Segment: Hashable {
    case literal(String)
    case parameter(String)
  }

  package let description: String
  private let segments: [Segment]

  init(_ text: String) {
    description = text
    segments = text.split(separator: "/").map { part in
      part.hasPrefix("{") ? .parameter(String(part.dropFirst().dropLast())) : .literal(String(part))
    }
  }

  /// The parameters' values by name; nil when the path is another one.
  func match(_ path: [String]) -> [String: String]? {
    guard path.count == segments.count else { return nil }
    var parameters: [String: String] = [:]
    for (segment, text) in zip(segments, path) {
      switch segment {
      case .literal(let literal):
        if literal != text { return nil }
      case .parameter(let name):
        if text.isEmpty { return nil }
        parameters[name] = text
      }
    }
    return parameters
  }

  var segmentCount: Int { segments.count }

  /// The names of its parameters, in order.
  var parameters: [String] {
    segments.compactMap { if case .parameter(let name) = $0 { name } else { nil } }
  }

  /// How many of its segments are fixed; of two patterns that match, the one with more is meant.
  var literalCount: Int {
    segments.count { if case .literal = $0 { true } else { false } }
  }
}
