import BelfryLoop
import BelfryModel
import BelfryStore

/// The maintenance of the keyspace, on one loop of a broker: relays, sweeps, rooms. There is no leader and no
/// lease. Every broker relays, which is idempotent, and sweeps partitions that no broker has swept for a
/// while.
struct MaintenanceTasks {
  /// The interval at which all outboxes are checked for commits of a broker that died before it relayed them.
  /// Until a commit is relayed, an account does not see a space that it joined. A check is one cheap command
  /// for each partition.
  static let relayInterval: Duration = .seconds(3)

  let loop: EventLoop
  let runner: OperationRunner
  let condition: RedisCondition
  private var store: any Store { runner.store }

  var works: [PeriodicWork] {
    let sweep = PartitionSweep(loop: loop, store: store, limits: runner.limits) { [condition] in
      condition.note(sweepDoubt: $0)
    }
    let rooms = RoomTimer(runner)
    return [
      PeriodicWork("relays", every: Self.relayInterval, start: .afterInterval, asksStoreEachRound: true) {
        try await relay()
      },
      PeriodicWork("sweep", every: sweep.pause, start: .afterInterval) {
        try await sweep.sweepDuePartitions()
      },
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
