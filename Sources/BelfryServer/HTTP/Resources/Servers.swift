import BelfryModel
import BelfryStore

enum Servers {
  static func create(_ request: Request, _ services: LoopServices) async throws(Refusal) -> Reply {
    let caller = try request.known()
    let body = try CreateServerRequest(request.fields())
    var operation = CreateServer(
      id: .random(), defaultChannel: .random(), owner: try caller.account(), actor: caller.actor,
      name: body.name)
    operation.icon = body.settings.icon
    operation.ext = body.settings.ext
    if let mode = body.settings.inviteMode { operation.inviteMode = mode }
    if let mode = body.settings.applyMode { operation.applyMode = mode }
    let server = try await services.runner.run(operation).output
    return show(server, operation.space, memberCount: 1, status: 201)
      .located(at: "/v1/servers/\(operation.space.name)")
  }

  static func show(_ request: Request, _ services: LoopServices) async throws(Refusal) -> Reply {
    let space = SpaceID.server(try request.server())
    let visit = try await Visit(request, to: space, services)
    return show(visit.server, space, memberCount: try await memberCount(of: space, services))
  }

  static func update(_ request: Request, _ services: LoopServices) async throws(Refusal) -> Reply {
    let body = try UpdateServerRequest(request.fields())
    var operation = UpdateServer(try request.server(), actor: try request.known().actor)
    operation.serverName = body.name
    operation.icon = body.settings.icon
    operation.ext = body.settings.ext
    operation.inviteMode = body.settings.inviteMode
    operation.applyMode = body.settings.applyMode
    let server = try await services.runner.run(operation).output
    return show(server, operation.space, memberCount: try await memberCount(of: operation.space, services))
  }

  static func remove(_ request: Request, _ services: LoopServices) async throws(Refusal) -> Reply {
    _ = try await services.runner.run(
      RemoveServer(try request.server(), actor: try request.known().actor))
    return .noContent
  }

  /// The servers the account is a member of, by id.
  static func list(_ request: Request, _ services: LoopServices) async throws(Refusal) -> Reply {
    let account = try request.known().account()
    let query = request.query
    let limit = try query.pageLimit()
    let after = try query.entity("cursor")

    let index = try await reading { () async throws(StoreError) in
      try await services.store.index(of: account)
    }
    let mine = index.filter { $0.isMember && $0.space.kind == .server }.compactMap { EntityID($0.space.name) }
    let rest = mine.sorted().filter { id in after.map { $0 < id } ?? true }
    let page = rest.prefix(limit).map { SpaceID.server($0) }
    let (records, counts) = try await reading { () async throws(StoreError) in
      (
        try await services.store.records(page.map { .settings($0) }),
        try await services.store.counts(page.map { TableAddress($0, .roster) })
      )
    }
    var servers: [JSONValue] = []
    for (space, count) in zip(page, counts) {
      // One that was removed is in the index until its log has drained.
      guard let server = try records.json(ServerRecord.self, .settings(space)), server.removedAt == nil
      else { continue }
      servers.append(server.info(space, memberCount: count))
    }
    return .page("servers", servers, cursor: rest.count > limit ? page.last?.name : nil)
  }

  private static func show(
    _ server: ServerRecord, _ space: SpaceID, memberCount: Int, status: Int = 200
  ) -> Reply {
    .json(rendered: JSONText.bytes(of: server.info(space, memberCount: memberCount)), status: status)
  }

  private static func memberCount(of space: SpaceID, _ services: LoopServices) async throws(Refusal) -> Int {
    try await reading { () async throws(StoreError) in
      try await services.store.counts([TableAddress(space, .roster)]).first ?? 0
    }
  }
}

extension ServerRecord {
  fileprivate func info(_ space: SpaceID, memberCount: Int) -> JSONValue {
    guard case .object(var members) = info(space) else { return .null }
    members["memberCount"] = .integer(Int64(memberCount))
    return .object(members)
  }
}

extension EntityID {
  /// 63 random bits: no broker has to ask another one which ids are taken, and no id tells how many
  /// there are.
  static func random() -> EntityID { EntityID(bits: .random(in: .min ... .max)) }
}
