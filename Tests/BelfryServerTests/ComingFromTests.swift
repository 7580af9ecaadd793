import BelfryModel
import Foundation
import Testing

@testable import BelfryInterface
@testable import BelfryServer

/// docs/coming-from.md leads to operations, types, fields and events that exist, and leaves no built-in type out.
@Suite struct ComingFromTests {
  /// The second column of each row, and the rows with their notes.
  private let rows: [(whole: String, here: String)]

  init() throws {
    let text = try ProjectFile.read("docs/coming-from.md")
    rows = text.split(separator: "\n").filter { $0.hasPrefix("| `") || $0.hasPrefix("| ") }.compactMap {
      line in
      let cells = line.split(separator: "|", omittingEmptySubsequences: false)
        .map { $0.trimmingCharacters(in: .whitespaces) }
      guard cells.count >= 4, cells[1] != "there" else { return nil }
      return (String(line), cells[2])
    }
  }

  private func operations(in text: String) -> [String] {
    text.matches(of: /`((?:GET|POST|PUT|PATCH|DELETE) \/[^`]*)`/).map { String($0.1) }
  }

  private func types(in text: String) -> [(code: Int, name: String)] {
    text.matches(of: /(\d+) `(\w+)`/).compactMap { match in Int(match.1).map { ($0, String(match.2)) } }
  }

  @Test func everyRowLeadsToSomething() {
    let routes = Set(Routes.all.map { "\($0.verb.rawValue) \($0.path)" })
    guard case .resource(_, .object(let notification)) = BelfryModel.Notification.shape else {
      Issue.record("a notification is no object")
      return
    }
    let fields = Set(notification.properties.map(\.name))
    let events = Set(FeedEvents.all.map(\.name))
    #expect(rows.count > 150)
    for row in rows {
      let asked = operations(in: row.whole)
      #expect(routes.isSuperset(of: asked), "\(row.whole)")
      for (code, name) in types(in: row.whole) {
        #expect(Catalogue.type(code)?.name == name, "\(row.whole)")
      }
      let field = row.here.firstMatch(of: /^field `(\w+)`$/).map { String($0.1) }
      let event = row.here.firstMatch(of: /^event `(\w+)`$/).map { String($0.1) }
      if let field { #expect(fields.contains(field), "\(row.whole)") }
      if let event { #expect(events.contains(event), "\(row.whole)") }
      let leads = !operations(in: row.here).isEmpty || !types(in: row.here).isEmpty
      #expect(leads || field != nil || event != nil, "this row leads nowhere: \(row.whole)")
    }
  }

  @Test func everyTypeIsNamed() {
    let named = Set(rows.flatMap { types(in: $0.whole).map(\.code) })
    #expect(Set(Catalogue.all.map(\.code)).subtracting(named) == [])
  }

  @Test func everyFieldOfANotificationIsNamed() {
    guard case .resource(_, .object(let notification)) = BelfryModel.Notification.shape else { return }
    let named = Set(
      rows.compactMap { row in row.here.firstMatch(of: /^field `(\w+)`$/).map { String($0.1) } })
    // The fields for places that the other system does not have, and the time of expiry.
    let own: Set = ["groupId", "roomId", "expireAt"]
    #expect(Set(notification.properties.map(\.name)).subtracting(named) == own)
  }
}
