import BelfryClient
import BelfryInterface
import BelfryModel
import Foundation

extension Command {
  static let audit = Command(
    name: "audit", summary: "show what trusted callers did",
    detail: """
      What apps, operators and back ends with keys asked that changes something, and how it ended; sends are not among \
      it. The oldest first. It needs an operator's token.
      """,
    options: [
      .value("since", "TIME", "none older: a time as 2026-11-22T10:00:00Z, or 90m, 24h, 7d ago"),
      .value("account", "ACCID", "only those acted for, or done to, this account"), .listingLimit,
    ] + CommandOption.connection,
    examples: [
      Example("audit --since 24h", "the latest hundred of a day"),
      Example("audit --account bob --json", "what was done to bob, and in his name"),
    ],
    run: { invocation in
      let arguments = invocation.arguments
      var query: [(name: String, value: String)] = []
      if let since = try arguments.beginning("since", now: Date()) { query.append(("since", "\(since)")) }
      if let account = try arguments.account("account") { query.append(("account", account.text)) }
      let entries = try await invocation.auditEntries(query, limit: try arguments.listingLimit)
      if invocation.printsJSON { return invocation.console.print(try entries.map { try JSONLine.text($0) }) }
      if entries.isEmpty { return invocation.console.print(["none"]) }
      let columns = ["time", "caller", "role", "account", "operation", "target", "status"]
      var table = TextTable(columns.map { $0.uppercased() })
      for entry in entries {
        table.add(columns.map { FactText.cell($0, of: entry, in: invocation.console.timeZone) })
      }
      invocation.console.print(table)
    })
}

extension Invocation {
  /// The oldest first.
  fileprivate func auditEntries(
    _ query: [(name: String, value: String)], limit: Int
  ) async throws -> [JSONValue] {
    let client = try client()
    var entries: [JSONValue] = []
    var cursor: String?
    repeat {
      let page =
        query + [("limit", "\(min(limit - entries.count, 1_000))")] + (cursor.map { [("cursor", $0)] } ?? [])
      guard case .object(let answer)? = try await client.perform(OperatorRoutes.audit.route, query: page),
        case .array(let found)? = answer["entries"]
      else { break }
      entries += found
      if case .string(let next)? = answer["cursor"] { cursor = next } else { cursor = nil }
    } while cursor != nil && entries.count < limit
    return entries.reversed()
  }
}

extension Arguments {
  /// A time, or so long ago, in milliseconds since 1970.
  fileprivate func beginning(_ name: String, now: Date) throws(UsageError) -> Int64? {
    guard let text = text(name) else { return nil }
    if let time = try? Date(text, strategy: .iso8601) { return Int64(time.timeIntervalSince1970 * 1_000) }
    let seconds = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]
    guard let unit = text.last.flatMap({ seconds[String($0)] }), let count = Int64(text.dropLast()),
      (0...1_000_000).contains(count)
    else {
      throw UsageError("--\(name) must be a time as 2026-11-22T10:00:00Z, or 90m, 24h or 7d, not \(text)")
    }
    return max(0, Int64(now.timeIntervalSince1970 * 1_000) - count * Int64(unit) * 1_000)
  }
}
