import BelfryModel
import BelfryStore

enum Servers {
  static let inviteMode = Field(
    "inviteMode", Kind<InviteMode>.choice, "invitees: 0 must consent, 1 join at once")
  static let applyMode = Field(
    "applyMode", Kind<ApplyMode>.choice, "applicants: 0 join at once, 1 need approval")
  static let membersMayInvite = Field("membersMayInvite", .flag, "whether plain members may invite")
  static let adminsMayCreateChannels = Field(
    "adminsMayCreateChannels", .flag, "whether admins may create channels")
  static let after = Field("cursor", Kind<EntityID>.cursor, "the cursor of the page before")

  static let shape = Shape.resource(
    "Server",
    [
      .always("serverId", .id, "its id"),
      .always("name", .text, "what people call it"),
      .always("owner", .account, "whom it belongs to"),
      .always("createTime", .time, "when it was created"),
      .always("inviteMode", .choice(InviteMode.self), inviteMode.property.meaning),
      .always("applyMode", .choice(ApplyMode.self), applyMode.property.meaning),
      .always("membersMayInvite", .flag, membersMayInvite.property.meaning),
      .always("adminsMayCreateChannels", .flag, adminsMayCreateChannels.property.meaning),
      .always("defaultChannelId", .id, "the channel that everyone is in and nobody leaves"),
      .always("memberCount", .count, "how many members it has"),
      .sometimes("icon", .text, "a picture"),
      .sometimes("ext", .text, "anything its owner put there"),
    ])

  static func create(_ request: Request, _ services: LoopServices) async throws(Refusal) -> Reply {
    let caller = try request.known()
    var operation = CreateServer(
      id: .random(), defaultChannel: .random(), owner: try caller.account(), actor: caller.actor,
      name: try request[SharedFields.name.needed])
    operation.icon = try request[SharedFields.icon]
    operation.ext = try request[SharedFields.ext]
    if let mode = try request[inviteMode] { operation.inviteMode = mode }
    if let mode = try request[applyMode] { operation.applyMode = mode }
    if let may = try request[membersMayInvite] { operation.membersMayInvite = may }
    if let may = try request[adminsMayCreateChannels] { operation.adminsMayCreateChannels = may }
    let server = try await services.runner.run(operation).output
    return .json(server.info(operation.space, memberCount: 1), status: 201)
      .located(at: "/v1/servers/\(operation.space.name)")
  }

  static func show(_ request: Request, _ services: LoopServices) async throws(Refusal) -> Reply {
    let space = SpaceID.server(try request.server)
    let visit = try await Visit(request, to: space, services)
    return .json(visit.server.info(space, memberCount: try await memberCount(of: space, services)))
  }

  static func update(_ request: Request, _ services: LoopServices) async throws(Refusal) -> Reply {
    var operation = UpdateServer(try request.server, actor: try request.actor)
    operation.serverName = try request[SharedFields.name]
    operation.icon = try request[SharedFields.icon]
    operation.ext = try request[SharedFields.ext]
    operation.inviteMode = try request[inviteMode]
    operation.applyMode = try request[applyMode]
    operation.membersMayInvite = try request[membersMayInvite]
    operation.adminsMayCreateChannels = try request[adminsMayCreateChannels]
    let server = try await services.runner.run(operation).output
    let count = try await memberCount(of: operation.space, services)
    return .json(server.info(operation.space, memberCount: count))
  }

  static func subscription(_ request: Request, _ isSubscribed: Bool) throws(Refusal) -> SetSubscription {
    SetSubscription(
      try request.server, channel: nil, actor: try request.actor, isSubscribed: isSubscribed)
  }

  /// The servers the account is a member of, by id.
  static func list(_ request: Request, _ services: LoopServices) async throws(Refusal) -> Reply {
    let account = try request.known().account()
    let limit = try request[SharedFields.limit]
    let after = try request[after]

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

extension InviteCode {
  static func random() -> InviteCode { InviteCode(bits: .random(in: .min ... .max)) }
}
