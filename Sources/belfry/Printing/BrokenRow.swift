/// A row of a table on several lines of a terminal that is too narrow for one, with nothing left out.
enum BrokenRow {
  private static let indent = "  "
  private static let gap = "  "

  /// As many cells on a line as fit, and the last one below them.
  static func lines(_ row: [String], columnsLimit: Int) -> [TextTable.Line] {
    var lines: [String] = []
    for cell in row.dropLast() where !["", "-"].contains(cell) {
      if let line = lines.last,
        VisibleText.columns(line) + gap.count + VisibleText.columns(cell) <= columnsLimit
      {
        lines[lines.count - 1] = line + gap + cell
      } else {
        lines += wrapped(cell, indent: lines.isEmpty ? "" : indent, columnsLimit)
      }
    }
    lines += wrapped(row.last ?? "", indent: indent, columnsLimit)
    return lines.enumerated().map { TextTable.Line(text: $0.element, isHead: $0.offset == 0) }
  }

  /// The last cell of a row, below the row.
  static func below(_ cell: String, columnsLimit: Int) -> [TextTable.Line] {
    wrapped(cell, indent: indent, columnsLimit).map { TextTable.Line(text: $0) }
  }

  private static func wrapped(_ text: String, indent: String, _ limit: Int) -> [String] {
    WrappedText.lines(text, indent: indent, hanging: Self.indent, columnsLimit: limit)
  }
}
