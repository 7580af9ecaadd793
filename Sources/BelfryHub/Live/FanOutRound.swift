/// Goes round a space's list of followed spaces, some of them a turn of the loop, until each that was there when
/// something last arrived has been told of it.
///
/// What arrives meanwhile lets the round go on from where it is: beginning anew at the first one each time, it would
/// never come to the last where there is always something. The list changes under it: who is added is told for
/// nothing; the last one takes the place of who is removed, and whoever moves it there tells it at once.
struct FanOutRound {
  private var place = 0
  private var left = 0

  var isUnderWay: Bool { left > 0 }

  mutating func begin(count: Int) { left = count }

  /// At the end of the list: on its way there the round passes one more.
  mutating func added() {
    if left > 0 { left += 1 }
  }

  /// - Returns: the index of who is next; nil when it has come round.
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
