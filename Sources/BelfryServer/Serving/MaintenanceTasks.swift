import BelfryLoop
import BelfryModel
import BelfryStore

/// What a broker does beside answering requests, on one of its loops: relays, sweeps, rooms. There is no leader and no
/// lease: every broker relays, which is idempotent, and sweeps partitions that none has swept for a while.
struct MaintenanceTasks {
  /// How often all outboxes are looked at, for what a broker committed and died before relaying. Until it is relayed, an
  /// account does not see a space it joined. A look is one cheap command for each partition.
  static let relayInterval: Duration = .seconds(3)

  let loop: EventLoop
  let runner: OperationRunner
  private var store: any Store { runner.store }

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

  /// Entries beyond retention are hidden at once; sweeping only frees memory.
  private func sweep() async {
    let retention = runner.limits.retentionMilliseconds
    while await pause(.milliseconds(SweepPace.pause(retentionMilliseconds: retention))) {
      let partitions = await partitionsInUse()
      guard let spaces = try? await store.spaceCount() else { continue }
      let pace = SweepPace(spaces: spaces, partitions: partitions.count, retentionMilliseconds: retention)
      // In the same order each time: a partition that came last in one round and first in the next would not be due.
      for partition in partitions {
        guard await pause(.milliseconds(pace.stepMilliseconds)) else { return }
        let isDue = try? await store.beginSweep(of: partition, everyMilliseconds: pace.intervalMilliseconds)
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
