package import BelfryLoop
package import BelfryModel
package import BelfryOutbound
package import BelfryStore
import BelfrySystem

/// Delivers copies of notifications to endpoints. Each loop delivers those of its share of the partitions.
package final class WebhookDispatcher {
  /// How often partitions are looked at while there are endpoints. Each look costs one command for each partition.
  package static let interval: Duration = .milliseconds(200)
  /// The most deliveries under way on one loop. The endpoints share them.
  static let lanesMax = 128
  package static let timeoutMilliseconds = 500...30_000
  /// The name under which failures are counted.
  static let workName = "webhooks"

  let store: RedisStore
  private let loop: EventLoop
  private let scope: LoopScope
  private let client: OutboundClient
  private let endpoints: WebhookEndpoints
  private let partitions: [Partition]
  private let timeout: Duration
  let retryDelaysSeconds: [Double]
  let failures: WorkFailures
  private let report: (String, WebhookEndpoint, String?) -> Void
  private var lanes: [EntityID: [WebhookLane]] = [:]
  private var breakers: [EntityID: CircuitBreaker] = [:]
  private var places = FairShares<EntityID>(total: WebhookDispatcher.lanesMax)
  /// True if a lane was due at the last look and had no place.
  private var isShort = false
  private var version: String?
  /// The time of the last delivery to each endpoint, by the clock of failures.
  private var succeededAt: [EntityID: Int64] = [:]
  private var rows = FailureRows<EntityID>(countMax: WebhookEndpoint.countMax)
  /// Endpoints that got a delivery since the last look.
  private var succeeded: Set<EntityID> = []

  package private(set) var statistics = WebhookStatistics()

  /// - Parameters:
  ///   - partitions: those of this loop.
  ///   - failures: told of commands that Redis did not carry out.
  ///   - report: told of events that operators should know of, with the endpoint and the reason, if any.
  package init(
    loop: EventLoop, scope: LoopScope, store: RedisStore, client: OutboundClient, endpoints: WebhookEndpoints,
    partitions: [Partition], timeoutMilliseconds: Int,
    retryDelaysSeconds: [Double] = RetrySchedule.delaysSeconds, failures: WorkFailures,
    report: @escaping (String, WebhookEndpoint, String?) -> Void
  ) {
    (self.loop, self.scope, self.store, self.client) = (loop, scope, store, client)
    (self.endpoints, self.partitions, self.report) = (endpoints, partitions, report)
    self.failures = failures
    timeout = .milliseconds(timeoutMilliseconds)
    self.retryDelaysSeconds = retryDelaysSeconds
  }

  /// A request waits as long for its turn as for its answer.
  var requestTime: Duration { timeout * 2 }
  /// The length of a lease. It is longer than a request, so that a request ends before the lease under which it was begun.
  var leaseMilliseconds: Int { Int(requestTime / .milliseconds(1)) + 5_000 }

  /// Nil once it is removed or disabled.
  func endpoint(_ id: EntityID) -> WebhookEndpoint? {
    endpoints.kept(id).flatMap { $0.endpoint.disabledBecause == nil ? $0.endpoint : nil }
  }

  /// Runs until it is cancelled.
  package func run() async {
    let work = PeriodicWork(Self.workName, every: Self.interval, start: .afterInterval) { [self] in
      try await lookForCopies()
    }
    await work.run(on: loop, noting: failures)
  }

  private func lookForCopies() async throws(StoreError) {
    let enabled = endpoints.enabled
    if endpoints.version != version {
      version = endpoints.version
      // The change may be a replay.
      for lane in lanes.values.joined() { lane.lookAgain() }
      // A disabled one may be enabled again, and the log then says that it succeeds again.
      rows.forget { endpoints.kept($0) == nil }
    }
    if lanes.count != enabled.count || enabled.contains(where: { lanes[$0.id] == nil }) { follow(enabled) }
    if !succeeded.isEmpty { await noteSuccesses() }
    if enabled.isEmpty { return }
    // While Redis is away the copies wait, and while a node of a cluster is away, those of its partitions.
    look(try await store.knownLastIDs(of: partitions))
  }

  private func follow(_ enabled: [WebhookEndpoint]) {
    var kept: [EntityID: [WebhookLane]] = [:]
    for endpoint in enabled {
      kept[endpoint.id] =
        lanes[endpoint.id] ?? partitions.map { WebhookLane(endpoint.id, $0, self) }
    }
    for (id, lanes) in lanes where kept[id] == nil {
      for lane in lanes { lane.giveUp() }
      failures.giveUp(Self.workName, on: Self.healthSubject(id))
      rows.noteInterruption(of: id)
    }
    lanes = kept
    breakers = breakers.filter { kept[$0.key] != nil }
    succeededAt = succeededAt.filter { kept[$0.key] != nil }
  }

  private func look(_ lastIDs: [Partition: MessageID]) {
    let now = ContinuousClock.now
    isShort = false
    for (id, lanes) in lanes {
      for lane in lanes {
        guard let last = lastIDs[lane.partition], last != .zero else { continue }
        lane.wake(last: last)
        guard lane.isDue(last: last, now: now), breakers[id]?.allows(now: now) ?? true else { continue }
        start(lane, last: last)
      }
    }
  }

  private func start(_ lane: WebhookLane, last: MessageID) {
    let id = lane.endpointID
    switch places.take(for: id) {
    case .all?: isShort = true
    // The endpoint waits for its own deliveries.
    case .owner?: break
    case nil:
      let isStarted = scope.start { [self] in
        await lane.run(last: last)
        places.giveBack(of: id)
      }
      if !isStarted { places.giveBack(of: id) }
    }
  }

  /// True if another endpoint has no place and this one has several. Its lanes then give their places away between two
  /// copies. Otherwise endpoints that are slow and always have copies would keep their places for ever.
  func mustYield(_ endpoint: EntityID) -> Bool { isShort && places.taken(by: endpoint) > 1 }

  func deliver(_ event: WebhookEvent, to endpoint: WebhookEndpoint) async -> WebhookOutcome {
    var breaker = breakers[endpoint.id] ?? CircuitBreaker()
    guard breaker.begin(now: .now) else { return .notTried }
    breakers[endpoint.id] = breaker
    statistics.attempts += 1
    let outcome = await client.deliver(event, to: endpoint, timeout: timeout)
    let isGood: Bool? = outcome == .notTried ? nil : outcome.isDelivered
    breakers[endpoint.id, default: CircuitBreaker()].end(isGood: isGood, now: .now)
    switch outcome {
    case .delivered:
      statistics.delivered += 1
      succeededAt[endpoint.id] = WallClock.nowMilliseconds()
      succeeded.insert(endpoint.id)
      if rows.succeed(endpoint.id) { report("webhook succeeds again", endpoint, nil) }
    case .failed(let failure):
      statistics.failed += 1
      if rows.fail(endpoint.id, now: .now) { report("webhook fails", endpoint, failure.cause) }
      let since = await noteFailure(endpoint, failure.cause)
      await disableIfFailing(endpoint, since: since, failure.cause)
    case .gone:
      statistics.failed += 1
      let cause = "it answered with status 410"
      _ = await noteFailure(endpoint, cause)
      await disable(endpoint, because: .gone, cause)
    case .notTried: break
    }
    return outcome
  }

  private static func healthSubject(_ id: EntityID) -> String { "health of webhook \(id.text)" }

  /// Reads or writes a fact about the endpoint's health. If that fails, it notes the failure and returns nil.
  private func watch<Value>(_ id: EntityID, _ body: () async throws -> Value) async -> Value? {
    await failures.watch(Self.workName, on: Self.healthSubject(id), body)
  }

  /// A success ends the run of failures, which another broker may have begun. One that was an outage has put off all that
  /// is behind, for hours perhaps; the receiver is well again, so it is due at once.
  private func noteSuccesses() async {
    let ids = Array(succeeded)
    succeeded = []
    let failing = await failures.watch(Self.workName, on: "health of webhooks") {
      try await store.webhooksFailingSince(ids)
    }
    guard let failing else { return succeeded.formUnion(ids) }
    let now = WallClock.nowMilliseconds()
    for (id, since) in zip(ids, failing) {
      guard let since else { continue }
      let isNoted: Void? = await watch(id) {
        if now - since >= RetrySchedule.outageMilliseconds {
          try await store.hastenWebhook(id, version: WebhookEndpoints.newVersion())
        }
        try await store.endWebhookFailures(id)
      }
      // The next look tries again.
      if isNoted == nil { succeeded.insert(id) }
    }
  }

  /// - Returns: since when there have been nothing but failures; nil if that could not be noted.
  private func noteFailure(_ endpoint: WebhookEndpoint, _ cause: String) async -> Int64? {
    await watch(endpoint.id) {
      try await store.noteWebhookFailure(
        endpoint.id, cause, nowMilliseconds: WallClock.nowMilliseconds(),
        gapMilliseconds: RetrySchedule.runGapMilliseconds)
    }
  }

  private func disableIfFailing(_ endpoint: WebhookEndpoint, since: Int64?, _ cause: String) async {
    // A success of this loop may not be noted yet.
    guard let since, WallClock.nowMilliseconds() - since >= RetrySchedule.failingMaxMilliseconds,
      succeededAt[endpoint.id] ?? 0 < since
    else { return }
    await disable(endpoint, because: .failing, cause)
  }

  /// Only the version that got the delivery is disabled. If somebody has changed the endpoint meanwhile, the next delivery
  /// decides.
  private func disable(
    _ endpoint: WebhookEndpoint, because reason: WebhookEndpoint.DisablingCause, _ cause: String
  ) async {
    guard let kept = endpoints.kept(endpoint.id), kept.endpoint == endpoint else { return }
    var disabled = endpoint
    disabled.disabledBecause = reason
    let record = disabled.record
    let isWritten = await watch(endpoint.id) {
      try await store.changeWebhook(
        endpoint.id, record, ifStill: kept.record, version: WebhookEndpoints.newVersion())
    }
    if isWritten == true { report("webhook disabled", endpoint, cause) }
    _ = await watch(endpoint.id) { try await endpoints.refresh(from: store) }
  }
}

/// The deliveries of one loop to webhooks since the start.
package struct WebhookStatistics: Sendable, Hashable, Codable {
  package var attempts = 0
  package var delivered = 0
  package var failed = 0
}
