import BelfryBytes
import BelfryHTTP
import BelfryHooks
import BelfryInterface
import BelfryModel
import BelfryOutbound
import BelfryStore
import BelfrySystem

/// Webhooks, which post copies of notifications, for apps and operators.
enum Webhooks {
  static let handlers: [Handler] = [
    WebhookRoutes.create.handled(by: create),
    WebhookRoutes.list.handled(by: list),
    WebhookRoutes.show.handled { _, services, id throws(Refusal) in
      let endpoint = try await find(id, services)
      var members = try await members(of: endpoint, services)
      let oldest = try await reading { () async throws(StoreError) in
        try await services.administration.oldestWaiting(id)
      }
      if let oldest {
        var failingSince: Int64?
        if case .integer(let since)? = members["failingSince"] { failingSince = since }
        members["oldestPending"] = .integer(
          oldestPending(oldest, failingSince: failingSince, nowMilliseconds: WallClock.nowMilliseconds()))
      }
      return .json(.object(members))
    },
    WebhookRoutes.update.handled(by: update),
    WebhookRoutes.remove.handled(by: remove),
    WebhookRoutes.rotate.handled(by: rotate),
    WebhookRoutes.test.handled(by: test),
    WebhookRoutes.replay.handled { _, services, id, from throws(Refusal) in
      let first = try read(replayFrom: from)
      _ = try await find(id, services)
      try await reading { () async throws(StoreError) in
        try await services.administration.replayWebhook(
          id, from: first, version: WebhookEndpoints.newVersion())
      }
      return .noContent
    },
  ]

  /// The time of the oldest copy that is not delivered, in milliseconds since 1970.
  ///
  /// - Parameter oldest: the time of its id, which may be seconds ahead of the clock after a restart of Redis. While
  ///   deliveries fail, the copy that failed first is pending too.
  static func oldestPending(_ oldest: Int64, failingSince: Int64?, nowMilliseconds: Int64) -> Int64 {
    min(oldest, failingSince ?? nowMilliseconds, nowMilliseconds)
  }

  private static func create(
    _ request: Request, _ services: LoopServices, url: String, types: [Int]?, spaces: [String]?, env: String?,
    format: WebhookFormat
  ) async throws(Refusal) -> HTTPResponse {
    var endpoint = WebhookEndpoint(
      id: .random(), url: try read(url, services), format: format,
      nowMilliseconds: WallClock.nowMilliseconds())
    endpoint.types = try types.map { codes throws(Refusal) in try read(types: codes) }
    endpoint.spaces = try spaces.map { names throws(Refusal) in try read(spaces: names) }
    endpoint.env = env
    let (id, record) = (endpoint.id, endpoint.record)
    let isAdded = try await reading { () async throws(StoreError) in
      try await services.administration.addWebhook(
        id, record, countMax: WebhookEndpoint.countMax, version: WebhookEndpoints.newVersion())
    }
    guard isAdded else {
      throw Refusal(
        .tooMany, "there are \(WebhookEndpoint.countMax) webhooks, which is the limit; remove one first")
    }
    // The brokers read it within a second in any case, and only this answer has the secret.
    try? await refresh(services)
    return .json(.object(members(withSecretOf: endpoint, health: WebhookHealth())), status: 201)
      .located(at: "/v1/webhooks/\(endpoint.id)")
  }

  private static func list(
    _ request: Request, _ services: LoopServices, limit: Int
  ) async throws(Refusal) -> HTTPResponse {
    try await refresh(services)
    let endpoints = Array(services.broker.webhooks.all.prefix(limit))
    let healths = try await readHealths(of: endpoints.map(\.id), services)
    let webhooks = zip(endpoints, healths).map { JSONValue.object(members(of: $0, health: $1)) }
    return .page("webhooks", webhooks, cursor: nil)
  }

  private static func update(
    _ request: Request, _ services: LoopServices, id: EntityID, url: String?, types: [Int]?,
    spaces: [String]?,
    env: String?, format: WebhookFormat?, enabled: Bool?
  ) async throws(Refusal) -> HTTPResponse {
    let url = try url.map { text throws(Refusal) in try read(text, services) }
    let types = try types.map { codes throws(Refusal) in try read(types: codes) }
    let spaces = try spaces.map { names throws(Refusal) in try read(spaces: names) }
    // The receiver is said to be well again, or it is another one.
    let isFresh = enabled == true || url != nil
    // It may fail for the full number of days once more. Otherwise the next failure would disable the webhook again.
    if isFresh { try await endFailures(of: id, services) }
    let endpoint = try await change(id, services) { endpoint in
      if let url { endpoint.url = url }
      // An empty filter copies all.
      if let types { endpoint.types = types.isEmpty ? nil : types }
      if let spaces { endpoint.spaces = spaces.isEmpty ? nil : spaces }
      if let env { endpoint.env = env.isEmpty ? nil : env }
      if let format { endpoint.format = format }
      if let enabled { endpoint.disabledBecause = enabled ? nil : .asked }
    }
    request.notePartlyDone()
    // No success will tell how long the receiver was not well.
    if isFresh { try await hastenCopies(of: id, services) }
    return .json(.object(try await members(of: endpoint, services)))
  }

  private static func remove(
    _ request: Request, _ services: LoopServices, id: EntityID
  ) async throws(Refusal) -> HTTPResponse {
    let wasThere = try await reading { () async throws(StoreError) in
      try await services.administration.removeWebhook(id, version: WebhookEndpoints.newVersion())
    }
    guard wasThere else { throw unknown(id) }
    try? await refresh(services)
    return .noContent
  }

  private static func rotate(
    _ request: Request, _ services: LoopServices, id: EntityID
  ) async throws(Refusal) -> HTTPResponse {
    let now = WallClock.nowMilliseconds()
    let endpoint = try await change(id, services) { endpoint throws(Refusal) in
      if let time = endpoint.rotatesNotBefore(nowMilliseconds: now) {
        let count = WebhookEndpoint.formerSecretsMax
        throw Refusal(
          .tooMany,
          "deliveries are still also signed with \(count) earlier secrets, which is the limit. "
            + "Rotate again after \(Timestamp.text(milliseconds: time)), when the oldest of them ends"
        )
      }
      endpoint.rotate(nowMilliseconds: now)
    }
    // Only this answer has the secret, so it does not wait for anything else.
    let health = try? await readHealths(of: [id], services).first
    return .json(.object(members(withSecretOf: endpoint, health: health ?? WebhookHealth())))
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
    case .delivered(let status):
      // The receiver is well again, so no copy waits for the hours of its next attempt.
      let healths = try await readHealths(of: [id], services)
      if healths.first?.failingSince != nil {
        try await endFailures(of: id, services)
        try await hastenCopies(of: id, services)
      }
      return .json(["delivered": true, "status": .integer(Int64(status))])
    case .gone:
      return .json(["delivered": false, "status": 410, "failure": "it answered with status 410"])
    case .failed(let failure):
      var members: JSONObject = ["delivered": false, "failure": .string(failure.cause)]
      if let status = failure.status { members["status"] = .integer(Int64(status)) }
      return .json(.object(members))
    case .notTried: throw Refusal(.busy, "too many outgoing requests are waiting; try again")
    }
  }

  // MARK: Parts

  /// Refuses a URL to which each delivery would fail.
  private static func read(_ url: String, _ services: LoopServices) throws(Refusal) -> OutboundURL {
    guard let url = OutboundURL(url) else { throw .invalid("url", "must be \(OutboundURL.rule)") }
    let policy = AddressPolicy(allowedNetworks: services.broker.configuration.allowedNetworks)
    if let cause = policy.refusal(of: url) { throw .invalid("url", cause) }
    return url
  }

  /// - Throws: if a type does not exist. No notification would ever match it.
  private static func read(types codes: [Int]) throws(Refusal) -> Set<Int> {
    for (index, code) in codes.enumerated() where Catalogue.type(code) == nil {
      throw .invalid("types[\(index)]", "is \(code), which is not a notification type")
    }
    return Set(codes)
  }

  private static func read(spaces names: [String]) throws(Refusal) -> Set<SpaceID> {
    var spaces: Set<SpaceID> = []
    for (index, name) in names.enumerated() {
      guard let space = SpaceID(key: name), space.kind == .account || EntityID(space.name) != nil else {
        throw .invalid(
          "spaces[\(index)]", "must be a space, such as server:7, group:7, room:7 or account:bob")
      }
      spaces.insert(space)
    }
    return spaces
  }

  /// - Parameter from: an id, or a time in milliseconds since 1970.
  private static func read(replayFrom from: Int64) throws(Refusal) -> MessageID {
    guard from < WebhookRoutes.replayTimesMax else { return MessageID(from) ?? .last }
    guard from == 0 || from >= SharedFields.earliestMilliseconds else {
      throw .invalid("from", "is a time before 2001: give milliseconds since 1970, not seconds")
    }
    return MessageID(firstAtUnixMilliseconds: from)
  }

  private static func readHealths(
    of ids: [EntityID], _ services: LoopServices
  ) async throws(Refusal) -> [WebhookHealth] {
    try await reading { () async throws(StoreError) in
      try await services.administration.webhookHealths(of: ids)
    }
  }

  private static func endFailures(of id: EntityID, _ services: LoopServices) async throws(Refusal) {
    try await reading { () async throws(StoreError) in
      try await services.administration.endWebhookFailures(id)
    }
  }

  /// Makes all copies that wait for the webhook due at once.
  private static func hastenCopies(of id: EntityID, _ services: LoopServices) async throws(Refusal) {
    try await reading { () async throws(StoreError) in
      try await services.administration.hastenWebhook(id, version: WebhookEndpoints.newVersion())
    }
  }

  /// The webhook as it is now: another broker may have changed it.
  private static func find(_ id: EntityID, _ services: LoopServices) async throws(Refusal) -> WebhookEndpoint
  {
    try await refresh(services)
    guard let kept = services.broker.webhooks.kept(id) else { throw unknown(id) }
    return kept.endpoint
  }

  private static func refresh(_ services: LoopServices) async throws(Refusal) {
    try await reading { () async throws(StoreError) in
      try await services.broker.webhooks.refresh(from: services.administration)
    }
  }

  /// The most rounds in which a change is decided again while others change the same webhook. Each round, one
  /// of them succeeds.
  private static let roundsMax = 16

  /// Decides on the stored record, and writes only if the record is still the same. So of two simultaneous
  /// requests, neither undoes a change that the other has already confirmed.
  private static func change(
    _ id: EntityID, _ services: LoopServices, _ decide: (inout WebhookEndpoint) throws(Refusal) -> Void
  ) async throws(Refusal) -> WebhookEndpoint {
    for _ in 0..<roundsMax {
      try await refresh(services)
      guard let kept = services.broker.webhooks.kept(id) else { throw unknown(id) }
      var endpoint = kept.endpoint
      try decide(&endpoint)
      let record = endpoint.record
      let isWritten = try await reading { () async throws(StoreError) in
        try await services.administration.changeWebhook(
          id, record, ifStill: kept.record, version: WebhookEndpoints.newVersion())
      }
      guard isWritten else { continue }
      try? await refresh(services)
      return endpoint
    }
    throw Refusal(
      .conflict, "webhook \(id) is being changed by too many requests; try again", retryAfterSeconds: 1)
  }

  private static func unknown(_ id: EntityID) -> Refusal { Refusal(.notFound, "there is no webhook \(id)") }

  private static func members(
    of endpoint: WebhookEndpoint, _ services: LoopServices
  ) async throws(Refusal) -> JSONObject {
    let healths = try await readHealths(of: [endpoint.id], services)
    return members(of: endpoint, health: healths.first ?? WebhookHealth())
  }

  private static func members(withSecretOf endpoint: WebhookEndpoint, health: WebhookHealth) -> JSONObject {
    var members = members(of: endpoint, health: health)
    members["secret"] = .string(endpoint.secret.text)
    return members
  }

  private static func members(of endpoint: WebhookEndpoint, health: WebhookHealth) -> JSONObject {
    var members: JSONObject = [
      "webhookId": .string(endpoint.id.text), "url": .string(endpoint.url.text),
      "format": .string(endpoint.format.rawValue), "createdAt": .integer(endpoint.createdAtMilliseconds),
      "enabled": .bool(endpoint.disabledBecause == nil),
    ]
    if let types = endpoint.types { members["types"] = .array(types.sorted().map { .integer(Int64($0)) }) }
    if let spaces = endpoint.spaces {
      members["spaces"] = .array(spaces.map(\.key).sorted().map { .string($0) })
    }
    if let env = endpoint.env { members["env"] = .string(env) }
    if let cause = endpoint.disabledBecause { members["disabledBecause"] = .string(cause.rawValue) }
    if let failure = health.failure { members["failure"] = .string(failure) }
    if let time = health.failingSince { members["failingSince"] = .integer(time) }
    if let time = health.failedAt { members["failedAt"] = .integer(time) }
    return members
  }
}
