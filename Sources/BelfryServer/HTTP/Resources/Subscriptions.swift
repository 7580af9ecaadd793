import BelfryHTTP
import BelfryInterface
import BelfryModel
import BelfryStore

/// Subscriptions to many servers and channels in one call.
enum Subscriptions {
  static let handlers: [Handler] = [
    AccountRoutes.changeSubscriptions.handled(by: change),
    ServerRoutes.subscribeChannels.handled { request, services, server throws(Refusal) in
      try await changeAll(of: server, true, request, services)
    },
    ServerRoutes.unsubscribeChannels.handled { request, services, server throws(Refusal) in
      try await changeAll(of: server, false, request, services)
    },
  ]

  /// Each change is done or fails by itself.
  private static func change(
    _ request: Request, _ services: LoopServices, servers: [EntityID]?,
    channels: [AccountRoutes.ChannelPlace]?, isSubscribed: Bool
  ) async throws(Refusal) -> HTTPResponse {
    let actor = try request.actor
    _ = try request.known().account()
    var failed: [JSONValue] = []
    for server in servers ?? [] {
      let operation = SetSubscription(server, channel: nil, actor: actor, isSubscribed: isSubscribed)
      do throws(Refusal) {
        _ = try await services.run(operation, of: request)
      } catch {
        failed.append(try failure(error, server, nil))
      }
    }
    let places = Dictionary(grouping: channels ?? []) { $0.server }
    for (server, places) in places.sorted(by: { $0.key < $1.key }) {
      let channels = places.map(\.channel)
      let failures = try await set(channels, of: server, isSubscribed, by: actor, request, services)
      for (channel, refusal) in failures.sorted(by: { $0.key < $1.key }) {
        failed.append(try failure(refusal, server, channel))
      }
    }
    return .json(["failed": .array(failed)])
  }

  /// Changes all the channels of a server that the account can subscribe to.
  private static func changeAll(
    of server: EntityID, _ isSubscribed: Bool, _ request: Request, _ services: LoopServices
  ) async throws(Refusal) -> HTTPResponse {
    let space = SpaceID.server(server)
    let actor = try request.actor
    _ = try request.known().account()
    let view = try await SpaceView<ServerRecord>(request, of: space, for: { _ in .members }, services)
    // A back end may look for any account. Only a member can subscribe.
    guard view.member != nil else { throw .notMember(of: space) }
    let channels = try await reading { () async throws(StoreError) in
      try await services.store.everyRecord(of: TableAddress(space, .channels), perPage: Limits.pageMembers)
    }
    let failed = try await set(
      channels.compactMap { EntityID($0.field) }, of: server, isSubscribed, by: actor, request, services)
    // "All" does not include channels that the account cannot subscribe to.
    let unexpected = failed.values.first { ![.notMember, .notFound, .banned].contains($0.code) }
    if let unexpected { throw unexpected }
    return .noContent
  }

  /// - Returns: the channels that failed; all of them if the server failed.
  private static func set(
    _ channels: [EntityID], of server: EntityID, _ isSubscribed: Bool, by actor: Actor,
    _ request: Request, _ services: LoopServices
  ) async throws(Refusal) -> [EntityID: Refusal] {
    var failed: [EntityID: Refusal] = [:]
    var rest = channels[...]
    while !rest.isEmpty {
      let some = Array(rest.prefix(services.runner.limits.channelsPerServer))
      rest = rest.dropFirst(some.count)
      let operation = SubscribeToChannels(server, channels: some, actor: actor, isSubscribed: isSubscribed)
      do throws(Refusal) {
        failed.merge(try await services.run(operation, of: request).output) { first, _ in first }
      } catch {
        try requireUsual(error)
        for channel in some { failed[channel] = error }
      }
    }
    return failed
  }

  private static func failure(
    _ refusal: Refusal, _ server: EntityID, _ channel: EntityID?
  ) throws(Refusal) -> JSONValue {
    try requireUsual(refusal)
    var members: JSONObject = [
      "serverId": .string(server.text), "code": .string(refusal.code.rawValue),
      "detail": .string(refusal.detail),
    ]
    if let channel { members["channelId"] = .string(channel.text) }
    return .object(members)
  }

  /// If the store is away, the answer says nothing about single places: the client must repeat the whole
  /// request.
  private static func requireUsual(_ refusal: Refusal) throws(Refusal) {
    if [.unavailable, .unknownOutcome].contains(refusal.code) { throw refusal }
  }
}
