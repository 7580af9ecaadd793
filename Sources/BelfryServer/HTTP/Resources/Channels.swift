import BelfryModel
import BelfryStore

enum Channels {
  static let type = Field("type", Kind<ChannelRecord.Kind>.choice, "who may know of it")
  static let membership = Field(
    "membership", Kind<ChannelRecord.Membership>.choice,
    "who belongs: everyone in the server, the standard of a public channel, or a roster of its own")
  static let members = Field("members", .accounts(0...Limits.membersPerCall), "who is in its roster at first")

  static let shape = Shape.resource(
    "Channel",
    [
      .always("channelId", .id, "its id"),
      .always("serverId", .id, "the server it is in"),
      .always("name", .text, "what people call it"),
      .always("type", .choice(ChannelRecord.Kind.self), "who may know of it"),
      .always(
        "membership", .choice(ChannelRecord.Membership.self), "everyone in the server, or its own roster"),
      .always("createTime", .time, "when it was created"),
      .sometimes("description", .text, "what it is for"),
    ])

  static func creation(_ request: Request) throws(Refusal) -> CreateChannel {
    let type = try request[type.needed]
    let membership = try request[membership] ?? (type == .private ? .roster : .everyone)
    let members = try request[members] ?? []
    if membership == .everyone, !members.isEmpty {
      throw .invalid("members", "a channel of everyone's has no roster to put them in")
    }
    var operation = CreateChannel(
      try request.server, id: .random(), actor: try request.actor,
      name: try request[SharedFields.name.needed],
      type: type, membership: membership, members: members)
    operation.description = try request[SharedFields.description]
    return operation
  }

  static func update(_ request: Request) throws(Refusal) -> UpdateChannel {
    var operation = UpdateChannel(try request.server, id: try request.channel, actor: try request.actor)
    operation.channelName = try request[SharedFields.name]
    operation.description = try request[SharedFields.description]
    return operation
  }

  static func subscription(_ request: Request, _ isSubscribed: Bool) throws(Refusal) -> SetSubscription {
    SetSubscription(
      try request.server, channel: try request.channel, actor: try request.actor, isSubscribed: isSubscribed)
  }

  static func show(_ request: Request, _ services: LoopServices) async throws(Refusal) -> Reply {
    let space = SpaceID.server(try request.server)
    let id = try request.channel
    let visit = try await Visit(request, to: space, services)
    let records = try await reading { () async throws(StoreError) in
      try await services.store.records([.channel(id, of: space)])
    }
    let channel = try records.channel(id, of: space)
    guard visit.sees(channel, id) else {
      // Not "forbidden": that a private channel exists is already more than others may know.
      throw .noChannel(id, in: space)
    }
    return .json(channel.info(id, of: space))
  }

  static let cursor = Field("cursor", Kind<EntityID>.cursor, "the cursor of the page before")

  /// The channels the caller may know of, and nothing of the others: where the list goes on is told by the last that was
  /// shown. A server has so few that they are read whole.
  static func list(_ request: Request, _ services: LoopServices) async throws(Refusal) -> Reply {
    let space = SpaceID.server(try request.server)
    let (limit, after) = (try request[SharedFields.limit], try request[cursor])
    let visit = try await Visit(request, to: space, services)
    let records = try await reading { () async throws(StoreError) in
      try await services.store.everyRecord(
        of: TableAddress(space, .channels), perPage: Limits.pageMembersMaximum)
    }
    var seen: [(id: EntityID, channel: ChannelRecord)] = []
    for record in records {
      guard let id = EntityID(record.field), after.map({ $0 < id }) ?? true,
        let channel = RecordJSON.value(ChannelRecord.self, record.text), visit.sees(channel, id)
      else { continue }
      seen.append((id, channel))
    }
    seen.sort { $0.id < $1.id }
    let page = seen.prefix(limit)
    return .page(
      "channels", page.map { $0.channel.info($0.id, of: space) },
      cursor: page.count < seen.count ? page.last?.id.text : nil)
  }
}
