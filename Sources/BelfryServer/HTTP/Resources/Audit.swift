import BelfryHTTP
import BelfryInterface
import BelfryModel
import BelfryStore

/// The record of the actions of trusted callers: apps, operators, and back ends with keys. Each entry is
/// written before the caller is answered. It is always written to the log as well.
enum Audit {
  /// The entries that one read gets from Redis, and the most entries that one page looks through.
  private static let readAtOnce = 500
  private static let readMax = 5_000
  /// The most accounts of a body that an entry names.
  private static let accountsMax = 20

  static let handlers: [Handler] = [OperatorRoutes.audit.handled(by: list)]

  // MARK: Writing

  static func record(_ request: Request, _ route: Route, _ reply: HTTPResponse, _ services: LoopServices)
    async
  {
    guard let caller = request.caller, caller.actor.isTrusted else { return }
    let target = target(request, route, reply)
    // Operators know it by the words of its command.
    let operation = route.command ?? route.name
    var entry: JSONObject = [
      "caller": .string(caller.subject), "role": .string(caller.role.rawValue),
      "operation": .string(operation), "status": .integer(Int64(reply.status)),
      "address": .string(request.address),
    ]
    if let account = caller.actor.account { entry["account"] = .string(account.text) }
    if !target.isEmpty { entry["target"] = .string(target) }
    if case .backEndKey(let id) = caller.credential { entry["keyId"] = .string(id.text) }
    Log.line(
      "audit",
      [
        "caller": caller.subject, "role": caller.role.rawValue, "account": caller.actor.account?.text ?? "-",
        "operation": operation, "target": target.isEmpty ? "-" : target, "status": "\(reply.status)",
        "address": request.address,
      ])
    do throws(StoreError) {
      try await services.administration.appendAudit(RecordJSON.text(.object(entry)))
    } catch {
      Log.line("audit entry could not be stored and is only in this log", ["cause": error.description])
    }
  }

  /// The values in the path, the location of a new resource, and the accounts in the body.
  private static func target(_ request: Request, _ route: Route, _ reply: HTTPResponse) -> String {
    var parts = zip(route.pathProperties, request.pathTexts).map { "\($0.name)=\($1)" }
    if let place = reply.headers.first(where: { $0.name == ResponseHeader.location.rawValue }) {
      parts.append("made=\(place.value)")
    }
    let lists = route.body.shape?.properties.filter {
      if case .list(.account, _) = $0.shape { true } else { false }
    }
    if let lists, !lists.isEmpty, case .object(let body)? = try? JSONParser.value(of: request.body) {
      for property in lists {
        guard case .array(let names)? = body[property.name] else { continue }
        let shown = names.prefix(accountsMax).compactMap {
          if case .string(let name) = $0 { name } else { nil }
        }
        let rest = names.count > shown.count ? ",… (\(names.count))" : ""
        parts.append("\(property.name)=\(shown.joined(separator: ","))\(rest)")
      }
    }
    return parts.joined(separator: " ")
  }

  // MARK: Reading

  private static func list(
    _ request: Request, _ services: LoopServices, limit: Int, since: Int, account: AccountID?,
    cursor: AuditPlace?
  ) async throws(Refusal) -> HTTPResponse {
    var place = cursor
    var entries: [JSONValue] = []
    var (count, isOver) = (0, false)
    while entries.count < limit, count < readMax, !isOver {
      let before = place
      let found = try await reading { () async throws(StoreError) in
        try await services.administration.auditEntries(
          before: before, since: Int64(since), count: readAtOnce)
      }
      isOver = found.count < readAtOnce
      for (index, entry) in found.enumerated() where entries.count < limit {
        count += 1
        place = entry.place
        if let entry = Self.entry(entry, of: account) { entries.append(entry) }
        if entries.count == limit { isOver = isOver && index == found.count - 1 }
      }
    }
    let cursor: JSONValue = isOver ? .null : place.map { .string($0.text) } ?? .null
    return .json(["entries": .array(entries), "cursor": cursor])
  }

  private static func entry(_ found: (place: AuditPlace, text: String), of account: AccountID?) -> JSONValue?
  {
    guard case .object(var entry)? = RecordJSON.value(found.text) else { return nil }
    if let account, !isAbout(account, entry) { return nil }
    entry["time"] = .integer(found.place.milliseconds)
    return .object(entry)
  }

  private static func isAbout(_ account: AccountID, _ entry: JSONObject) -> Bool {
    if entry["account"] == .string(account.text) { return true }
    guard case .string(let target)? = entry["target"] else { return false }
    let separators = Set("= ,".utf8)
    return target.utf8.split { separators.contains($0) }.contains { $0.elementsEqual(account.text.utf8) }
  }
}
