import BelfryHTTP
import BelfryInterface
import BelfryModel
import BelfryStore

/// A space as a caller sees it: its settings, and the caller's own record in it, at one moment.
struct SpaceView<Record: SpaceRecord> {
  let space: SpaceID
  let settings: Record
  /// Nil if the caller is not a member.
  let member: MemberRecord?
  let records: Records

  /// - Parameters:
  ///   - channel: the channel that the caller looks into.
  ///   - access: gives the callers who may look, from the settings of the space.
  ///   - others: records that are read in addition.
  init(
    _ request: Request, of space: SpaceID, channel: EntityID? = nil, for access: (Record) -> Access,
    reading others: [RecordAddress] = [],
    _ services: LoopServices
  ) async throws(Refusal) {
    let actor = try request.actor
    let needs =
      [.settings(space)] + (actor.account.map { [.member($0, of: space)] } ?? [])
      + (channel.map { [.channel($0, of: space)] } ?? []) + others
    let records = try await services.records(needs)
    self.space = space
    self.records = records
    settings = try records.settings(Record.self, space)
    let draft = Draft(
      space, settings, by: actor, on: records,
      DecisionContext(nowMilliseconds: 0, limits: services.runner.limits))
    member = try draft.actingMember()
    try draft.requireInSight(channel: channel)
    try draft.require(access(settings), to: "look")
  }
}

extension LoopServices {
  func records(_ addresses: [RecordAddress]) async throws(Refusal) -> Records {
    try await reading { () async throws(StoreError) in try await self.store.records(addresses) }
  }

  func count(_ table: RecordTable, of space: SpaceID) async throws(Refusal) -> Int {
    try await reading { () async throws(StoreError) in
      try await self.store.counts([TableAddress(space, table)]).first ?? 0
    }
  }

  func page(
    of table: RecordTable, in space: SpaceID, _ limit: Int, after cursor: PageCursor?
  ) async throws(Refusal) -> RecordPage {
    try await reading { () async throws(StoreError) in
      try await self.store.page(of: TableAddress(space, table), after: cursor, limit: limit)
    }
  }

  /// A page of one of a space's tables. Its price does not depend on the length of the table.
  ///
  /// - Parameters:
  ///   - access: gives the callers who may look, from the settings of the space.
  ///   - expires: true if elements of the table expire, so that the store must be asked for the time.
  ///   - render: makes the shown form of one record; nil for a record that is not shown, such as one that has
  ///     expired.
  func listing<Record: SpaceRecord>(
    _ name: StaticString, of table: RecordTable, in space: SpaceID, _ limit: Int, after cursor: PageCursor?,
    for access: (Record) -> Access, _ request: Request, expires: Bool = false,
    _ render: (_ field: String, _ text: String, _ nowMilliseconds: Int64) -> JSONValue?
  ) async throws(Refusal) -> HTTPResponse {
    _ = try await SpaceView<Record>(request, of: space, channel: table.channel, for: access, self)
    let page = try await page(of: table, in: space, limit, after: cursor)
    let now = try await reading { () async throws(StoreError) in
      expires ? try await self.store.nowMilliseconds() : 0
    }
    let items = page.records.compactMap { render($0.field, $0.text, now) }
    return .page(name, items, cursor: page.next?.text)
  }
}

/// The shown form of records in tables that several kinds of spaces have.
enum Listed {
  /// A record with nothing to show except its field, which names the account.
  static func account(_ field: String, _: String, _: Int64) -> JSONValue? { .string(field) }

  static func muted(_ field: String, _ text: String, _ now: Int64) -> JSONValue? {
    guard let record = ExpiringText(text: text), record.expiresAtMilliseconds > now else { return nil }
    return ["accid": .string(field), "expiresAt": .integer(record.expiresAtMilliseconds)]
  }
}

/// Runs a read, and turns the store's error into the refusal for the caller.
func reading<Value>(_ read: () async throws(StoreError) -> Value) async throws(Refusal) -> Value {
  do {
    return try await read()
  } catch {
    throw error.refusal
  }
}
