import BelfryModel
import ModelSamples
import Testing

struct IntervalsTests {
  @Test(arguments: [(10, false), (11, true), (20, true), (21, false)] as [(MessageID, Bool)])
  func anIntervalBeginsAfterAndEndsWith(id: MessageID, isInside: Bool) {
    #expect(Interval(after: 10, through: 20).contains(id) == isInside)
  }

  @Test func anIntervalThatLastsHasNoEnd() {
    #expect(Interval(after: 10).contains(.last))
    #expect(!Interval(after: 10).contains(10))
    #expect(!Interval(after: 10, through: 10).contains(10))
  }

  @Test func openingTwiceIsOpeningOnce() throws {
    var intervals = Intervals.since(5)
    try intervals.open(after: 7, retentionFloor: .zero, "")
    #expect(intervals.all == [Interval(after: 5)])
  }

  @Test func closingTwiceIsClosingOnce() {
    var intervals = Intervals.since(5)
    intervals.close(through: 7)
    intervals.close(through: 9)
    #expect(intervals.all == [Interval(after: 5, through: 7)])
    #expect(intervals.current == nil)
    var none = Intervals()
    none.close(through: 9)
    #expect(none.isEmpty)
  }

  @Test func comingAndGoingIsRemembered() throws {
    var intervals = Intervals()
    for start in stride(from: 10, to: 50, by: 10) {
      try intervals.open(after: MessageID(Int64(start)) ?? .zero, retentionFloor: .zero, "")
      intervals.close(through: MessageID(Int64(start + 5)) ?? .zero)
    }
    #expect(intervals.contains(11) && intervals.contains(45))
    #expect(!intervals.contains(16) && !intervals.contains(50))
  }

  @Test func whatEndedBeforeTheFloorIsForgotten() {
    var intervals = Intervals([
      Interval(after: 1, through: 9), Interval(after: 10, through: 20), Interval(after: 30),
    ])
    intervals.forget(before: 20)
    #expect(intervals.all.map(\.after) == [10, 30])
  }

  @Test func anEndThatOnlyTheCommitKnowsIsLaterThanAnyFloor() {
    var intervals = Intervals.since(1)
    intervals.close(through: .endOfThisCommit)
    intervals.forget(before: .last)
    #expect(intervals.all.count == 1)
  }

  @Test func leavingEndsEverything() {
    var membership = Membership(
      intervals: .since(1), subscription: .since(2),
      channels: [7: .init(intervals: .since(3), subscription: .since(4))])
    membership.leave(through: 9)
    #expect(membership.intervals.current == nil)
    #expect(membership.subscription.current == nil)
    #expect(membership.channels[7]?.intervals.current == nil)
    #expect(membership.channels[7]?.subscription.current == nil)
    membership.forget(before: 10)
    #expect(membership == .never)
  }
}
