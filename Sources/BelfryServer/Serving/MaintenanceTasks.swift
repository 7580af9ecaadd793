import BelfryLoop
import BelfryModel
import BelfryStore

/// What a broker does beside answering, on one of its loops. None asks another to do it: every broker relays, which
/// is harmless twice, and every broker sweeps what none has swept for a while. A lease would be one more thing to
/// lose.
struct MaintenanceTasks {
  /// What another broker committed and did not live to relay waits in an outbox. Meanwhile an account does
  /// not see a space it joined, so not for long; looking is one cheap command for each partition.
  static let relayInterval: Duration = .seconds(3)
  /// One partition at a time, of those that hold anything. What is beyond retention is hidden from readers at once;
  /// sweeping only frees its memory.
  static let sweepStepMilliseconds: Int64 = 250
  /// Between two rounds of a deployment with few partitions in use, which would otherwise be swept over and
  /// over. Half of retention if that is less: nothing is to lie about for long after it.
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
      // A store that is away will be back; what waits there waits on.
      guard let partitions = try? await store.partitionsToRelay() else { continue }
      for partition in partitions { try? await store.relayOutbox(of: partition) }
    }
  }

  private func sweep() async {
    while await pause(.milliseconds(sweepPauseMilliseconds)) {
      let partitions = await partitionsInUse()
      // A little less than a round takes: however many brokers there are, all of them together sweep no more than
      // one would. In the same order each time, or what came last in one round and first in the next was not due.
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

  /// False when it is time to end.
  private func pause(_ duration: Duration) async -> Bool {
    do {
      try await loop.sleep(for: duration)
      return true
    } catch {
      return false
    }
  }
}
