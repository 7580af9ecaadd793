import BelfryModel
import Foundation
import Testing

@testable import BelfryInterface
@testable import BelfryServer

/// The access matrix: every kind of caller tries every operation.
@Suite struct AccessMatrixTests {
  struct Row {
    let route: Route
    let place: AccessPlace
    /// The statuses, by caller.
    var cells: [AccessCaller: Int] = [:]
  }

  private static let file = "docs/access.md"

  @Test func theTableIsWhatHolds() async throws {
    let rows = try await rows()
    let text = Self.text(rows)
    if ProcessInfo.processInfo.environment["BELFRY_WRITE"] != nil { try ProjectFile.write(Self.file, text) }
    let written = try ProjectFile.read(Self.file)
    #expect(
      written == text,
      "\(Self.difference(written, text)) who may do what has changed: BELFRY_WRITE=1 scripts/test --filter AccessMatrixTests, and look at what changes"
    )
    for row in rows { check(row) }
  }

  /// Checks the rules that must hold for every row.
  private func check(_ row: Row) {
    let name = "\(row.route.verb.rawValue) \(row.route.path) \(row.place.rawValue)"
    switch row.route.access {
    case .everyone, .loopbackOrToken, .tokenLater: break
    case .trusted:
      #expect(row.cells[.nobody] == 401, "\(name)")
      for caller in [AccessCaller.stranger, .member, .muted, .admin, .owner] {
        #expect(row.cells[caller] == 403, "\(name)")
      }
    case .operators:
      #expect(row.cells[.nobody] == 401, "\(name)")
      for caller in AccessCaller.allCases where ![.nobody, .operator].contains(caller) {
        #expect(row.cells[caller] == 403, "\(name)")
      }
    case .token: #expect(row.cells[.nobody] == 401, "\(name)")
    }
    guard row.route.access == .token else { return }
    // In a private channel, members of the server who are not in the channel are strangers. In a private
    // group, everybody outside of it is.
    let strangers: [AccessCaller] =
      switch row.place {
      case .privateChannel: [.member, .muted]
      case .privateGroup: [.stranger]
      default: []
      }
    for caller in strangers { #expect(row.cells[caller] == 404, "\(name) \(caller)") }
    if row.route.name == "notification update" {
      #expect(row.cells[.stranger] == 404, "\(name)")
      if row.place == .direct { #expect(row.cells[.admin] == 404, "\(name)") }
    }
  }

  // MARK: Asking

  private func rows() async throws -> [Row] {
    // On a slow machine a place is used long after it was made, and attendees of a room send no heartbeats
    // meanwhile.
    var limits = Limits.unhurried
    limits.absenceMilliseconds = 3_600_000
    return try await withBroker(limits: limits, configure: { $0.browsers.givesCookies = true }) { broker in
      var rows: [Row] = []
      var worlds: [AccessPlace: AccessWorld] = [:]
      var number = 0
      for route in Routes.all {
        for place in AccessPlace.all(of: route) {
          var row = Row(route: route, place: place)
          for caller in AccessCaller.allCases {
            number += 1
            let world = try worlds[place] ?? AccessWorld(place, number, broker)
            worlds[place] = world
            world.take(requestOf: route)
            let status = try world.ask(route, by: caller)
            row.cells[caller] = status
            // After a change, the next caller gets a new place.
            if status < 400, route.verb != .get { worlds[place] = nil }
          }
          rows.append(row)
        }
      }
      return rows
    }
  }

  // MARK: Words

  /// The lines that only one of the texts has.
  private static func difference(_ written: String, _ found: String) -> String {
    let (before, after) = (written.split(separator: "\n"), found.split(separator: "\n"))
    let (gone, new) = (Set(before).subtracting(after), Set(after).subtracting(before))
    let lines =
      before.filter(gone.contains).map { "written: \($0)" }
      + after.filter(new.contains).map { "holds: \($0)" }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func text(_ rows: [Row]) -> String {
    let callers = AccessCaller.allCases
    var lines = [
      "# Who may do what", "",
      "The table has a row for each operation and a column for each kind of caller. A cell is the HTTP status that this caller gets.",
      "A test (`AccessMatrixTests`) writes this page and compares it with the broker's answers.", "",
      "The callers `member`, `muted`, `admin` and `owner` belong to the place that the row names. `stranger` does not. `app` is a",
      "trusted caller that acts for the stranger, and `operator` has the token of the person who runs the broker. Only `owner` and",
      "one other account are in the private channel; `admin` sees it, too. In a room `owner` is the host, and the others listen. A",
      "caller who must not know that something exists gets 404. `DELETE /v1/session` needs no token, because it only deletes a cookie.",
      "`muted` is muted in the channels and the groups, not in the server. A 400, 404 or 409 for a caller who has the right comes",
      "from the test's request: its body lacks something, or it names something that is not there or is done already.",
      "",
      "| operation | place | " + callers.map(\.rawValue).joined(separator: " | ") + " |",
      "|---|---|" + callers.map { _ in "---|" }.joined(),
    ]
    for row in rows {
      let cells = callers.map { String(row.cells[$0] ?? 0) }.joined(separator: " | ")
      lines.append("| `\(row.route.verb.rawValue) \(row.route.path)` | \(row.place.rawValue) | \(cells) |")
    }
    return lines.joined(separator: "\n") + "\n"
  }
}
