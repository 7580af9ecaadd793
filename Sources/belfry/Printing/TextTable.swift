/// Rows in aligned columns, for people.
struct TextTable {
  /// A cell wider than this is cut: one long body must not push the other columns off the screen. `--json`
  /// cuts nothing.
  static let cellColumns = 72

  private let header: [String]
  private var rows: [[String]] = []

  init(_ header: [String]) { self.header = header }

  mutating func add(_ cells: [String]) {
    rows.append(cells.map { VisibleText.fitted(VisibleText.of($0), columnsLimit: Self.cellColumns) })
  }

  /// Nothing when there are no rows: a header alone says less than a sentence would.
  var lines: [String] { rows.isEmpty ? [] : Self.aligned([header] + rows) }

  /// Rows without a header, such as names and values.
  static func aligned(_ rows: [[String]]) -> [String] {
    let count = rows.map(\.count).max() ?? 0
    let widths = (0..<count).map { column in
      rows.map { $0.indices.contains(column) ? VisibleText.columns($0[column]) : 0 }.max() ?? 0
    }
    return rows.map { row in
      var line = ""
      for (column, cell) in row.enumerated() {
        line += cell
        line += String(repeating: " ", count: widths[column] - VisibleText.columns(cell) + 2)
      }
      // Nothing invisible at a line's end, where it would be copied along.
      while line.last == " " { line.removeLast() }
      return line
    }
  }
}
