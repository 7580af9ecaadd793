import BelfryHTTP
import BelfryHooks
import BelfryInterface
import BelfryModel
import BelfryOutbound
import BelfryStore
import BelfrySystem

/// Where copies of notifications are posted, for apps and operators.
enum Webhooks {
  static let handlers: [Handler] = [
    WebhookRoutes.create.handled(by: create),
    WebhookRoutes.list.handled(by: list),
    WebhookRoutes.show.handled { _, services, id throws(Refusal) in
      let endpoint = try await find(id, services)
      return .json(.object(try await members(of: endpoint, services, withPending: true)))
    },
    WebhookRoutes.update.handled(by: update),
    WebhookRoutes.remove.handled(by: remove),
    WebhookRoutes.rotate.handled(by: rotate),
    WebhookRoutes.test.handled(by: test),
    WebhookRoutes.replay.handled { _, services, id, from throws(Refusal) in
      _ = try await find(id, services)
      try await reading { () async throws(StoreError) in
        try await services.administration.replayWebhook(
          id, from: from, version: WebhookEndpoints.newVersion())
      }
      return .noContent
    },
  ]

  private static func create(
    _ request: Request, _ services: LoopServices, url: String, types: [Int]?, spaces: [String]?, env: String?,
    format: WebhookFormat
  ) async throws(Refusal) -> HTTPResponse {
    try await refresh(services)
    guard services.broker.webhooks.all.count < WebhookEndpoint.countMax else {
      throw Refusal(
        .tooMany, "there are \(WebhookEndpoint.countMax) webhooks, the most there may be: remove one")
    }
    var endpoint = WebhookEndpoint(
      id: .random(), url: try read(url), format: format, nowMilliseconds: WallClock.nowMilliseconds())
    endpoint.types = types.map { Set($0) }
    endpoint.spaces = try spaces.map { names throws(Refusal) in try read(spaces: names) }
    endpoint.env = env
    try await put(endpoint, isNew: true, services)
    return .json(.object(try await members(of: endpoint, services, withSecret: true)), status: 201)
      .located(at: "/v1/webhooks/\(endpoint.id)")
  }

  private static func list(
    _ request: Request, _ services: LoopServices, limit: Int
  ) async throws(Refusal) -> HTTPResponse {
    try await refresh(services)
    var webhooks: [JSONValue] = []
    for endpoint in services.broker.webhooks.all.prefix(limit) {
      webhooks.append(.object(try await members(of: endpoint, services)))
    }
    return .page("webhooks", webhooks, cursor: nil)
  }

  private static func update(
    _ request: Request, _ services: LoopServices, id: EntityID, url: String?, types: [Int]?,
    spaces: [String]?,
    env: String?, format: WebhookFormat?, enabled: Bool?
  ) async throws(Refusal) -> HTTPResponse {
    var endpoint = try await find(id, services)
    if let url { endpoint.url = try read(url) }
    if let types { endpoint.types = Set(types) }
    if let spaces { endpoint.spaces = try read(spaces: spaces) }
    if let env { endpoint.env = env }
    if let format { endpoint.format = format }
    if let enabled {
      try await reading { () async throws(StoreError) in
        try await services.administration.disableWebhook(
          id, because: enabled ? nil : "asked", version: WebhookEndpoints.newVersion())
      }
    }
    try await put(endpoint, services)
    return .json(.object(try await members(of: endpoint, services)))
  }

  private static func remove(
    _ request: Request, _ services: LoopServices, id: EntityID
  ) async throws(Refusal) -> HTTPResponse {
    let wasThere = try await reading { () async throws(StoreError) in
      try await services.administration.removeWebhook(id, version: WebhookEndpoints.newVersion())
    }
    guard wasThere else { throw unknown(id) }
    try await refresh(services)
    return .noContent
  }

  private static func rotate(
    _ request: Request, _ services: LoopServices, id: EntityID
  ) async throws(Refusal) -> HTTPResponse {
    var endpoint = try await find(id, services)
    endpoint.rotate(nowMilliseconds: WallClock.nowMilliseconds())
    try await put(endpoint, services)
    return .json(.object(try await members(of: endpoint, services, withSecret: true)))
  }

  private static func test(
    _ request: Request, _ services: LoopServices, id: EntityID
  ) async throws(Refusal) -> HTTPResponse {
    let endpoint = try await find(id, services)
    let timeout = services.broker.configuration.webhookTimeoutMilliseconds
    request.allowMoreTime(seconds: 2 * timeout / 1_000 + 1)
    let event = WebhookEvent(
      test: "test_\(services.clientIDs.next())", nowMilliseconds: WallClock.nowMilliseconds())
    switch await services.outbound.deliver(event, to: endpoint, timeout: .milliseconds(timeout)) {
    case .delivered(let status): return .json(["delivered": true, "status": .integer(Int64(status))])
    case .gone: return .json(["delivered": false, "failure": "it answers with the status 410"])
    case .failed(let cause, _): return .json(["delivered": false, "failure": .string(cause)])
    case .notTried: throw Refusal(.busy, "too many requests to others are under way; try again")
    }
  }

  // MARK: Parts

  private static func read(_ url: String) throws(Refusal) -> OutboundURL {
    guard let url = OutboundURL(url) else { throw .invalid("url", "must be \(OutboundURL.rule)") }
    return url
  }

  private static func read(spaces names: [String]) throws(Refusal) -> Set<SpaceID> {
    var spaces: Set<SpaceID> = []
    for (index, name) in names.enumerated() {
      guard let space = SpaceID(key: name) else {
        throw .invalid("spaces[\(index)]", "must be a space, as server:7, group:7, room:7 or account:bob")
      }
      spaces.insert(space)
    }
    return spaces
  }

  /// As it is now: another broker may have changed it.
  private static func find(_ id: EntityID, _ services: LoopServices) async throws(Refusal) -> WebhookEndpoint
  {
    try await refresh(services)
    guard let endpoint = services.broker.webhooks.endpoint(id) else { throw unknown(id) }
    return endpoint
  }

  private static func refresh(_ services: LoopServices) async throws(Refusal) {
    try await reading { () async throws(StoreError) in
      try await services.broker.webhooks.refresh(from: services.administration)
    }
  }

  private static func put(
    _ endpoint: WebhookEndpoint, isNew: Bool = false, _ services: LoopServices
  ) async throws(Refusal) {
    try await reading { () async throws(StoreError) in
      try await services.administration.putWebhook(
        endpoint.id, endpoint.record, isNew: isNew, version: WebhookEndpoints.newVersion())
    }
    try await refresh(services)
  }

  private static func unknown(_ id: EntityID) -> Refusal { Refusal(.notFound, "there is no webhook \(id)") }

  private static func members(
    of endpoint: WebhookEndpoint, _ services: LoopServices, withSecret: Bool = false,
    withPending: Bool = false
  ) async throws(Refusal) -> JSONObject {
    let store = services.administration
    let health = try await reading { () async throws(StoreError) in try await store.webhookHealth(endpoint.id)
    }
    var members: JSONObject = [
      "webhookId": .string(endpoint.id.text), "url": .string(endpoint.url.text),
      "format": .string(endpoint.format.rawValue), "createdAt": .integer(endpoint.createdAtMilliseconds),
      "enabled": .bool(health["disabled"] == nil),
    ]
    if let types = endpoint.types { members["types"] = .array(types.sorted().map { .integer(Int64($0)) }) }
    if let spaces = endpoint.spaces {
      members["spaces"] = .array(spaces.map(\.key).sorted().map { .string($0) })
    }
    if let env = endpoint.env { members["env"] = .string(env) }
    if let cause = health["disabled"] { members["disabledBecause"] = .string(cause) }
    if let failure = health["failure"] { members["failure"] = .string(failure) }
    for name in ["failingSince", "failedAt"] {
      if let time = health[name].flatMap({ Int64($0) }) { members[name] = .integer(time) }
    }
    if withSecret { members["secret"] = .string(endpoint.secret.text) }
    if withPending {
      let oldest = try await reading { () async throws(StoreError) in
        try await store.oldestWaiting(endpoint.id)
      }
      if let oldest { members["oldestPending"] = .integer(oldest) }
    }
    return members
  }
}
