import BelfryModel
import BelfryStore

enum Channels {
  static func create(_ request: Request, _ services: LoopServices) async throws(Refusal) -> Reply {
    let body = try CreateChannelRequest(request.fields())
    var operation = CreateChannel(
      try request.server(), id: .random(), actor: try request.known().actor, name: body.name,
      type: body.type, membership: body.membership, members: body.members)
    operation.description = body.description
    let channel = try await services.runner.run(operation).output
    return show(channel, operation.id, operation.space, status: 201)
      .located(at: "/v1/servers/\(operation.space.name)/channels/\(operation.id)")
  }

  static func show(_ request: Request, _ services: LoopServices) async throws(Refusal) -> Reply {
    let space = SpaceID.server(try request.server())
    let id = try request.channel()
    let visit = try await Visit(request, to: space, services)
    let records = try await reading { () async throws(StoreError) in
      try await services.store.records([.channel(id, of: space)])
    }
    let channel = try records.channel(id, of: space)
    guard visit.sees(channel, id) else {
      // Not "forbidden": that a private channel exists is already more than others may know.
      throw .noChannel(id, in: space)
    }
    return show(channel, id, space)
  }

  static func update(_ request: Request, _ services: LoopServices) async throws(Refusal) -> Reply {
    let body = try UpdateChannelRequest(request.fields())
    var operation = UpdateChannel(
      try request.server(), id: try request.channel(), actor: try request.known().actor)
    operation.channelName = body.name
    operation.description = body.description
    let channel = try await services.runner.run(operation).output
    return show(channel, operation.id, operation.space)
  }

  static func remove(_ request: Request, _ services: LoopServices) async throws(Refusal) -> Reply {
    _ = try await services.runner.run(
      RemoveChannel(try request.server(), id: try request.channel(), actor: try request.known().actor))
    return .noContent
  }

  /// The channels the caller may know of. A page may be shorter than its limit: it is a page of all, less
  /// what is not for the caller's eyes.
  static func list(_ request: Request, _ services: LoopServices) async throws(Refusal) -> Reply {
    let space = SpaceID.server(try request.server())
    let query = request.query
    let limit = try query.pageLimit()
    let cursor = query.text("cursor").map { PageCursor(text: $0) }
    let visit = try await Visit(request, to: space, services)
    let page = try await reading { () async throws(StoreError) in
      try await services.store.page(of: TableAddress(space, .channels), after: cursor, limit: limit)
    }
    let channels = page.records.compactMap { record -> JSONValue? in
      guard let id = EntityID(record.field), let channel = RecordJSON.value(ChannelRecord.self, record.text),
        visit.sees(channel, id)
      else { return nil }
      return channel.info(id, of: space)
    }
    return .page("channels", channels, cursor: page.next?.text)
  }

  private static func show(
    _ channel: ChannelRecord, _ id: EntityID, _ space: SpaceID, status: Int = 200
  ) -> Reply {
    .json(rendered: JSONText.bytes(of: channel.info(id, of: space)), status: status)
  }
}
