import BelfryModel
import BelfryStore

/// A caller looking into a space: its settings, and the caller's own place in it, as of one moment.
struct Look<Record: SpaceRecord> {
  let space: SpaceID
  let settings: Record
  /// Nil for whoever is no member.
  let member: MemberRecord?
  let records: Records

  /// - Parameters:
  ///   - channel: the channel looked into.
  ///   - access: who may look, by what the space is.
  ///   - others: records to read beside.
  init(
    _ request: Request, at space: SpaceID, channel: EntityID? = nil, for access: (Record) -> Access,
    reading others: [RecordAddress] = [],
    _ services: LoopServices
  ) async throws(Refusal) {
    let actor = try request.actor
    let needs =
      [.settings(space)] + (actor.account.map { [.member($0, of: space)] } ?? [])
      + (channel.map { [.channel($0, of: space)] } ?? []) + others
    let records = try await reading { () async throws(StoreError) in
      try await services.store.records(needs)
    }
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
  func count(_ table: RecordTable, of space: SpaceID) async throws(Refusal) -> Int {
    try await reading { () async throws(StoreError) in
      try await self.store.counts([TableAddress(space, table)]).first ?? 0
    }
  }

  func page(
    of table: RecordTable, in space: SpaceID, _ request: Request
  ) async throws(Refusal) -> RecordPage {
    let (cursor, limit) = (try request[SharedFields.cursor], try request[SharedFields.limit])
    return try await reading { () async throws(StoreError) in
      try await self.store.page(of: TableAddress(space, table), after: cursor, limit: limit)
    }
  }
}

extension Answer {
  /// A page of one of a space's tables, a flat price however long the table is.
  ///
  /// - Parameters:
  ///   - access: who may look, by what the space is.
  ///   - render: one record as it is shown; nil for what is not to be shown, such as what has expired.
  static func listing<Record: SpaceRecord>(
    _ name: StaticString, of shape: Shape, _ meaning: String,
    for access: @escaping @Sendable (Record) -> Access,
    _ place: @escaping @Sendable (Request) throws(Refusal) -> TableAddress,
    _ render: @escaping @Sendable (_ field: String, _ text: String, _ nowMilliseconds: Int64) -> JSONValue?
  ) -> Answer {
    .reply(
      .ok(.page("\(name)", of: shape, meaning)),
      by: { request, services throws(Refusal) in
        let address = try place(request)
        _ = try await Look<Record>(
          request, at: address.space, channel: address.table.channel, for: access, services)
        let page = try await services.page(of: address.table, in: address.space, request)
        let now = try await reading { () async throws(StoreError) in
          try await services.store.nowMilliseconds()
        }
        let items = page.records.compactMap { render($0.field, $0.text, now) }
        return .page(name, items, cursor: page.next?.text)
      })
  }
}

/// What tables show in several scenes.
enum Listed {
  static let muted = Shape.resource(
    "Muted",
    [.always("accid", .account, "who"), .always("expiresAt", .time, "until when they cannot send")])

  /// A table whose fields say it all.
  static func account(_ field: String, _: String, _: Int64) -> JSONValue? { .string(field) }

  static func muted(_ field: String, _ text: String, _ now: Int64) -> JSONValue? {
    guard let record = ExpiringText(text: text), record.expiresAtMilliseconds > now else { return nil }
    return ["accid": .string(field), "expiresAt": .integer(record.expiresAtMilliseconds)]
  }
}
