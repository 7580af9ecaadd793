/// Comments in JSON: from `//` to the end of the line, anywhere but inside a string.
enum JSONComments {
  /// Replaces comments by spaces, so that the line and the column in a later complaint match the file.
  static func blankedOut(_ bytes: [UInt8]) -> [UInt8] {
    var result = bytes
    var place = Place.between
    for index in bytes.indices {
      let byte = bytes[index]
      switch place {
      case .between where byte == UInt8(ascii: "\""):
        place = .string
      case .between where byte == UInt8(ascii: "/") && bytes[index...].dropFirst().first == byte:
        place = .comment
        result[index] = UInt8(ascii: " ")
      case .between: break
      case .string where byte == UInt8(ascii: "\\"):
        place = .escape
      case .string where byte == UInt8(ascii: "\""):
        place = .between
      case .string: break
      case .escape:
        place = .string
      case .comment where byte == UInt8(ascii: "\n"):
        place = .between
      case .comment:
        result[index] = UInt8(ascii: " ")
      }
    }
    return result
  }

  private enum Place {
    case between, string, escape, comment
  }
}
