import BelfryHTTP
import BelfryInterface
import BelfryModel
import BelfryStore

enum Servers {
  static let handlers: [Handler] = [
    ServerRoutes.create.handled(by: create),
    ServerRoutes.list.handled(by: list),
    ServerRoutes.show.handled(by: show),
    ServerRoutes.preview.handled(by: preview),
    ServerRoutes.update.handled(by: update),
    ServerRoutes.remove.carriedOut { actor, server in RemoveServer(server, actor: actor) },
    ServerRoutes.subscribe.carriedOut { actor, server in
      SetSubscription(server, channel: nil, actor: actor, isSubscribed: true)
    },
    ServerRoutes.unsubscribe.carriedOut { actor, server in
      SetSubscription(server, channel: nil, actor: actor, isSubscribed: false)
    },
  ]

  private static func create(
    _ request: Request, _ services: LoopServices, name: String, icon: String?, ext: String?,
    inviteMode: InviteMode?, applyMode: ApplyMode?, membersMayInvite: Bool?, adminsMayCreateChannels: Bool?,
    sendMode: SendMode?, nicks: NickRule?
  ) async throws(Refusal) -> HTTPResponse {
    let caller = try request.known()
    var operation = CreateServer(
      id: .random(), defaultChannel: .random(), owner: try caller.account(), actor: caller.actor, name: name)
    operation.icon = icon
    operation.ext = ext
    if let inviteMode { operation.inviteMode = inviteMode }
    if let applyMode { operation.applyMode = applyMode }
    if let membersMayInvite { operation.membersMayInvite = membersMayInvite }
    if let adminsMayCreateChannels { operation.adminsMayCreateChannels = adminsMayCreateChannels }
    if let sendMode { operation.sendMode = sendMode }
    if let nicks { operation.nicks = nicks }
    let server = try await services.run(operation, of: request).output
    return .json(server.info(operation.space, memberCount: 1, services), status: 201)
      .located(at: "/v1/servers/\(operation.space.name)")
  }

  private static func show(
    _ request: Request, _ services: LoopServices, server: EntityID
  ) async throws(Refusal) -> HTTPResponse {
    let view = try await SpaceView<ServerRecord>(
      request, of: .server(server), for: { _ in .members }, services)
    let count = try await services.count(.roster, of: view.space)
    return .json(view.settings.info(view.space, memberCount: count, services))
  }

  /// For members, and for all accounts that may apply, which means all that are not banned.
  private static func preview(
    _ request: Request, _ services: LoopServices, server: EntityID
  ) async throws(Refusal) -> HTTPResponse {
    let space = SpaceID.server(server)
    let account = try request.actor.account
    let view = try await SpaceView<ServerRecord>(
      request, of: space, for: { _ in .anyAccount },
      reading: account.map { [.banned($0, from: space)] } ?? [], services)
    if let account, view.records.text(.banned(account, from: space)) != nil {
      throw Refusal(.banned, "\(account) is banned from server \(space.name)")
    }
    let count = try await services.count(.roster, of: space)
    var preview: JSONObject = [
      "serverId": .string(space.name), "name": .string(view.settings.name),
      "memberCount": .integer(Int64(count)),
      "applyMode": .integer(Int64(view.settings.applyMode.rawValue)),
    ]
    if let icon = view.settings.icon { preview["icon"] = .string(icon) }
    return .json(.object(preview))
  }

  private static func update(
    _ request: Request, _ services: LoopServices, server: EntityID, name: String?, icon: String?,
    ext: String?, inviteMode: InviteMode?, applyMode: ApplyMode?, membersMayInvite: Bool?,
    adminsMayCreateChannels: Bool?, sendMode: SendMode?, nicks: NickRule?
  ) async throws(Refusal) -> HTTPResponse {
    var operation = UpdateServer(server, actor: try request.actor)
    operation.serverName = name
    operation.icon = icon
    operation.ext = ext
    operation.inviteMode = inviteMode
    operation.applyMode = applyMode
    operation.membersMayInvite = membersMayInvite
    operation.adminsMayCreateChannels = adminsMayCreateChannels
    operation.sendMode = sendMode
    operation.nicks = nicks
    let changed = try await services.run(operation, of: request).output
    let count = try await services.count(.roster, of: operation.space)
    return .json(changed.info(operation.space, memberCount: count, services))
  }

  /// The servers that the account is a member of, by id.
  private static func list(
    _ request: Request, _ services: LoopServices, limit: Int, after: EntityID?
  ) async throws(Refusal) -> HTTPResponse {
    let account = try request.known().account()
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
      // A removed server stays in the index until its log has drained.
      guard let server = try records.json(ServerRecord.self, .settings(space)), server.removedAt == nil
      else { continue }
      servers.append(server.info(space, memberCount: count, services))
    }
    return .page("servers", servers, cursor: rest.count > limit ? page.last?.name : nil)
  }
}

extension ServerRecord {
  fileprivate func info(_ space: SpaceID, memberCount: Int, _ services: LoopServices) -> JSONValue {
    let info = info(space).with(["memberCount": .integer(Int64(memberCount))])
    let needsSubscription = memberCount > services.runner.limits.subscriptionThreshold
    return needsSubscription ? info.with(["needsSubscription": true]) : info
  }
}

extension EntityID {
  /// 63 random bits. So no broker has to ask another one which ids are in use, and an id does not reveal how
  /// many there are.
  static func random() -> EntityID { EntityID(bits: .random(in: .min ... .max)) }
}

extension InviteCode {
  static func random() -> InviteCode { InviteCode(bits: .random(in: .min ... .max)) }
}
