import BelfryInterface
import BelfryModel
import FoundationEssentials

/// The answer of `GET /v1/stats` to be read at a glance: first what holds for the broker, then each number, its total before
/// those of the loops. Numbers that are 0 everywhere are left out, so that it fits a screen.
struct StatisticsText {
  /// With more loops than this a line shows the lowest and the highest number of them.
  private static let loopColumnsMax = 4
  /// The total of these is the longest time of any loop and not the sum.
  private static let timeSuffix = "seconds"

  /// The broker as a whole: rows of a name and a value, and tables of what differs from the keyspace.
  let broker: AnswerText.Parts
  let table: TextTable
  /// How many numbers are left out.
  let hiddenCount: Int

  /// - Parameters:
  ///   - before: the totals of an earlier answer and how many seconds ago it came, for a column of how many come in a second.
  ///   - showsAll: true: nothing is left out.
  init(_ answer: JSONValue, in timeZone: TimeZone, since before: Earlier? = nil, showsAll: Bool) {
    let text = AnswerText(timeZone: timeZone)
    let loops = Self.loops(of: answer, text)
    let labels = loops.reduce(into: [String]()) { labels, loop in
      labels += loop.labels.filter { !labels.contains($0) }
    }
    let areLoopsShown = loops.count <= Self.loopColumnsMax
    let loopColumns = areLoopsShown ? loops.indices.map { "LOOP \($0)" } : ["LEAST", "MOST"]
    var table = TextTable(["", "TOTAL"] + (before == nil ? [] : ["A SECOND"]) + loopColumns)
    var hidden = 0
    for label in labels {
      let cells = loops.map { $0.values[label] ?? "0" }
      if !showsAll, cells.allSatisfy({ $0 == "0" }) {
        hidden += 1
        continue
      }
      let total = Self.total(of: cells, label)
      let rate = before.map { [Self.rate(label, total, $0)] } ?? []
      table.add([label, total] + rate + (areLoopsShown ? cells : Self.bounds(of: cells)))
    }
    var broker = text.parts(Self.withoutLoops(answer), as: Self.shapeWithoutLoops)
    if !showsAll {
      let count = broker.facts.count
      broker.facts.removeAll { $0.last == "0" }
      hidden += count - broker.facts.count
    }
    (self.broker, self.table, hiddenCount) = (broker, table, hidden)
  }

  /// The totals of an earlier answer, by which it is known how many come in a second.
  struct Earlier {
    let totals: [String: Int]
    let secondsAgo: Double

    init(_ answer: JSONValue, secondsAgo: Double, in timeZone: TimeZone) {
      let loops = StatisticsText.loops(of: answer, AnswerText(timeZone: timeZone))
      totals = loops.reduce(into: [:]) { totals, loop in
        for (label, value) in loop.values { totals[label, default: 0] += Int(value) ?? 0 }
      }
      self.secondsAgo = secondsAgo
    }
  }

  // MARK: Reading the answer

  private static var shape: ObjectShape? {
    guard case .json(let shape)? = OperatorRoutes.statistics.route.outcomes.first?.content,
      case .object(let object) = shape.bare
    else { return nil }
    return object
  }

  private static let loopsName = "loops"

  private static var shapeWithoutLoops: Shape {
    .object(ObjectShape((shape?.properties ?? []).filter { $0.name != loopsName }))
  }

  private static func withoutLoops(_ answer: JSONValue) -> JSONValue {
    guard case .object(var members) = answer else { return answer }
    members[loopsName] = nil
    return .object(members)
  }

  /// The numbers of one loop by their labels, and the labels in their order.
  private struct LoopNumbers {
    var labels: [String] = []
    var values: [String: String] = [:]
  }

  private static func loops(of answer: JSONValue, _ text: AnswerText) -> [LoopNumbers] {
    guard case .object(let members) = answer, case .array(let elements)? = members[loopsName],
      case .list(let element, _)? = shape?.properties.first(where: { $0.name == loopsName })?.shape
    else { return [] }
    return elements.map { loop in
      text.parts(loop, as: element).facts.reduce(into: LoopNumbers()) { numbers, row in
        // Its number is the heading of its column.
        guard row.count == 2, row[0] != "loop" else { return }
        numbers.labels.append(row[0])
        numbers.values[row[0]] = row[1]
      }
    }
  }

  // MARK: Cells

  private static func total(of cells: [String], _ label: String) -> String {
    let numbers = cells.compactMap { Int($0) }
    guard numbers.count == cells.count else {
      return Set(cells).count == 1 ? cells.first ?? "" : "not all"
    }
    return switch combination(of: label) {
    case .sum: "\(numbers.reduce(0, +))"
    case .most: "\(numbers.max() ?? 0)"
    case .least: "\(numbers.min() ?? 0)"
    }
  }

  /// How the numbers of the loops make one of the broker.
  private enum Combination { case sum, most, least }

  /// Each loop counts the same Redis nodes, so their sum is no number of nodes. A loop that is not connected to
  /// a node cannot serve that node's partitions, so the broker is as well connected as its worst loop.
  private static func combination(of label: String) -> Combination {
    switch label {
    case "redis nodes connected": .least
    case "redis nodes": .most
    default: label.hasSuffix(timeSuffix) ? .most : .sum
    }
  }

  private static func bounds(of cells: [String]) -> [String] {
    let numbers = cells.compactMap { Int($0) }.sorted()
    guard numbers.count == cells.count, let least = numbers.first, let most = numbers.last else {
      let words = Set(cells).sorted()
      return [words.first ?? "", words.last ?? ""]
    }
    return ["\(least)", "\(most)"]
  }

  private static func rate(_ label: String, _ total: String, _ before: Earlier) -> String {
    guard let now = Int(total), combination(of: label) == .sum, before.secondsAgo > 0 else { return "" }
    let more = Double(now - (before.totals[label] ?? 0)) / before.secondsAgo
    let tenths = (more * 10).rounded() / 10
    return tenths == tenths.rounded() ? "\(Int(tenths))" : "\(tenths)"
  }
}
