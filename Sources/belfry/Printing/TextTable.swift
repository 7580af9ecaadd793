/// Rows in aligned columns, for people.
struct TextTable {
  /// The least width of a column of words when others need room.
  private static let narrowest = 10
  /// The width of a column of words that is kept before others give way.
  private static let comfortable = 24
  /// A table keeps this many columns: one alone says nothing.
  private static let columnsLeastCount = 2

  /// How a table fits a terminal that is too narrow for it.
  enum Narrowing {
    /// Words are cut, and columns are left out. Ids, links and times are never cut, because a part of one is of no use: if one
    /// would be, each row takes several lines instead.
    case cutting
    /// Nothing is cut: if a table without these columns is still too wide, each row takes several lines, and the last
    /// cell begins a line.
    case breaking(dispensable: [String])
  }

  struct Line: Hashable {
    let text: String
    /// True for the header, or for the first line of a row that takes several lines.
    var isHead = false
  }

  let header: [String]
  private let narrowing: Narrowing
  private var rows: [[String]] = []

  init(_ header: [String], narrowing: Narrowing = .cutting) {
    self.header = header
    self.narrowing = narrowing
  }

  var isEmpty: Bool { rows.isEmpty }

  mutating func add(_ cells: [String]) { rows.append(cells.map(VisibleText.of)) }

  /// All lines, with the header first. Empty if there are no rows: a header alone says less than a sentence
  /// would.
  var lines: [String] { lines(columnsLimit: nil).map(\.text) }

  /// - Parameter columnsLimit: the longest width of a line; nil: no limit.
  func lines(columnsLimit: Int?) -> [Line] {
    if rows.isEmpty { return [] }
    var table = [header] + rows
    guard let columnsLimit else { return Self.headed(table) }
    if Self.total(Self.widths(table)) > columnsLimit { Self.removeBlankColumns(&table) }
    guard case .breaking(let dispensable) = narrowing else {
      if let cut = Self.cut(table, to: columnsLimit) { return Self.headed(cut) }
      return Self.broken(table, to: columnsLimit)
    }
    for name in dispensable where Self.total(Self.widths(table)) > columnsLimit {
      if let index = table[0].firstIndex(of: name) { Self.removeColumn(index, from: &table) }
    }
    guard Self.total(Self.widths(table)) > columnsLimit else { return Self.headed(table) }
    return Self.broken(table, to: columnsLimit)
  }

  private static func broken(_ table: [[String]], to limit: Int) -> [Line] {
    table.dropFirst().flatMap { BrokenRow.lines($0, columnsLimit: limit) }
  }

  private static func headed(_ table: [[String]]) -> [Line] {
    aligned(table).enumerated().map { Line(text: $0.element, isHead: $0.offset == 0) }
  }

  /// - Returns: nil if an id or a link would be cut.
  private static func cut(_ table: [[String]], to limit: Int) -> [[String]]? {
    var table = table
    removeColumnsBeyond(limit, from: &table)
    let widths = narrowed(table, to: limit)
    let cut = table.map { row in
      row.enumerated().map { VisibleText.fitted($0.element, columnsLimit: widths[$0.offset]) }
    }
    let isAllKept = zip(table.joined(), cut.joined()).allSatisfy { whole, part in
      VisibleText.wordsKeptWhole(in: whole).allSatisfy { part.contains($0) }
    }
    return isAllKept ? cut : nil
  }

  // MARK: Widths

  private static func widths(_ rows: [[String]]) -> [Int] {
    (0..<(rows.map(\.count).max() ?? 0)).map { column in
      rows.map { $0.indices.contains(column) ? VisibleText.columns($0[column]) : 0 }.max() ?? 0
    }
  }

  private static func total(_ widths: [Int]) -> Int { widths.reduce(0, +) + 2 * max(widths.count - 1, 0) }

  /// The columns with words, not only ids, counts and times.
  private static func wordColumns(_ rows: [[String]]) -> [Int] {
    (rows.first ?? []).indices.filter { column in
      rows.dropFirst().contains { $0.indices.contains(column) && $0[column].contains(where: \.isLetter) }
    }
  }

  /// The least width of a column of words. An id in it is never cut.
  private static func leastWidth(of column: Int, _ rows: [[String]]) -> Int {
    rows.dropFirst().reduce(narrowest) { least, row in
      guard row.indices.contains(column), let id = VisibleText.idAtEnd(of: row[column]) else { return least }
      return max(least, id.count + (id.count < row[column].count ? 1 : 0))
    }
  }

  /// The last column of words gives way first, then those before it, from the right; then the last again.
  private static func narrowed(_ rows: [[String]], to limit: Int) -> [Int] {
    var widths = widths(rows)
    let words = wordColumns(rows)
    func narrow(_ column: Int, downTo least: Int) {
      let excess = total(widths) - limit
      if excess > 0 { widths[column] = min(widths[column], max(widths[column] - excess, least)) }
    }
    for column in words.reversed() { narrow(column, downTo: comfortable) }
    for column in words.dropLast().reversed() { narrow(column, downTo: leastWidth(of: column, rows)) }
    if let last = words.last { narrow(last, downTo: leastWidth(of: last, rows)) }
    return widths
  }

  // MARK: Leaving columns out

  /// Removes the columns that are empty.
  private static func removeBlankColumns(_ rows: inout [[String]]) {
    for column in (rows.first ?? []).indices.reversed() where rows[0].count > columnsLeastCount {
      if rows.dropFirst().allSatisfy({ !$0.indices.contains(column) || ["-", ""].contains($0[column]) }) {
        removeColumn(column, from: &rows)
      }
    }
  }

  /// Columns of ids, counts and times give way from the right if words alone are not enough. The first one names the row.
  private static func removeColumnsBeyond(_ limit: Int, from rows: inout [[String]]) {
    while rows[0].count > columnsLeastCount, total(narrowed(rows, to: limit)) > limit {
      let words = wordColumns(rows)
      guard let column = rows[0].indices.dropFirst().last(where: { !words.contains($0) }) else { return }
      removeColumn(column, from: &rows)
    }
  }

  private static func removeColumn(_ column: Int, from rows: inout [[String]]) {
    for row in rows.indices where rows[row].indices.contains(column) { rows[row].remove(at: column) }
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
      // Spaces at a line's end are removed, because they would be copied along.
      while line.last == " " { line.removeLast() }
      return line
    }
  }
}
