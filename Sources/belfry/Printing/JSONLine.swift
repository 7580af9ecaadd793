import FoundationEssentials

/// A value as one line of JSON, its fields sorted so that equal values are equal lines.
enum JSONLine {
  static func text(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return VisibleText.escapedInJSON(String(decoding: try encoder.encode(value), as: UTF8.self))
  }
}
