package import BelfryModel

/// JSON for people, and for comparing one version of a file with the next. Each member has a line, and the names are in
/// order. A short value stays on one line.
package enum PrettyJSON {
  package static func text(of value: JSONValue) -> String {
    var text = ""
    write(value, to: &text, indentation: "")
    return text + "\n"
  }

  private static func write(_ value: JSONValue, to text: inout String, indentation: String) {
    switch value {
    case .object(let members) where members.count > 1 || !members.values.allSatisfy(isShort):
      let members = members.sorted { $0.key < $1.key }
      writeLines(members, to: &text, "{", "}", indentation) { member, text, indentation in
        write(.string(member.key), to: &text, indentation: indentation)
        text += ": "
        write(member.value, to: &text, indentation: indentation)
      }
    case .array(let elements) where !elements.allSatisfy(isShort):
      writeLines(elements, to: &text, "[", "]", indentation) { element, text, indentation in
        write(element, to: &text, indentation: indentation)
      }
    default:
      text += String(decoding: JSONText.bytes(of: value), as: UTF8.self)
    }
  }

  private static func writeLines<Element>(
    _ elements: [Element], to text: inout String, _ opening: String, _ closing: String, _ indentation: String,
    _ write: (Element, inout String, String) -> Void
  ) {
    let inner = indentation + "  "
    text += opening
    for (index, element) in elements.enumerated() {
      text += (index > 0 ? "," : "") + "\n" + inner
      write(element, &text, inner)
    }
    text += "\n" + indentation + closing
  }

  /// A word or a number. Several of them fit a line.
  private static func isShort(_ value: JSONValue) -> Bool {
    switch value {
    case .array(let elements): elements.isEmpty
    case .object(let members): members.isEmpty
    default: true
    }
  }
}
