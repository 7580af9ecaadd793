import BelfryModel

/// Who relays the outbox of a partition, and who waits for it. One caller relays at a time. Who comes meanwhile
/// waits for the next relay, since the one under way may have read the outbox before their item was in it; and
/// all who wait share that one.
struct RelayTurns<Waiter> {
  private struct Turn {
    /// Wait for the relay that is under way.
    var sharing: [Waiter] = []
    /// Wait for the one after it.
    var next: [Waiter] = []
  }

  private var turns: [Partition: Turn] = [:]

  /// False: another relay is under way, and the caller has to wait.
  mutating func begin(_ partition: Partition) -> Bool {
    guard turns[partition] == nil else { return false }
    turns[partition] = Turn()
    return true
  }

  /// - Returns: the waiter, if the relay has ended since it was found under way: it carries out the next one. Kept, it
  ///   would wait for ever, and with it whoever asked for what is to be relayed.
  mutating func wait(_ waiter: Waiter, for partition: Partition) -> Waiter? {
    if begin(partition) { return waiter }
    turns[partition]?.next.append(waiter)
    return nil
  }

  /// The relay has ended.
  /// - Returns: who shared it, and who has to carry out the next one, if anybody waits for that.
  mutating func end(_ partition: Partition) -> (sharing: [Waiter], leader: Waiter?) {
    guard let turn = turns.removeValue(forKey: partition) else { return ([], nil) }
    guard let leader = turn.next.first else { return (turn.sharing, nil) }
    turns[partition] = Turn(sharing: Array(turn.next.dropFirst()))
    return (turn.sharing, leader)
  }
}
