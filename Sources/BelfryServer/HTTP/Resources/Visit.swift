import BelfryModel
import BelfryStore

/// A caller looking around in a server: members and trusted callers may.
struct Visit {
  let server: ServerRecord
  /// Nil for a trusted caller.
  let member: MemberRecord?
  let isTrusted: Bool

  init(_ request: Request, to space: SpaceID, _ services: LoopServices) async throws(Refusal) {
    let actor = try request.actor
    let records = try await reading { () async throws(StoreError) in
      try await services.store.records(
        [.settings(space)] + (actor.account.map { [.member($0, of: space)] } ?? []))
    }
    server = try records.server(space)
    member = try actor.account.flatMap { account throws(Refusal) in try records.member(account, of: space) }
    isTrusted = actor.isTrusted
    guard isTrusted || member != nil else {
      throw Refusal(.notMember, "you are not a member of server \(space.name)")
    }
  }

  func sees(_ channel: ChannelRecord, _ id: EntityID) -> Bool {
    isTrusted || member?.sees(channel, id) == true
  }
}

extension Reply {
  /// One page of a list; the cursor is null at the end.
  static func page(_ name: StaticString, _ items: [JSONValue], cursor: String?) -> Reply {
    var text = JSONText(capacity: 128 * (items.count + 1))
    text.field(name, .array(items))
    text.field("cursor", cursor.map { .string($0) } ?? .null)
    return .json(text)
  }
}
