import FoundationEssentials

/// Makes text that others wrote safe and flat for a terminal.
enum VisibleText {
  /// Replaces control characters by visible escapes. Otherwise an escape sequence in a notification's body
  /// could move the cursor, or change the colours or the title of the reader's terminal. Characters that
  /// change the direction of writing are replaced too, and so are line ends, which would break a table.
  static func of(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isHidden) else { return text }
    var visible = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\n": visible += "\\n"
      case "\r": visible += "\\r"
      case "\t": visible += "\\t"
      case _ where isHidden(scalar): visible += "\\u{\(String(scalar.value, radix: 16))}"
      default: visible.unicodeScalars.append(scalar)
      }
    }
    return visible
  }

  /// The same in quotation marks, for a text of others in front of a command. The text could imitate the command without
  /// them.
  static func quoted(_ text: String) -> String {
    "\"" + of(text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")) + "\""
  }

  /// JSON escapes only the first of the characters above by itself. They stand in its strings alone, where this means
  /// the same.
  static func escapedInJSON(_ json: String) -> String {
    guard json.unicodeScalars.contains(where: isHidden) else { return json }
    var visible = ""
    for scalar in json.unicodeScalars {
      guard isHidden(scalar) else {
        visible.unicodeScalars.append(scalar)
        continue
      }
      let digits = String(scalar.value, radix: 16)
      visible += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }
    return visible
  }

  private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7f..<0xa0: true
    // Marks of direction, line and paragraph separators, embeddings and overrides, isolates.
    case 0x61c, 0x200e, 0x200f, 0x2028...0x202e, 0x2066...0x2069: true
    default: false
    }
  }

  /// The number of columns of a terminal that the text takes, as far as that can be known without asking the
  /// terminal.
  static func columns(_ text: String) -> Int {
    text.reduce(0) { $0 + columns($1) }
  }

  private static func columns(_ character: Character) -> Int {
    guard let first = character.unicodeScalars.first else { return 0 }
    if first.properties.isEmojiPresentation { return 2 }
    switch first.value {
    // Hangul, CJK and full-width forms: Unicode's East Asian Width, in blocks.
    case 0x1100...0x115f, 0x2e80...0x303e, 0x3041...0xa4cf, 0xac00...0xd7a3, 0xf900...0xfaff, 0xfe30...0xfe6f,
      0xff00...0xff60, 0xffe0...0xffe6, 0x1f300...0x1faff, 0x20000...0x3fffd:
      return 2
    default:
      return 1
    }
  }

  /// An id has at least as many digits.
  private static let idDigitsMin = 10

  /// The id that a text ends with, as `serverId=383689010893279232` does; nil if there is none.
  static func idAtEnd(of text: String) -> Substring? {
    let digits = text.reversed().prefix { $0.isASCII && $0.isNumber }.count
    return digits >= idDigitsMin ? text.suffix(digits) : nil
  }

  /// The ids, links and addresses in a text.
  static func wordsKeptWhole(in text: String) -> [Substring] {
    text.split(separator: " ").flatMap { word in
      if word.contains("://") || isAddress(word) { return [word] }
      return word.split { !($0.isASCII && $0.isNumber) }.filter { $0.count >= idDigitsMin }
    }
  }

  /// True for a host with a port, such as `10.0.0.2:6379`. A time of day looks the same, and is never cut either.
  private static func isAddress(_ word: Substring) -> Bool {
    let port = word.reversed().prefix { $0.isASCII && $0.isNumber }
    return (2...5).contains(port.count) && word.dropLast(port.count).last == ":" && word.first != ":"
  }

  /// The longest beginning that fits, an ellipsis showing that there was more. A text that ends with an id keeps its end, since
  /// an id that is cut is of no use.
  static func fitted(_ text: String, columnsLimit: Int) -> String {
    guard columns(text) > columnsLimit else { return text }
    if let id = idAtEnd(of: text), id.count < columnsLimit { return "…" + text.suffix(columnsLimit - 1) }
    var fitted = ""
    var used = 0
    for character in text {
      used += columns(character)
      guard used < columnsLimit else { break }
      fitted.append(character)
    }
    return fitted + "…"
  }
}

/// A value as one line of JSON, its fields sorted so that equal values are equal lines.
enum JSONLine {
  static func text(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return VisibleText.escapedInJSON(String(decoding: try encoder.encode(value), as: UTF8.self))
  }
}
