import BelfryLoop
import BelfryModel
import BelfryStore

/// The upkeep of the keyspace, on one loop of a broker: relays, sweeps, rooms. There is no leader and no lease: every broker
/// relays, which is idempotent, and sweeps partitions that none has swept for a while.
struct MaintenanceTasks {
  /// How often all outboxes are looked at, for commits of a broker that died before it relayed them. Until it is relayed, an
  /// account does not see a space it joined. A look is one cheap command for each partition.
  static let relayInterval: Duration = .seconds(3)

  let loop: EventLoop
  let runner: OperationRunner
  private var store: any Store { runner.store }

  var works: [PeriodicWork] {
    let sweep = PartitionSweep(loop: loop, store: store, limits: runner.limits)
    let rooms = RoomTimer(runner)
    return [
      PeriodicWork("relays", every: Self.relayInterval, start: .afterInterval) { try await relay() },
      PeriodicWork("sweep", every: sweep.pause, start: .afterInterval) { try await sweep.sweepDuePartitions() },
      PeriodicWork("rooms", every: RoomTimer.interval, start: .afterInterval) {
        try await rooms.checkDueRooms()
      },
    ]
  }

  /// While the store is away, its outboxes wait.
  private func relay() async throws(StoreError) {
    var failure: StoreError?
    for partition in try await store.partitionsToRelay() {
      do throws(StoreError) {
        try await store.relayOutbox(of: partition)
      } catch {
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
  }
}

/// Sweeps all partitions that are due, one after the other. Entries beyond retention are hidden at once; sweeping only frees
/// memory.
struct PartitionSweep {
  let loop: EventLoop
  let store: any Store
  let limits: Limits

  /// Between two rounds.
  var pause: Duration {
    .milliseconds(SweepPace.pause(retentionMilliseconds: limits.retentionMilliseconds))
  }

  /// - Throws: the first failure, after all partitions were tried.
  func sweepDuePartitions() async throws {
    let partitions = try await partitionsInUse()
    let pace = SweepPace(
      spaces: try await store.spaceCount(), partitions: partitions.count,
      retentionMilliseconds: limits.retentionMilliseconds)
    var failure: StoreError?
    // In the same order each time: a partition that came last in one round and first in the next would not be due.
    for partition in partitions {
      try await loop.sleep(for: .milliseconds(pace.stepMilliseconds))
      do throws(StoreError) {
        try await sweepIfDue(partition, everyMilliseconds: pace.intervalMilliseconds)
      } catch {
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
  }

  private func sweepIfDue(
    _ partition: Partition, everyMilliseconds interval: Int64
  ) async throws(StoreError) {
    guard try await store.beginSweep(of: partition, everyMilliseconds: interval) else { return }
    try await store.sweep(partition)
  }

  /// A partition in which no id was ever allotted holds nothing.
  private func partitionsInUse() async throws(StoreError) -> [Partition] {
    let all = store.partitions.all
    return zip(all, try await store.lastIDs(of: all)).filter { $0.1 != .zero }.map(\.0)
  }
}
