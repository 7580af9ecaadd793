/// Rows in aligned columns, for people.
struct TextTable {
  /// How narrow a column of words may become for the others to fit.
  private static let narrowest = 10
  /// How much of the last column is to be seen before others give way.
  private static let lastColumnMin = 24

  let header: [String]
  private let dispensable: [String]
  private var rows: [[String]] = []

  /// - Parameter dispensable: columns that are left out, the first first, where a terminal is too narrow to show enough
  ///   of the last one beside them.
  init(_ header: [String], dispensable: [String] = []) {
    self.header = header
    self.dispensable = dispensable
  }

  var isEmpty: Bool { rows.isEmpty }

  mutating func add(_ cells: [String]) { rows.append(cells.map(VisibleText.of)) }

  /// The header first. Nothing when there are no rows: a header alone says less than a sentence would.
  var lines: [String] { lines(columnsLimit: nil) }

  /// - Parameter columnsLimit: how wide a line may be; nil: as wide as it is. Ids and times are never cut, for one that
  ///   is cut is of no use.
  func lines(columnsLimit: Int?) -> [String] {
    if rows.isEmpty { return [] }
    var table = [header] + rows
    guard let columnsLimit else { return Self.aligned(table) }
    for name in dispensable {
      let widths = Self.widths(table)
      let last = min(widths.last ?? 0, Self.lastColumnMin)
      guard Self.total(widths.dropLast() + [last]) > columnsLimit, let index = table[0].firstIndex(of: name)
      else { break }
      for row in table.indices where table[row].indices.contains(index) { table[row].remove(at: index) }
    }
    let widths = Self.narrowed(Self.widths(table), words: Self.wordColumns(table), to: columnsLimit)
    return Self.aligned(
      table.map { row in
        row.enumerated().map { VisibleText.fitted($0.element, columnsLimit: widths[$0.offset]) }
      })
  }

  // MARK: Widths

  private static func widths(_ rows: [[String]]) -> [Int] {
    (0..<(rows.map(\.count).max() ?? 0)).map { column in
      rows.map { $0.indices.contains(column) ? VisibleText.columns($0[column]) : 0 }.max() ?? 0
    }
  }

  private static func total(_ widths: [Int]) -> Int { widths.reduce(0, +) + 2 * max(widths.count - 1, 0) }

  /// Those in which something else than ids, counts and times stands.
  private static func wordColumns(_ rows: [[String]]) -> [Int] {
    (rows.first ?? []).indices.filter { column in
      rows.dropFirst().contains { $0.indices.contains(column) && $0[column].contains(where: \.isLetter) }
    }
  }

  /// The last column of words gives way first, then those before it, from the right; then the last again.
  private static func narrowed(_ widths: [Int], words: [Int], to limit: Int) -> [Int] {
    var widths = widths
    func narrow(_ column: Int, downTo least: Int) {
      let excess = total(widths) - limit
      if excess > 0 { widths[column] = min(widths[column], max(widths[column] - excess, least)) }
    }
    guard let last = words.last else { return widths }
    narrow(last, downTo: lastColumnMin)
    for column in words.dropLast().reversed() { narrow(column, downTo: narrowest) }
    narrow(last, downTo: narrowest)
    return widths
  }

  // MARK: Lines

  /// Rows without a header, such as names and values.
  static func aligned(_ rows: [[String]]) -> [String] {
    let widths = widths(rows)
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
