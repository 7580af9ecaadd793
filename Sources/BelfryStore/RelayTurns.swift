import BelfryModel

/// Lets one caller at a time relay the outbox of a partition. Callers that come meanwhile share the next relay: the one
/// under way may have read the outbox before their items were in it.
struct RelayTurns<Waiter> {
  private struct Turn {
    /// Callers that wait for the relay under way.
    var sharing: [Waiter] = []
    /// Callers that wait for the relay after it.
    var next: [Waiter] = []
  }

  private var turns: [Partition: Turn] = [:]

  /// False: another relay is under way, and the caller has to wait.
  mutating func begin(_ partition: Partition) -> Bool {
    guard turns[partition] == nil else { return false }
    turns[partition] = Turn()
    return true
  }

  /// - Returns: the waiter itself, if the relay has ended since ``begin(_:)`` found it under way: the caller carries out
  ///   the next one, since nothing would resume it.
  mutating func wait(_ waiter: Waiter, for partition: Partition) -> Waiter? {
    if begin(partition) { return waiter }
    turns[partition]?.next.append(waiter)
    return nil
  }

  /// The relay has ended.
  /// - Returns: the callers that shared it, and the one that is to carry out the next relay; nil if none waits.
  mutating func end(_ partition: Partition) -> (sharing: [Waiter], leader: Waiter?) {
    guard let turn = turns.removeValue(forKey: partition) else { return ([], nil) }
    guard let leader = turn.next.first else { return (turn.sharing, nil) }
    turns[partition] = Turn(sharing: Array(turn.next.dropFirst()))
    return (turn.sharing, leader)
  }
}
