/// Goes round a space's list of followers, some of them in each turn of the loop, until each follower that was there
/// when something last arrived has been notified.
///
/// When something arrives meanwhile, the round goes on from where it is and comes round once more. If it began again
/// at the first follower, it would never come to the last one of a busy space. The list changes during a round: an
/// added follower is notified, too, although it needs nothing. When a follower is removed, the last one takes its
/// place, and ``ActiveSpace`` notifies that one at once.
struct FanOutRound {
  private var place = 0
  private var left = 0

  var isUnderWay: Bool { left > 0 }

  mutating func begin(count: Int) { left = count }

  /// A follower was added at the end of the list, so the round has one more to pass before it has come round.
  mutating func added() {
    if left > 0 { left += 1 }
  }

  /// - Returns: the index of the next follower; nil if the round has come round.
  mutating func next(count: Int) -> Int? {
    guard left > 0, count > 0 else {
      left = 0
      return nil
    }
    left -= 1
    if place >= count { place = 0 }
    defer { place += 1 }
    return place
  }
}
