import BelfryLoop
import BelfryModel
import BelfryStore
import BelfrySystem

/// Sweeps all due partitions, one after the other. Entries beyond retention are hidden at once, and sweeping
/// only frees memory. So it waits while there is doubt about the clock.
final class PartitionSweep {
  private let loop: EventLoop
  private let store: any Store
  private let limits: Limits
  private let brokerMilliseconds: () -> Int64
  private let report: (ClockDoubt?) -> Void
  private var clocks: [Partition: SweepClock] = [:]
  private var doubts: [Partition: ClockDoubt] = [:]

  /// - Parameters:
  ///   - brokerMilliseconds: the broker's own clock, milliseconds since 1970.
  ///   - report: called after each partition with the reason for which the sweep is paused in any of them; nil if
  ///     it does not wait.
  init(
    loop: EventLoop, store: any Store, limits: Limits,
    brokerMilliseconds: @escaping () -> Int64 = { WallClock.nowMilliseconds() },
    report: @escaping (ClockDoubt?) -> Void
  ) {
    (self.loop, self.store, self.limits) = (loop, store, limits)
    (self.brokerMilliseconds, self.report) = (brokerMilliseconds, report)
  }

  /// The pause between two rounds.
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
    // The order is the same each time. Otherwise a partition could be last in one round and first in the
    // next, and would not be due.
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
    let reading = try await store.sweepReading(of: partition)
    guard isBelieved(reading, of: partition, everyMilliseconds: interval) else { return }
    guard try await store.beginSweep(of: partition, everyMilliseconds: interval) else { return }
    // The sweep uses this reading and no later one, because the clock may step at any moment.
    try await store.sweep(partition, nowMilliseconds: reading.timeMilliseconds)
  }

  private func isBelieved(
    _ reading: SweepReading, of partition: Partition, everyMilliseconds interval: Int64
  ) -> Bool {
    var clock =
      clocks[partition]
      ?? SweepClock(
        intervalMilliseconds: interval, retentionMilliseconds: limits.retentionMilliseconds)
    let doubt = clock.judge(reading, brokerMilliseconds: brokerMilliseconds(), now: .now)
    clocks[partition] = clock
    doubts[partition] = doubt
    report(doubts.values.max { $0.milliseconds < $1.milliseconds })
    return doubt == nil
  }

  /// The partitions in use. A partition in which no id was ever allotted is empty.
  private func partitionsInUse() async throws(StoreError) -> [Partition] {
    let all = store.partitions.all
    return zip(all, try await store.lastIDs(of: all)).filter { $0.1 != .zero }.map(\.0)
  }
}
