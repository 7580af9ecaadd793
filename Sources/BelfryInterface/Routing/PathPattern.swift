package import BelfryBytes

/// The path of a route, such as `/v1/servers/{serverId}`.
package struct PathPattern: Sendable, Hashable, CustomStringConvertible {
  private enum Segment: Hashable {
    case literal(UTF8Text)
    case parameter(UTF8Text)
  }

  package let description: String
  private let segments: [Segment]

  package init(_ text: String) {
    description = text
    segments = text.parts(between: "/").dropFirst().map { part in
      part.utf8.first == UInt8(ascii: "{")
        ? .parameter(UTF8Text(part.dropFirst().dropLast())) : .literal(UTF8Text(part))
    }
  }

  /// The fixed word behind another one that the path begins with; nil for any other path.
  package func firstWord(behind first: UTF8Text) -> String? {
    guard segments.count > 1, segments[0] == .literal(first), case .literal(let word) = segments[1] else {
      return nil
    }
    return word.string
  }

  /// The parameters' values by name. Nil if the path does not match.
  package func match(_ path: [UTF8Text]) -> [UTF8Text: UTF8Text]? {
    guard path.count == segments.count else { return nil }
    var parameters: [UTF8Text: UTF8Text] = [:]
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

  /// The path with these values for its parameters, in their order. The caller has escaped them.
  package func filled(with values: [String]) -> String {
    var rest = values[...]
    return segments.reduce(into: "") { path, segment in
      switch segment {
      case .literal(let literal): path += "/\(literal.string)"
      case .parameter: path += "/\(rest.popFirst() ?? "")"
      }
    }
  }

  package var segmentCount: Int { segments.count }

  /// Its segments, if it has no parameters.
  package var literals: [UTF8Text]? {
    let literals = segments.compactMap { if case .literal(let text) = $0 { text } else { nil } }
    return literals.count == segments.count ? literals : nil
  }

  /// The names of its parameters, in order.
  package var parameters: [String] {
    segments.compactMap { if case .parameter(let name) = $0 { name.string } else { nil } }
  }

  /// How many of its segments are fixed. If two patterns match, the one with more fixed segments is taken.
  package var literalCount: Int {
    segments.count { if case .literal = $0 { true } else { false } }
  }
}

/// The methods of routes. HEAD is not among them: it is a GET without the body of the answer.
package enum HTTPVerb: String, Sendable, Hashable, CaseIterable {
  case get = "GET"
  case post = "POST"
  case put = "PUT"
  case patch = "PATCH"
  case delete = "DELETE"

  /// All methods of a path with routes of these verbs.
  package static func methods(of verbs: [HTTPVerb]) -> [String] {
    allCases.filter(verbs.contains).map(\.rawValue) + (verbs.contains(.get) ? ["HEAD"] : []) + ["OPTIONS"]
  }
}
