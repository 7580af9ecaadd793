import BelfryLoop
import BelfryModel
import BelfryStore

/// What a broker does beside answering. Every broker does all of it, on one of its loops, and none of them
/// asks another: relaying or sweeping twice is harmless, and a lease would be one more thing to lose.
struct Duties {
  /// What another broker committed and did not live to relay waits in an outbox. Meanwhile an account does
  /// not see a space it joined, so not for long; looking is one cheap command.
  static let relayInterval: Duration = .seconds(3)
  /// One partition at a time, of those that hold anything: all 1,024 in about four minutes. What is beyond
  /// retention is hidden from readers at once; sweeping only frees its memory.
  static let sweepInterval: Duration = .milliseconds(250)
  /// Between two rounds of a deployment with few partitions in use, which would otherwise be swept over and
  /// over. Half of retention if that is less: nothing is to lie about for long after it.
  static let sweepPauseMax: Duration = .seconds(30)

  let loop: EventLoop
  let runner: OperationRunner
  private var store: any Store { runner.store }
  private var sweepPause: Duration {
    min(Self.sweepPauseMax, .milliseconds(runner.limits.retentionMilliseconds / 2))
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
    while await pause(sweepPause) {
      // Several brokers seldom sweep the same partition at the same time when each goes its own way.
      for partition in await partitionsInUse().shuffled() {
        guard await pause(Self.sweepInterval) else { return }
        try? await store.sweep(partition)
      }
    }
  }

  /// A partition in which no id was ever allotted holds nothing.
  private func partitionsInUse() async -> [Partition] {
    let all = Partition.allCases
    guard let lastIDs = try? await store.lastIDs(of: all) else { return [] }
    return zip(all, lastIDs).filter { $0.1 != .zero }.map(\.0)
  }

  private func lookAfterRooms() async {
    let clock = RoomClock(runner)
    while await pause(RoomClock.interval) { try? await clock.lookAround() }
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
