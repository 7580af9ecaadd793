/// How a part of a line is emphasized on a terminal that shows colours.
enum Color: String, Sendable {
  case bold = "1"
  case faint = "2"
  case yellow = "33"

  func of(_ text: String) -> String { "\u{1b}[\(rawValue)m\(text)\u{1b}[0m" }
}

extension Console {
  /// The text in that colour, or unchanged if no colour is wanted.
  func colored(_ text: String, _ color: Color) -> String {
    terminal.showsColor && !text.isEmpty ? color.of(text) : text
  }

  /// A table, as wide as the terminal at most.
  ///
  /// - Parameter empty: what is printed if the table has no rows.
  func print(_ table: TextTable, empty: String = "none") {
    let lines = table.lines(columnsLimit: terminal.columns)
    print(lines.isEmpty ? [empty] : lines.map { $0.isHead ? colored($0.text, .bold) : $0.text })
  }
}
