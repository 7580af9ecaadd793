import BelfryModel

/// The relays of one loop: one at a time for each partition. It remembers the items that could not be
/// relayed.
package final class OutboxRelays {
  /// Items that failed are tried again after this pause: without one, each commit would try again for all
  /// earlier ones. It is shorter than the pause between two looks at all outboxes, so that each look tries
  /// again.
  package static let retryPause: Duration = .seconds(2)

  private enum Turn {
    case relay
    case shared(Result<Void, StoreError>)
  }

  /// The items of an outbox that could not be relayed.
  private struct Remains {
    var held: Set<RelayMessage.Subject>
    /// The last item that was read. Neither it nor the items before it are read again until the next try.
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

  /// The item after which a relay begins, and the subjects that are held back. After the pause it tries
  /// everything again.
  func start(of partition: Partition) -> OutboxPass {
    guard let remains = remains[partition], .now < remains.retryAt else { return OutboxPass() }
    return OutboxPass(last: remains.last, held: remains.held, retryAt: remains.retryAt)
  }

  /// Notes how far a relay came.
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
  /// The last item that was read, in this pass or before.
  var last: String?
  var held: Set<RelayMessage.Subject> = []
  /// The time at which the items that an earlier relay left are tried again; nil: now.
  var retryAt: ContinuousClock.Instant?
  /// The first thing that went wrong.
  private(set) var problem: StoreError?

  /// True if items remain in the outbox that were read in this pass or before.
  var leavesSomething: Bool { retryAt != nil || problem != nil }

  mutating func note(_ problem: StoreError) { self.problem = self.problem ?? problem }
}

/// The results of the relays of a loop.
package struct RelayStatistics: Sendable, Encodable {
  /// The number of items in all outboxes at the last look. One loop of a broker looks every few seconds; for
  /// the others it is zero.
  package var waiting = 0
  /// The time for which the oldest item had been waiting.
  package var oldestSeconds = 0
  /// Tries that relayed an item in part, or could not read it.
  package var failures = 0
  /// The reason of the latest failure.
  package var lastFailure: String?
}
