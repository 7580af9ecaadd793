import BelfryLoop
import BelfryModel
import BelfryStore

/// What a broker does beside answering requests, on one of its loops: relays, sweeps, rooms. There is no leader and no
/// lease: every broker relays, which is idempotent, and sweeps partitions that none has swept for a while.
struct MaintenanceTasks {
  /// How often all outboxes are looked at, for what a broker committed and died before relaying. Until it is relayed, an
  /// account does not see a space it joined. A look is one cheap command for each partition.
  static let relayInterval: Duration = .seconds(3)
  /// The pause between two partitions of a round. Entries beyond retention are hidden at once; sweeping only frees memory.
  static let sweepStepMilliseconds: Int64 = 250
  /// The pause between two rounds, for deployments with few partitions in use; half of retention if that is less.
  static let sweepPauseMaxMilliseconds: Int64 = 30_000

  let loop: EventLoop
  let runner: OperationRunner
  private var store: any Store { runner.store }
  private var sweepPauseMilliseconds: Int64 {
    min(Self.sweepPauseMaxMilliseconds, runner.limits.retentionMilliseconds / 2)
  }

  func start(in scope: LoopScope) {
    scope.start { await relay() }
    scope.start { await sweep() }
    scope.start { await lookAfterRooms() }
  }

  private func relay() async {
    while await pause(Self.relayInterval) {
      // While the store is away, its outboxes wait.
      guard let partitions = try? await store.partitionsToRelay() else { continue }
      for partition in partitions { try? await store.relayOutbox(of: partition) }
    }
  }

  private func sweep() async {
    while await pause(.milliseconds(sweepPauseMilliseconds)) {
      let partitions = await partitionsInUse()
      // A little less than a round takes, so that several brokers together sweep no more than one would. In the same order
      // each time: a partition that came last in one round and first in the next would not be due.
      let interval = max(sweepPauseMilliseconds, Self.sweepStepMilliseconds * Int64(partitions.count))
      for partition in partitions {
        guard await pause(.milliseconds(Self.sweepStepMilliseconds)) else { return }
        let isDue = try? await store.beginSweep(of: partition, everyMilliseconds: interval)
        if isDue == true { try? await store.sweep(partition) }
      }
    }
  }

  /// A partition in which no id was ever allotted holds nothing.
  private func partitionsInUse() async -> [Partition] {
    let all = store.partitions.all
    guard let lastIDs = try? await store.lastIDs(of: all) else { return [] }
    return zip(all, lastIDs).filter { $0.1 != .zero }.map(\.0)
  }

  private func lookAfterRooms() async {
    let timer = RoomTimer(runner)
    while await pause(RoomTimer.interval) { try? await timer.checkDueRooms() }
  }

  /// - Returns: false when the task is to end.
  private func pause(_ duration: Duration) async -> Bool {
    do {
      try await loop.sleep(for: duration)
      return true
    } catch {
      return false
    }
  }
}
