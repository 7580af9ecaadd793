import Testing

@testable import BelfryHub

@Suite struct FanOutRoundTests {
  /// A list that changes while the round is on its way, as those of a space that is never quiet.
  @Test func everybodyIsToldOfTheLatest() {
    let chance = Chance(seed: 5)
    var round = FanOutRound()
    var list: [Int] = []
    var (newest, latest) = (0, 0)
    /// The latest that each has been told of, or did not need to be: it was there when they came.
    var told: [Int: Int] = [:]
    for _ in 0..<50_000 {
      switch chance.below(40) {
      case 0:
        latest += 1
        round.begin(count: list.count)
      case 1, 2:
        newest += 1
        list.append(newest)
        told[newest] = latest
        round.added()
      case 3 where list.count > chance.below(100), 4 where list.count > chance.below(100):
        let place = chance.below(list.count)
        let last = list.removeLast()
        guard place < list.count else { break }
        list[place] = last
        if round.isUnderWay { told[last] = latest }
      default:
        if let place = round.next(count: list.count) { told[list[place]] = latest }
      }
      if !round.isUnderWay { #expect(list.allSatisfy { told[$0] == latest }) }
    }
    #expect(latest > 1_000 && newest > 1_000)
  }

  /// However often something arrives on the way.
  @Test func theLastIsToldWhereThereIsAlwaysSomething() {
    var round = FanOutRound()
    var told: Set<Int> = []
    for _ in 0..<100 {
      round.begin(count: 100)
      if let place = round.next(count: 100) { told.insert(place) }
    }
    #expect(told.count == 100)
  }
}
