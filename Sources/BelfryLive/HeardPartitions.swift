import BelfryLoop
import BelfryModel
import BelfryStore

/// The partitions whose live messages are accepted.
///
/// After their channels were lost, two things must hold before messages are taken again: the channels are subscribed, and
/// the partition answers. A Redis that has just started lets a loop subscribe seconds before it serves anything. If the
/// loop had its consumers read from the store at that moment, they would wait for this Redis, and would show nothing of
/// the other partitions meanwhile.
final class HeardPartitions {
  private let loop: EventLoop
  private let scope: LoopScope
  private let store: any Store
  private var unheard: Set<Partition> = []
  /// Those of the unheard partitions whose channels are subscribed again.
  private var subscribed: Set<Partition> = []
  /// Called when messages of these partitions are accepted again. Messages before that were missed.
  var onRegained: ([Partition]) -> Void = { _ in }

  /// How soon a partition that has not answered is asked again.
  private static let pause: Duration = .milliseconds(100)

  init(loop: EventLoop, scope: LoopScope, store: any Store) {
    self.loop = loop
    self.scope = scope
    self.store = store
  }

  /// Messages of one channel would move cursors past entries that were missed in other channels of the same partition.
  /// So while its channels are subscribed again, one after the other, no message of a partition is taken.
  func isHeard(_ space: SpaceID) -> Bool {
    unheard.isEmpty || !unheard.contains(store.partitions.holding(space))
  }

  /// Their live channels are lost.
  func lose(_ partitions: [Partition]) {
    unheard.formUnion(partitions)
    subscribed.subtract(partitions)
  }

  /// All their live channels are subscribed again.
  func regain(_ partitions: [Partition]) {
    let neverLost = partitions.filter { !unheard.contains($0) }
    if !neverLost.isEmpty { onRegained(neverLost) }
    let lost = partitions.filter { unheard.contains($0) }
    subscribed.formUnion(lost)
    waitForAnswer(of: lost)
  }

  private func waitForAnswer(of partitions: [Partition]) {
    guard !partitions.isEmpty else { return }
    scope.start { [self] in await takeWhenAnswering(partitions) }
  }

  private func takeWhenAnswering(_ partitions: [Partition]) async {
    var waiting = partitions
    while !waiting.isEmpty, !Task.isCancelled {
      do throws(StoreError) {
        _ = try await store.lastIDs(of: waiting)
        return take(waiting)
      } catch {
        // One that does not answer must not hold up the others.
        if waiting.count > 1 { return waiting.forEach { waitForAnswer(of: [$0]) } }
        try? await loop.sleep(for: Self.pause)
      }
      waiting.removeAll { !subscribed.contains($0) }
    }
  }

  private func take(_ partitions: [Partition]) {
    // Some may have been lost again while the question was under way.
    let regained = partitions.filter { subscribed.remove($0) != nil }
    guard !regained.isEmpty else { return }
    unheard.subtract(regained)
    onRegained(regained)
  }
}
