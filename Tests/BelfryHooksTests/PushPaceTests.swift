import Testing

@testable import BelfryHooks

@Suite struct PushPaceTests {
  private let start = ContinuousClock.now

  /// Lets loops begin pushes for ten seconds, four times a second.
  /// - Parameter wanted: for each loop, how many pushes it has at each look.
  /// - Returns: the pushes that each began.
  private func begun(perSecond: Int, wanted: [Int]) -> [Int] {
    let spare = SparePace(perSecond: perSecond)
    let share = Double(perSecond) / Double(wanted.count)
    var paces = wanted.map { _ in PushPace(perSecond: share, spare, now: start) }
    var begun = wanted.map { _ in 0 }
    for look in 1...40 {
      for (loop, wanted) in wanted.enumerated() {
        let allowed = paces[loop].refill(now: start + .milliseconds(250 * look), atMost: 256)
        let count = min(allowed, wanted)
        paces[loop].takeTurns(count, of: allowed)
        begun[loop] += count
      }
    }
    return begun
  }

  @Test func aLoopUsesWhatTheOthersLeave() {
    let begun = begun(perSecond: 40, wanted: [256, 0, 0, 0])
    #expect(begun[0] > 360 && begun[0] <= 400)
    #expect(begun.dropFirst().allSatisfy { $0 == 0 })
  }

  @Test func eachLoopHasItsShareWhenAllHaveWork() {
    #expect(begun(perSecond: 40, wanted: [256, 256, 256, 256]) == [100, 100, 100, 100])
  }

  @Test(arguments: [[3, 0, 200], [1, 1, 1], [0, 256, 256], [2, 256, 0]]) func allTogetherKeepThePace(
    wanted: [Int]
  ) {
    let all = begun(perSecond: 120, wanted: wanted).reduce(0, +)
    #expect(all <= 1_200, "the pace of ten seconds")
  }

  @Test func whatIsNotTakenIsKeptForHalfASecond() {
    let spare = SparePace(perSecond: 40)
    var pace = PushPace(perSecond: 20, spare, now: start)
    let hour = start + .seconds(3_600)
    // Its own half second and the spare of half a second.
    #expect(pace.refill(now: hour, atMost: 256) == 30)
    pace.takeTurns(12, of: 30)
    #expect(pace.refill(now: hour, atMost: 256) == 18)
    #expect(pace.refill(now: hour, atMost: 5) == 5)
  }
}
