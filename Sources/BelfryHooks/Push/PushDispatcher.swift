package import BelfryFeed
package import BelfryLoop
package import BelfryModel
package import BelfryOutbound
package import BelfryStore
import BelfrySystem

/// Pushes to the devices of accounts that are not connected. Each loop does this for its share of the partitions.
///
/// The tasks are in Redis and are taken from there at a limited pace. If a broker dies, the broker that continues repeats
/// the tasks that were begun and not noted as done, under the same ids.
package final class PushDispatcher {
  /// How often the dispatcher looks for tasks while any account has a pusher. Each look costs three commands for each
  /// partition.
  package static let interval: Duration = .milliseconds(250)
  static let claimInterval: Duration = .seconds(2)
  static let leaseMilliseconds = 30_000
  /// How long a request waits for its answer. It waits as long for its turn.
  static let answerTime: Duration = .seconds(10)
  static let requestTime: Duration = .seconds(20)
  /// After entering so many tasks, a lane waits for its next turn.
  static let enoughEntered = 500
  /// After this time the remaining devices of an account become tasks of their own. Otherwise the times of slow devices
  /// could add up beyond the lease under which the task was begun.
  static let turnTime: Duration = .seconds(4)
  /// The most failed tasks of a partition that wait for another try.
  static let waitingMax = 10_000
  /// The most of these of one account, as long as at least as many stay free. That is ten notifications for each of as many
  /// pushers as an account may have, and a fiftieth of the whole.
  static let waitingPerAccountMax = 200
  static let keptTryingMilliseconds: Int64 = 24 * 3_600_000
  private static let badgeTriesMax = 3
  /// The name under which failures are counted.
  static let workName = "push"
  /// As in `Functions/read.lua`.
  static let badgeDelay: Duration = .seconds(1)
  /// After this time the streams of a broker that died no longer count as open. One second is added for clocks.
  static let registrationMilliseconds = Int64(StreamRegistration.lifetime / .milliseconds(1)) + 1_000
  /// The pause in which a gateway gets no requests.
  static let pause: Int64 = 10_000
  /// A push of an account that has its share is looked at again after this, up to twice as long, if it made room for others.
  private static let briefPause: Int64 = 1_000
  /// A task is looked at again after a quarter of its notification's age, at least after ``pause`` and at most after this.
  private static let pauseMax: Int64 = 300_000
  private static let breakersMax = 1_024
  /// The most tasks that are remembered as waiting. All others are read each time that they are due.
  private static let waitingKnownMax = 20_000
  private static let settledAtOnce = 200
  private static let retryLimits = PushRetryLimits(ofPartition: waitingMax, ofAccount: waitingPerAccountMax)

  let store: RedisStore
  let owner = String(UInt64.random(in: .min ... .max), radix: 36)
  let delayMilliseconds: Int64
  let feed: FeedReader
  let client: OutboundClient
  private let loop: EventLoop
  var loopName: String { loop.name }
  private let scope: LoopScope
  private let word: PushWord
  private let partitions: [Partition]
  private lazy var lanes = partitions.map { PushLane($0, self) }
  private let settings: PushSettings
  /// How contents end that are pushed by their type, which is the last field of each.
  let typeEndings: [[UInt8]]
  private let retryDelaysSeconds: [Double]
  let failures: WorkFailures
  private var tokens: VAPIDTokens?
  let report: (String, AccountID?, String, String?) -> Void

  private var breakers: [String: CircuitBreaker] = [:]
  /// The tasks that wait until their receiver gets requests again, with its origin. They need not be read each time that
  /// they are due.
  private var waiting: [PushPlaces.Key: String] = [:]
  private var rows = FailureRows<String>(countMax: PushDispatcher.breakersMax)
  private var places = PushPlaces()
  private var settled: [(here: PushPlaces.Key, push: SettledPush)] = []
  private(set) lazy var badgeCounts = JoinedWork(in: scope) { [feed, store] in
    await BadgeCount.count(for: $0, by: feed, in: store)
  }
  private var isSettling = false
  private var isEnding = false
  private var idle: CheckedContinuation<Void, Never>?
  private var pace: PushPace

  package var statistics = PushStatistics()

  /// - Parameters:
  ///   - client: a client for pushes alone, so that they keep no callback waiting.
  ///   - partitions: those of this loop.
  ///   - loops: the number of loops that share the broker's pace.
  ///   - spare: what they leave to one another.
  ///   - failures: told of commands that Redis did not carry out.
  ///   - report: told of events that operators should know of, with the account, if it is of one, the destination,
  ///     and the reason, if any.
  package init(
    loop: EventLoop, scope: LoopScope, store: RedisStore, feed: FeedReader, client: OutboundClient,
    word: PushWord,
    partitions: [Partition], loops: Int, spare: SparePace, settings: PushSettings, key: VAPIDKey?,
    retryDelaysSeconds: [Double] = RetrySchedule.delaysSeconds, failures: WorkFailures,
    report: @escaping (String, AccountID?, String, String?) -> Void
  ) {
    (self.loop, self.scope, self.store, self.feed, self.client) = (loop, scope, store, feed, client)
    (self.word, self.settings, self.report) = (word, settings, report)
    typeEndings = settings.types.map { Array("\"type\":\($0)}".utf8) }
    tokens = key.map { VAPIDTokens($0) }
    delayMilliseconds = Int64(settings.delayMilliseconds)
    pace = PushPace(perSecond: Double(settings.perSecond) / Double(loops), spare)
    self.partitions = partitions
    self.retryDelaysSeconds = retryDelaysSeconds
    self.failures = failures
  }

  /// Runs until it is cancelled.
  package func run() async {
    let work = PeriodicWork(Self.workName, every: Self.interval, start: .afterInterval) { [self] in
      try await lookForWork()
    }
    await work.run(on: loop, noting: failures)
    isEnding = true
    await writeSettled()
    // No other broker may begin a task that has not ended here.
    if !places.isUnused { await withCheckedContinuation { idle = $0 } }
    for lane in lanes { await lane.release() }
  }

  private func lookForWork() async throws(StoreError) {
    guard word.isPushing else {
      for lane in lanes { lane.forget() }
      return
    }
    let now = ContinuousClock.now
    for lane in lanes {
      if lane.isClaimDue(now: now) { scope.start { await lane.claim() } }
      if lane.isRenewalDue(now: now) { scope.start { await lane.renew() } }
    }
    let held = lanes.filter { $0.holds(now: now) }
    if held.isEmpty { return }
    // While Redis is away, all tasks wait.
    await writeSettled()
    try await look(held)
  }

  private func look(_ held: [PushLane]) async throws(StoreError) {
    let partitions = held.map(\.partition)
    let redisNow = try await store.nowMilliseconds()
    let lastIDs = try await store.knownLastIDs(of: partitions)
    let allowed = pace.refill(now: .now, atMost: places.freeCount)
    // Those under way are still among the first of them.
    let due = try await store.duePushes(
      in: partitions, nowMilliseconds: redisNow, limit: PushPlaces.windowMax)
    let taken = places.take(for: due, in: partitions, most: allowed, isLeftAlone: keepWaiting)
    pace.takeTurns(taken.begun.count, of: allowed)
    for (index, (lane, due)) in zip(held, due).enumerated() {
      guard let last = lastIDs[lane.partition], lane.isDue(last: last, nowMilliseconds: redisNow) else {
        continue
      }
      // Tasks for receivers that get no requests, and of accounts that have their share, keep nobody else from being entered.
      let toTry = due.count { !keepWaiting(PushPlaces.Key(partition: lane.partition, text: $0.text)) }
      if toTry - taken.refused[index] < Self.enoughEntered { scope.start { await lane.follow(last: last) } }
    }
    if !taken.begun.isEmpty { scope.start { [self] in await begin(taken.begun) } }
    for one in taken.putOff {
      let later = putOffLater(one, redisNow).map { [$0] } ?? []
      settled.append((one.here, SettledPush(one.push, later: later, isPutOff: true)))
    }
    if !taken.putOff.isEmpty { await writeSettled() }
    if waiting.count >= Self.waitingKnownMax { waiting = waiting.filter { isLeftAlone($0.value) } }
  }

  // MARK: Receivers that get no requests

  /// Lets the task go on waiting for its receiver, or forgets that it waits if the receiver gets requests again.
  /// - Returns: true if it goes on waiting.
  private func keepWaiting(_ here: PushPlaces.Key) -> Bool {
    guard let origin = waiting[here] else { return false }
    if isLeftAlone(origin) { return true }
    waiting[here] = nil
    return false
  }

  /// At random times, so that not all come at once.
  private func putOffLater(_ begun: PushPlaces.Begun, _ nowMilliseconds: Int64) -> DuePush? {
    if begun.isBrief {
      let due = nowMilliseconds + Self.briefPause + Int64.random(in: 0..<Self.briefPause)
      return DuePush(text: begun.push.text, dueAtMilliseconds: due)
    }
    let random = randomPause()
    guard waiting[begun.here] != nil, let task = begun.task else {
      return DuePush(text: begun.push.text, dueAtMilliseconds: nowMilliseconds + Self.pause + random)
    }
    let push = postponed(task, random)
    if push == nil { waiting[begun.here] = nil }
    return push
  }

  func randomPause() -> Int64 { Int64.random(in: 0..<Self.pause) }

  /// The same task when its receiver may get requests again. Nil if that is too late.
  func postponed(_ task: PushTask, _ random: Int64 = 0) -> DuePush? {
    let now = store.estimatedMilliseconds ?? WallClock.nowMilliseconds()
    let age: Int64 = if case .notification(let id, _) = task.subject { now - id.unixMilliseconds } else { 0 }
    return later(task, dueAtMilliseconds: now + min(max(age / 4, Self.pause), Self.pauseMax) + random)
  }

  /// Remembers that the task waits for the receiver, which was asked nothing for it.
  func noteWaiting(_ push: DuePush, _ here: PushPlaces.Key, for url: OutboundURL) {
    guard waiting.count < Self.waitingKnownMax else { return }
    waiting[PushPlaces.Key(partition: here.partition, text: push.text)] = url.origin
  }

  /// A task that was begun has made no request, and others may use its turn.
  func giveTurnBack() { pace.giveTurnBack() }

  // MARK: Outcomes

  /// The task was not done and is still due.
  func end(_ here: PushPlaces.Key) {
    places.giveBack(here)
    guard places.isUnused else { return }
    idle?.resume()
    idle = nil
  }

  /// The task is done and is to be noted as done. Until that is written it counts as under way. Many are noted at once.
  func settle(_ here: PushPlaces.Key, _ push: DuePush, _ later: [DuePush]) async {
    settled.append((here, SettledPush(push, later: later)))
    await writeSettled()
  }

  private func writeSettled() async {
    guard !isSettling else { return }
    isSettling = true
    defer { isSettling = false }
    var away: Set<Partition> = []
    while let partition = settled.first(where: { !away.contains($0.here.partition) })?.here.partition {
      let some = settled.filter { $0.here.partition == partition }.prefix(Self.settledAtOnce)
      let done = Set(some.map(\.here))
      let givenUp = await failures.watch(Self.workName, on: "settling of partition \(partition.number)") {
        try await store.settlePushes(some.map(\.push), in: partition, Self.retryLimits)
      }
      guard let givenUp else {
        // It is noted when its node is back, and this broker does not do it again. Others need the places meanwhile.
        away.insert(partition)
        for one in settled where one.here.partition == partition { places.setAside(one.here) }
        continue
      }
      statistics.givenUp += givenUp.count
      settled.removeAll { done.contains($0.here) }
      for here in done { end(here) }
      for text in givenUp { waiting[PushPlaces.Key(partition: partition, text: text)] = nil }
      if !givenUp.isEmpty { start { [self] in await noteGivenUp(givenUp) } }
    }
    // A broker that ends does not wait, so another broker does the task once more.
    guard isEnding else { return }
    let left = settled
    settled = []
    for one in left { end(one.here) }
  }

  // MARK: Requests

  /// Makes one request, unless its receiver has just failed too often or the request may not go there. The settings may
  /// have become stricter since the pusher was put.
  func attempt(_ kind: Pusher.Kind, _ request: () async -> PushOutcome) async -> PushOutcome {
    if let cause = settings.refusal(of: kind) { return .refused("its URL \(cause)") }
    let origin = kind.url.origin
    var breaker = breakers[origin] ?? CircuitBreaker()
    guard breaker.begin(now: .now) else { return .notTried }
    if breakers[origin] != nil { breakers[origin] = breaker }
    statistics.attempts += 1
    let outcome = await request()
    let isGood: Bool?
    switch outcome {
    case .delivered, .gone, .refused:
      isGood = true
      if outcome == .delivered { statistics.delivered += 1 }
      if rows.succeed(origin) { report("push gateway or service succeeds again", nil, origin, nil) }
    case .failed(let cause, _, let scope):
      // Otherwise the devices of one account would keep the pushes of all others away from their service.
      isGood = scope == .device
      statistics.failed += 1
      if rows.fail(origin, now: .now) { report("push gateway or service fails", nil, origin, cause) }
    case .notTried: isGood = nil
    }
    if isGood == true {
      breakers[origin] = nil
    } else {
      // A breaker whose pause is over is made again at the next failure.
      if breakers.count >= Self.breakersMax { breakers = breakers.filter { !$0.value.allows(now: .now) } }
      guard breakers[origin] != nil || breakers.count < Self.breakersMax else { return outcome }
      breakers[origin, default: CircuitBreaker()].end(isGood: isGood, now: .now)
    }
    return outcome
  }

  /// True if the receiver has just failed too often.
  func isLeftAlone(_ origin: String) -> Bool { breakers[origin]?.allows(now: .now) == false }

  func authorization(for url: OutboundURL, nowSeconds: Int64) -> String? {
    tokens?.authorization(for: url, nowSeconds: nowSeconds)
  }

  @discardableResult
  func start(_ work: @escaping () async -> Void) -> Bool { scope.start(work) }

  /// The same task at a later time. Nil if it has failed for too long.
  func again(_ task: PushTask, retryAfter: String?) -> DuePush? {
    let now = store.estimatedMilliseconds ?? WallClock.nowMilliseconds()
    let delay = RetrySchedule.delayMilliseconds(
      attempts: task.attempts, retryAfter: retryAfter, random: .random(in: 0..<1), delays: retryDelaysSeconds,
      nowMilliseconds: now)
    return later(task, dueAtMilliseconds: now + delay)
  }

  /// The same task when it is due. Nil if that is too late.
  func later(_ task: PushTask, dueAtMilliseconds due: Int64) -> DuePush? {
    let isTooLate =
      switch task.subject {
      case .notification(let id, _): due - id.unixMilliseconds > Self.keptTryingMilliseconds
      // The next badge replaces this one.
      case .badge: task.attempts > Self.badgeTriesMax
      }
    guard isTooLate else { return DuePush(text: task.text, dueAtMilliseconds: due) }
    statistics.givenUp += 1
    return nil
  }
}

/// The pushes of one loop since the start.
package struct PushStatistics: Sendable, Hashable, Codable {
  /// Accounts that were to get a push.
  package var entered = 0
  /// Requests that were made.
  package var attempts = 0
  package var delivered = 0
  package var failed = 0
  /// Corrections of a badge.
  package var badges = 0
  /// Accounts that were connected.
  package var live = 0
  /// Notifications that were read or recalled before the push, or that were not for the account.
  package var hidden = 0
  /// Pushers that were removed because the device is not known any more.
  package var removed = 0
  /// Pushes that were given up, after a day of failures or because too many waited.
  package var givenUp = 0
}
