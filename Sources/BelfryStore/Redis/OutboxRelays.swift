import BelfryModel

/// The relays of one loop: one at a time for each partition, and what they leave behind.
package final class OutboxRelays {
  /// What could not be told is tried again after so long. Sooner, everybody who commits something would try it
  /// again for all others. Shorter than the pause between two looks at all outboxes, so that each of them does.
  package static let retryPause: Duration = .seconds(2)

  private enum Turn {
    case relay
    case shared(Result<Void, StoreError>)
  }

  /// What an outbox holds that could not be relayed.
  private struct Remains {
    var held: Set<RelayMessage.Subject>
    /// The last item that was looked at. It and those before it are not looked at until the next try.
    var last: String
    var retryAt: ContinuousClock.Instant
  }

  private var turns = RelayTurns<CheckedContinuation<Turn, Never>>()
  private var remains: [Partition: Remains] = [:]
  private let retryPause: Duration
  var statistics = RelayStatistics()

  init(retryPause: Duration) { self.retryPause = retryPause }

  /// Carries out a relay that begins after this call, or waits for one that another caller carries out.
  func run(
    _ partition: Partition, _ relay: () async throws(StoreError) -> Void
  ) async throws(StoreError) {
    if !turns.begin(partition) {
      let turn = await withCheckedContinuation { continuation in
        turns.wait(continuation, for: partition)?.resume(returning: .relay)
      }
      if case .shared(let result) = turn { return try result.get() }
    }
    var result: Result<Void, StoreError> = .success(())
    do throws(StoreError) { try await relay() } catch { result = .failure(error) }
    let (sharing, leader) = turns.end(partition)
    for waiter in sharing { waiter.resume(returning: .shared(result)) }
    leader?.resume(returning: .relay)
    try result.get()
  }

  /// Where a relay begins: after which item, and who is told nothing. Nil and nobody: it tries everything.
  func start(of partition: Partition) -> OutboxPass {
    guard let remains = remains[partition], .now < remains.retryAt else { return OutboxPass() }
    return OutboxPass(last: remains.last, held: remains.held, retryAt: remains.retryAt)
  }

  /// Takes note of what a relay has come to.
  func end(_ pass: OutboxPass, of partition: Partition) {
    guard pass.leavesSomething, let last = pass.last else {
      remains[partition] = nil
      return
    }
    remains[partition] = Remains(held: pass.held, last: last, retryAt: pass.retryAt ?? .now + retryPause)
  }
}

/// One relay on its way through an outbox.
struct OutboxPass {
  /// The last item looked at, now or before.
  var last: String?
  var held: Set<RelayMessage.Subject> = []
  /// When what an earlier relay has left is tried again; nil: now.
  var retryAt: ContinuousClock.Instant?
  /// The first thing that went wrong.
  private(set) var problem: StoreError?

  /// Whether there are items that it looked at, or did not look at again, and that are still there.
  var leavesSomething: Bool { retryAt != nil || problem != nil }

  mutating func note(_ problem: StoreError) { self.problem = self.problem ?? problem }
}

/// What has become of a loop's relays.
package struct RelayStatistics: Sendable, Encodable {
  /// Items in all outboxes when they were last looked at. One loop of a broker looks, every few seconds; on the
  /// others it stays at zero.
  package var waiting = 0
  /// For how long the oldest of them had been waiting then.
  package var oldestSeconds = 0
  /// Tries that told less than an item has to tell, or found it unreadable.
  package var failures = 0
  /// Why the last of them failed.
  package var lastFailure: String?
}
