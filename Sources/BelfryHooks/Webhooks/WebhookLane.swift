import BelfryLoop
import BelfryModel
import BelfryOutbound
import BelfryStore
import BelfrySystem

/// The deliveries of one partition to one endpoint, one after the other: what is under way to an endpoint is one request
/// for each partition, and so one for each space. On one loop's thread; among brokers a lease decides who delivers.
final class WebhookLane {
  /// Spaces that may be behind while others go on. With more, the partition waits for them: then it is the endpoint that
  /// fails, and not a notification that it cannot take.
  static let behindMax = 16
  static let copiesAtOnce = 100
  /// Before another try where another broker delivers, or nothing can be sent.
  static let pause: Duration = .seconds(1)

  let endpointID: EntityID
  let partition: Partition
  private let dispatcher: WebhookDispatcher
  /// The partition's last id when all was delivered, and when it was looked at last.
  private var seen: MessageID?
  private var looked: MessageID?
  private var nextLook = ContinuousClock.now
  private(set) var isRunning = false

  private var state = CopyReaderState(position: .zero, count: nil, generation: "")
  private var saved = CopyReaderState(position: .zero, count: nil, generation: "")
  private var leaseUntil = ContinuousClock.now

  init(_ endpoint: EntityID, _ partition: Partition, _ dispatcher: WebhookDispatcher) {
    endpointID = endpoint
    self.partition = partition
    self.dispatcher = dispatcher
  }

  /// - Parameter last: the last id of the partition.
  func isDue(last: MessageID, now: ContinuousClock.Instant) -> Bool {
    !isRunning && nextLook <= now && (seen != last || !state.behind.isEmpty)
  }

  func run(last: MessageID) async {
    isRunning = true
    defer { isRunning = false }
    looked = last
    nextLook = .now + Self.pause
    do throws(StoreError) {
      guard try await claim() else { return }
      let isDone = try await deliverAll()
      guard try await save(keepingLease: false), isDone else { return }
      seen = last
      let due = state.behind.values.map(\.dueAtMilliseconds).min()
      let wait = due.map { max($0 - WallClock.nowMilliseconds(), 0) } ?? 0
      nextLook = .now + .milliseconds(wait)
    } catch {
      // Redis is away. What was delivered and not noted is delivered again.
    }
  }

  /// What is new is looked for at once, whatever is behind.
  func wake(last: MessageID) {
    if looked != last, !isRunning { nextLook = min(nextLook, .now) }
  }

  /// There may be something that was delivered before.
  func lookAgain() {
    (seen, looked) = (nil, nil)
  }

  // MARK: The lease

  private func claim() async throws(StoreError) -> Bool {
    let began = ContinuousClock.now
    let claim = try await dispatcher.store.claimCopies(
      .webhook(endpointID), in: partition, by: dispatcher.owner, milliseconds: dispatcher.leaseMilliseconds)
    guard let claim else { return false }
    (state, saved) = (claim.state, claim.state)
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

  /// - Returns: false when somebody else has the lease, or there was a replay.
  private func save(keepingLease: Bool) async throws(StoreError) -> Bool {
    let began = ContinuousClock.now
    let milliseconds = keepingLease ? dispatcher.leaseMilliseconds : 0
    let isSaved = try await dispatcher.store.saveCopies(
      .webhook(endpointID), in: partition, by: dispatcher.owner, milliseconds: milliseconds, state,
      before: saved)
    guard isSaved else { return false }
    saved = state
    leaseUntil = began + .milliseconds(milliseconds)
    return true
  }

  // MARK: Delivering

  /// - Returns: whether nothing is left but what is to be tried later.
  private func deliverAll() async throws(StoreError) -> Bool {
    guard try await deliverBehind() else { return false }
    while state.behind.count < Self.behindMax {
      let copies = try await dispatcher.store.copies(
        in: partition, after: state.position, limit: Self.copiesAtOnce)
      if copies.isEmpty { return true }
      for copy in copies {
        guard state.behind.count < Self.behindMax else { break }
        // What is behind comes after what holds it back.
        let outcome = state.behind[copy.space] == nil ? await attempt(copy) : nil
        switch outcome {
        case .gone?, .notTried?: return false
        case .failed(_, let retryAfter)?: putBehind(copy, attempts: 1, retryAfter)
        case .delivered?, nil: break
        }
        pass(copy)
        if outcome != nil, try await !save(keepingLease: true) { return false }
        if outcome != nil, dispatcher.mustYield(endpointID) { return false }
      }
      // With the last one that was delivered the state was saved; what nobody wanted after that has moved it on.
      if state != saved, try await !save(keepingLease: true) { return false }
      guard try await deliverBehind() else { return false }
    }
    return true
  }

  private func pass(_ copy: EntryCopy) {
    state.position = copy.id
    state.count = state.count.map { $0 + 1 }
  }

  private func putBehind(_ copy: EntryCopy, attempts: Int, _ retryAfter: String?) {
    let delay = RetrySchedule.delayMilliseconds(
      attempts: attempts, retryAfter: retryAfter, random: .random(in: 0..<1),
      delays: dispatcher.retryDelaysSeconds)
    state.behind[copy.space] = WebhookDelay(
      id: copy.id, attempts: attempts, dueAtMilliseconds: WallClock.nowMilliseconds() + delay)
  }

  /// Spaces that are behind and due, each as far as it goes.
  private func deliverBehind() async throws(StoreError) -> Bool {
    let now = WallClock.nowMilliseconds()
    let due = state.behind.filter { $0.value.dueAtMilliseconds <= now }
    for (space, delay) in due.sorted(by: { $0.value.dueAtMilliseconds < $1.value.dueAtMilliseconds }) {
      guard try await deliver(space, from: delay) else { return false }
    }
    return true
  }

  private func deliver(_ space: SpaceID, from delay: WebhookDelay) async throws(StoreError) -> Bool {
    var after = delay.id.predecessor
    var attempts = delay.attempts
    while after < state.position {
      let copies = try await dispatcher.store.copies(
        in: partition, after: after, through: state.position, limit: Self.copiesAtOnce)
      for copy in copies where copy.space == space {
        switch await attempt(copy) {
        case .failed(_, let retryAfter)?:
          putBehind(copy, attempts: attempts + 1, retryAfter)
          return try await save(keepingLease: true)
        case .gone?, .notTried?: return false
        case .delivered?, nil:
          attempts = 0
          // The next one of the space is what it goes on with, should this broker end.
          state.behind[space] = WebhookDelay(
            id: MessageID(copy.id.raw + 1) ?? copy.id, attempts: 0, dueAtMilliseconds: 0)
          guard try await save(keepingLease: true) else { return false }
          if dispatcher.mustYield(endpointID) { return false }
        }
      }
      guard copies.count == Self.copiesAtOnce, let last = copies.last else { break }
      after = last.id
    }
    state.behind[space] = nil
    return try await save(keepingLease: true)
  }

  /// - Returns: nil where the endpoint does not want it.
  private func attempt(_ copy: EntryCopy) async -> WebhookOutcome? {
    guard let endpoint = dispatcher.endpoint(endpointID) else { return .notTried }
    guard endpoint.wants(copy) else { return nil }
    // Whoever was stopped for long may have lost the lease without knowing.
    guard leaseUntil - .now > dispatcher.requestTime else { return .notTried }
    let outcome = await dispatcher.deliver(WebhookEvent(copy, lost: state.lost), to: endpoint)
    if outcome.isDelivered { state.lost = 0 }
    return outcome
  }
}
