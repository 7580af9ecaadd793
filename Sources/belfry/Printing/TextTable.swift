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
    /// Words are cut, and columns are left out. Ids, addresses, links and times are never cut, because a part of one is of no
    /// use: a row in which one would be takes several lines instead.
    case cutting
    /// Nothing is cut: a row that does not fit has its last cell on lines of its own. If even the other columns do not fit,
    /// each row takes several lines.
    case breaking
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
    guard Self.total(Self.widths(table)) > columnsLimit else { return Self.headed(table) }
    let fitted =
      switch narrowing {
      case .cutting: Self.cut(table, to: columnsLimit)
      case .breaking: Self.withLastCellBelow(table, to: columnsLimit)
      }
    return fitted ?? Self.broken(table, to: columnsLimit)
  }

  /// Each row on several lines, and so the header: it tells the order of the cells.
  private static func broken(_ table: [[String]], to limit: Int) -> [Line] {
    let header = BrokenRow.lines(table[0], columnsLimit: limit).map { Line(text: $0.text, isHead: true) }
    return header + table.dropFirst().flatMap { BrokenRow.lines($0, columnsLimit: limit) }
  }

  private static func headed(_ table: [[String]]) -> [Line] {
    aligned(table).enumerated().map { Line(text: $0.element, isHead: $0.offset == 0) }
  }

  /// Each row on one line, except for the rows in which an id, an address or a link would be cut. Those take several lines, and
  /// do not narrow the columns of the others.
  ///
  /// - Returns: nil if no row fits on one line.
  private static func cut(_ whole: [[String]], to limit: Int) -> [Line]? {
    let isLong = whole.dropFirst().map { row in
      row.contains { VisibleText.wordsKeptWhole(in: $0).contains { $0.count > keptWidth(limit) } }
    }
    var short = [whole[0]] + zip(whole.dropFirst(), isLong).filter { !$0.1 }.map(\.0)
    guard short.count > 1 else { return nil }
    removeColumnsBeyond(limit, from: &short)
    let widths = narrowed(short, to: limit)
    guard total(widths) <= limit else { return nil }
    let cut = short.map { row in
      row.enumerated().map { VisibleText.fitted($0.element, columnsLimit: widths[$0.offset]) }
    }
    let isKept = zip(short, cut).map { whole, part in
      zip(whole, part).allSatisfy { cell, shown in
        VisibleText.wordsKeptWhole(in: cell).allSatisfy { shown.contains($0) }
      }
    }
    var lines = aligned([cut[0]] + zip(cut, isKept).dropFirst().filter(\.1).map(\.0))[...]
    guard lines.count > 1, let header = lines.popFirst() else { return nil }
    var keptOfShort = isKept.dropFirst()
    return [Line(text: header, isHead: true)]
      + zip(whole.dropFirst(), isLong).flatMap { row, isLong in
        if !isLong, keptOfShort.popFirst() == true, let line = lines.popFirst() { return [Line(text: line)] }
        return BrokenRow.lines(row, columnsLimit: limit)
      }
  }

  /// The columns stay as they are. The last cell of a row stands below the row if there is no room for it.
  ///
  /// - Returns: nil if the other columns do not fit.
  private static func withLastCellBelow(_ table: [[String]], to limit: Int) -> [Line]? {
    let starts = aligned(table.map { $0.dropLast() + [""] })
    let start = total(widths(table.map { Array($0.dropLast()) })) + 2
    func room(for cell: String) -> Bool { start + VisibleText.columns(cell) <= limit }
    guard table[0].count > 1, let heading = table[0].last, room(for: heading) else { return nil }
    return zip(table, starts).enumerated().flatMap { index, row in
      let (cells, text) = row
      let last = cells.last ?? ""
      guard !room(for: last) else {
        let padding = String(repeating: " ", count: start - VisibleText.columns(text))
        return [Line(text: last.isEmpty ? text : text + padding + last, isHead: index == 0)]
      }
      return [Line(text: text)] + BrokenRow.below(last, columnsLimit: limit)
    }
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

  /// The width up to which an address or a link keeps its column wide. A row with a longer one takes several lines.
  private static func keptWidth(_ limit: Int) -> Int { limit * 2 / 3 }

  /// The least width of a column of words. An id in it is never cut, and neither is an address that is the whole cell.
  private static func leastWidth(of column: Int, _ rows: [[String]]) -> Int {
    rows.dropFirst().reduce(narrowest) { least, row in
      guard row.indices.contains(column) else { return least }
      let cell = row[column]
      if VisibleText.wordsKeptWhole(in: cell).contains(cell[...]) { return max(least, cell.count) }
      guard let id = VisibleText.idAtEnd(of: cell) else { return least }
      return max(least, id.count + (id.count < cell.count ? 1 : 0))
    }
  }

  /// The last column of words gives way first, then those before it, from the right; then the last again.
  ///
  /// - Parameter isComfortable: true to keep a comfortable width for each of them, even if the table does not fit then.
  private static func narrowed(_ rows: [[String]], to limit: Int, isComfortable: Bool = false) -> [Int] {
    var widths = widths(rows)
    let words = wordColumns(rows)
    func narrow(_ column: Int, downTo least: Int) {
      let excess = total(widths) - limit
      if excess > 0 { widths[column] = min(widths[column], max(widths[column] - excess, least)) }
    }
    for column in words.reversed() {
      narrow(column, downTo: max(comfortable, leastWidth(of: column, rows)))
    }
    if isComfortable { return widths }
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

  /// Columns of ids, counts and times give way from the right, so that words keep a comfortable width. If words stay
  /// uncomfortable all the same, only those give way without which the table fits. The first one names the row.
  private static func removeColumnsBeyond(_ limit: Int, from rows: inout [[String]]) {
    var fewer = rows
    if removeColumns(
      from: &fewer, untilFits: { total(narrowed($0, to: limit, isComfortable: true)) <= limit })
    {
      rows = fewer
    } else {
      _ = removeColumns(from: &rows, untilFits: { total(narrowed($0, to: limit)) <= limit })
    }
  }

  /// - Returns: false if the table does not fit even without them.
  private static func removeColumns(from rows: inout [[String]], untilFits fits: ([[String]]) -> Bool) -> Bool
  {
    while !fits(rows) {
      let words = wordColumns(rows)
      guard rows[0].count > columnsLeastCount,
        let column = rows[0].indices.dropFirst().last(where: { !words.contains($0) })
      else { return false }
      removeColumn(column, from: &rows)
    }
    return true
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
