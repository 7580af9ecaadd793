import BelfryLoop
import BelfryModel
import BelfryOutbound
import BelfryStore
import BelfrySystem

/// The deliveries of one partition to one endpoint, one after the other. So at most one request for each partition, and for
/// each space, is under way to an endpoint. It is used on one loop's thread. A lease decides which lane delivers, among those of
/// all brokers. It also keeps a new lane waiting while the one before it is still under way: somebody may disable an endpoint and
/// enable it again during a request.
final class WebhookLane {
  static let copiesAtOnce = 100
  /// How many spaces that are behind and due get a turn before new copies get one.
  static let dueAtOnce = 16
  /// The pause before another try, if another broker delivers or nothing can be sent.
  static let pause: Duration = .seconds(1)

  let endpointID: EntityID
  let partition: Partition
  let dispatcher: WebhookDispatcher
  /// Holds the lease.
  private let owner = String(UInt64.random(in: .min ... .max), radix: 36)
  /// The partition's last id when everything was delivered, and its last id at the last look.
  private var seen: MessageID?
  private var looked: MessageID?
  private var nextLook = ContinuousClock.now
  private(set) var isRunning = false
  /// True if the next run begins with the spaces that are behind, not with new copies. They take turns so that neither
  /// keeps the other waiting: while the endpoint fails, a run ends after its first copy.
  private var isBehindFirst = false
  /// The time before which no new copies are tried: a new copy failed, and as many spaces are behind as are allowed.
  private var blockedUntil: ContinuousClock.Instant?

  var state = CopyReaderState(position: .zero, count: nil, generation: "")
  private var saved = CopyReaderState(position: .zero, count: nil, generation: "")
  private var leaseUntil = ContinuousClock.now
  var behind = SpacesBehind()

  init(_ endpoint: EntityID, _ partition: Partition, _ dispatcher: WebhookDispatcher) {
    endpointID = endpoint
    self.partition = partition
    self.dispatcher = dispatcher
  }

  /// - Parameter last: the last id of the partition.
  func isDue(last: MessageID, now: ContinuousClock.Instant) -> Bool {
    !isRunning && nextLook <= now && (seen != last || behind.count > 0)
  }

  func run(last: MessageID) async {
    isRunning = true
    defer { isRunning = false }
    looked = last
    nextLook = .now + Self.pause
    // A copy that was delivered and not noted is delivered again.
    await dispatcher.failures.watch(WebhookDispatcher.workName, on: subject) {
      try await deliverCopies(last: last)
    }
    if dispatcher.endpoint(endpointID) == nil { giveUp() }
  }

  private func deliverCopies(last: MessageID) async throws(StoreError) {
    guard try await claim() else { return }
    let isDone = try await deliverAll()
    guard try await save(keepingLease: false), isDone else { return }
    seen = last
    nextLook = .now
    if behind.count > 0 { nextLook = max(min(behind.nextLook, blockedUntil ?? behind.nextLook), .now) }
  }

  private var subject: String { "webhook \(endpointID.text), partition \(partition.number)" }

  /// The endpoint was removed or disabled, so no success will end the lane's failures.
  func giveUp() { dispatcher.failures.giveUp(WebhookDispatcher.workName, on: subject) }

  /// Looks for new copies at once, also if spaces are behind.
  func wake(last: MessageID) {
    if looked != last, !isRunning { nextLook = min(nextLook, .now) }
  }

  /// There may be copies to deliver again, or copies that are due now.
  func lookAgain() {
    (seen, looked, blockedUntil) = (nil, nil, nil)
  }

  // MARK: The lease

  private func claim() async throws(StoreError) -> Bool {
    let began = ContinuousClock.now
    let claim = try await dispatcher.store.claimCopies(
      .webhook(endpointID), in: partition, by: owner, milliseconds: dispatcher.leaseMilliseconds)
    guard let claim else { return false }
    (state, saved) = (claim.state, claim.state)
    behind = SpacesBehind(count: claim.behindCount)
    leaseUntil = began + .milliseconds(dispatcher.leaseMilliseconds)
    let trimmed = claim.added - claim.length
    if let count = state.count, trimmed > count {
      state.lost += trimmed - count
      state.count = trimmed
    } else if state.count == nil, state.position >= claim.last {
      state.count = claim.added
    }
    return true
  }

  /// - Returns: false if another broker has the lease, or if there was a replay.
  func save(keepingLease: Bool = true) async throws(StoreError) -> Bool {
    let began = ContinuousClock.now
    let milliseconds = keepingLease ? dispatcher.leaseMilliseconds : 0
    let isSaved = try await dispatcher.store.saveCopies(
      .webhook(endpointID), in: partition, by: owner, milliseconds: milliseconds, state,
      before: saved, held: behind.unsaved)
    guard isSaved else { return false }
    saved = state
    behind.noteSaved()
    leaseUntil = began + .milliseconds(milliseconds)
    return true
  }

  // MARK: Delivering

  /// - Returns: true if only copies are left that are to be tried later.
  private func deliverAll() async throws(StoreError) -> Bool {
    if isBehindFirst, behind.count > 0 {
      isBehindFirst = false
      guard try await deliverBehind() != nil else { return false }
    }
    isBehindFirst = true
    while true {
      let isThereMore: Bool
      if let until = blockedUntil, .now < until {
        isThereMore = false
      } else {
        blockedUntil = nil
        let copies = try await dispatcher.store.copies(
          in: partition, after: state.position, limit: Self.copiesAtOnce)
        guard try await deliver(copies) else { return false }
        isThereMore = !copies.isEmpty && blockedUntil == nil
      }
      guard let wasBehind = try await deliverBehind() else { return false }
      if !isThereMore, !wasBehind { return true }
    }
  }

  /// Delivers new copies, in their order.
  /// - Returns: false if nothing more can be delivered now.
  private func deliver(_ copies: [EntryCopy]) async throws(StoreError) -> Bool {
    if behind.count > 0, !copies.isEmpty {
      let held = try await dispatcher.store.heldCopies(
        for: .webhook(endpointID), in: partition, of: Array(Set(copies.map(\.space))),
        generation: state.generation)
      guard let held else { return false }
      behind.take(held)
    }
    for copy in copies {
      guard let endpoint = dispatcher.endpoint(endpointID) else { return false }
      // Copies that are behind come after the copy that holds them back.
      if behind.holds(copy.space) {
        if endpoint.wants(copy) { behind.hold(copy) }
        pass(copy)
        continue
      }
      let outcome = await attempt(copy)
      switch outcome {
      case .gone?, .notTried?: return false
      case .failed(let failure)?:
        let delay = delayMilliseconds(attempts: 1, failure)
        guard behind.hasRoom else {
          blockedUntil = ContinuousClock.now + .milliseconds(delay)
          return try await save()
        }
        behind.put(
          HeldCopies(
            ids: [copy.id], attempts: 1, dueAtMilliseconds: WallClock.nowMilliseconds() + delay),
          of: copy.space)
      case .delivered?, nil: break
      }
      pass(copy)
      if outcome != nil, try await !save() { return false }
      if outcome != nil, dispatcher.mustYield(endpointID) { return false }
    }
    // With the last one that was tried the state was saved; what came after it has moved it on.
    if state != saved { return try await save() }
    return true
  }

  private func pass(_ copy: EntryCopy) {
    state.position = copy.id
    state.count = state.count.map { $0 + 1 }
  }

  func delayMilliseconds(attempts: Int, _ failure: WebhookFailure) -> Int64 {
    RetrySchedule.delayMilliseconds(
      attempts: attempts, retryAfter: failure.retryAfter, random: .random(in: 0..<1),
      delays: dispatcher.retryDelaysSeconds, nowMilliseconds: WallClock.nowMilliseconds())
  }

  /// - Returns: nil if the endpoint does not want the copy.
  func attempt(_ copy: EntryCopy) async -> WebhookOutcome? {
    guard let endpoint = dispatcher.endpoint(endpointID) else { return .notTried }
    guard endpoint.wants(copy) else { return nil }
    // A process that was stopped for long may have lost the lease without knowing.
    guard leaseUntil - .now > dispatcher.requestTime else { return .notTried }
    let outcome = await dispatcher.deliver(WebhookEvent(copy, lost: state.lost), to: endpoint)
    if outcome.isDelivered { state.lost = 0 }
    return outcome
  }
}
