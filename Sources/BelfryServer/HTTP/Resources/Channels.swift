import BelfryHTTP
import BelfryInterface
import BelfryModel
import BelfryStore

enum Channels {
  static let handlers: [Handler] = [
    ChannelRoutes.create.carriedOut(by: creation) { operation, channel in
      .json(channel.info(operation.id, of: operation.space), status: 201)
        .located(at: "/v1/servers/\(operation.space.name)/channels/\(operation.id)")
    },
    ChannelRoutes.list.handled(by: list),
    ChannelRoutes.show.handled(by: show),
    ChannelRoutes.update.carriedOut(by: update) { operation, channel in
      .json(channel.info(operation.id, of: operation.space))
    },
    ChannelRoutes.remove.carriedOut { actor, server, channel in
      RemoveChannel(server, id: channel, actor: actor)
    },
    ChannelRoutes.subscribe.carriedOut { actor, server, channel in
      SetSubscription(server, channel: channel, actor: actor, isSubscribed: true)
    },
    ChannelRoutes.unsubscribe.carriedOut { actor, server, channel in
      SetSubscription(server, channel: channel, actor: actor, isSubscribed: false)
    },
  ]

  private static func creation(
    _ actor: Actor, server: EntityID, name: String, description: String?, ext: String?,
    type: ChannelRecord.Kind, membership: ChannelRecord.Membership?, maxMembers: Int?, members: [AccountID]?
  ) throws(Refusal) -> CreateChannel {
    let membership = membership ?? (type == .private ? .roster : .everyone)
    let members = members ?? []
    if membership == .everyone, !members.isEmpty {
      throw .invalid("members", "a channel for everyone has no roster")
    }
    var operation = CreateChannel(
      server, id: .random(), actor: actor, name: name, type: type, membership: membership, members: members)
    operation.description = description
    operation.ext = ext
    operation.maxMembers = maxMembers
    return operation
  }

  private static func update(
    _ actor: Actor, server: EntityID, channel: EntityID, name: String?, description: String?, ext: String?,
    maxMembers: Int?
  ) -> UpdateChannel {
    var operation = UpdateChannel(server, id: channel, actor: actor)
    operation.channelName = name
    operation.description = description
    operation.ext = ext
    operation.maxMembers = maxMembers
    return operation
  }

  private static func show(
    _ request: Request, _ services: LoopServices, server: EntityID, id: EntityID
  ) async throws(Refusal) -> HTTPResponse {
    let space = SpaceID.server(server)
    let view = try await view(request, of: space, reading: [.channel(id, of: space)], services)
    let channel = try view.records.channel(id, of: space)
    guard try view.sees(channel, id, request) else {
      // The answer is not "forbidden": strangers must not learn that a private channel exists.
      throw .noChannel(id, in: space)
    }
    let count = try await services.count(channel.members(id), of: space)
    return .json(channel.info(id, of: space).with(["memberCount": .integer(Int64(count))]))
  }

  /// Lists the channels that the caller may know of. The cursor is the last channel that was shown, so it
  /// reveals nothing about the others. A server has so few channels that they are read all together.
  private static func list(
    _ request: Request, _ services: LoopServices, server: EntityID, type: ChannelRecord.Kind?, limit: Int,
    after: EntityID?
  ) async throws(Refusal) -> HTTPResponse {
    let space = SpaceID.server(server)
    let view = try await view(request, of: space, services)
    let records = try await reading { () async throws(StoreError) in
      try await services.store.everyRecord(
        of: TableAddress(space, .channels), perPage: Limits.pageMembersMaximum)
    }
    var seen: [(id: EntityID, channel: ChannelRecord)] = []
    for record in records {
      guard let id = EntityID(record.field), after.map({ $0 < id }) ?? true,
        let channel = RecordJSON.value(ChannelRecord.self, record.text),
        type.map({ $0 == channel.type }) ?? true, try view.sees(channel, id, request)
      else { continue }
      seen.append((id, channel))
    }
    seen.sort { $0.id < $1.id }
    let page = seen.prefix(limit)
    let counts = try await reading { () async throws(StoreError) in
      try await services.store.counts(page.map { TableAddress(space, $0.channel.members($0.id)) })
    }
    let channels = zip(page, counts).map { seen, count in
      seen.channel.info(seen.id, of: space).with(["memberCount": .integer(Int64(count))])
    }
    return .page("channels", channels, cursor: page.count < seen.count ? page.last?.id.text : nil)
  }

  private static func view(
    _ request: Request, of space: SpaceID, reading others: [RecordAddress] = [], _ services: LoopServices
  ) async throws(Refusal) -> SpaceView<ServerRecord> {
    try await SpaceView(request, of: space, for: { _ in .members }, reading: others, services)
  }
}

extension ChannelRecord {
  /// The table of the accounts that belong to the channel.
  fileprivate func members(_ id: EntityID) -> RecordTable { hasRoster ? .channelRoster(id) : .roster }
}

extension SpaceView<ServerRecord> {
  /// True if the caller may see the channel: members that are not kept from it, and trusted callers.
  func sees(_ channel: ChannelRecord, _ id: EntityID, _ request: Request) throws(Refusal) -> Bool {
    try request.actor.isTrusted || member?.sees(channel, id) == true
  }
}
