import Testing

@testable import BelfryHooks

@Suite struct FailureRowsTests {
  private enum Step {
    case fail(String, second: Int)
    case succeed(String)
    case interrupt(String)
  }

  /// Whether each step is told.
  private func told(countMax: Int = 8, _ steps: [Step]) -> [Bool] {
    var rows = FailureRows<String>(countMax: countMax)
    let start = ContinuousClock.now
    return steps.map { step in
      switch step {
      case .fail(let receiver, let second): return rows.fail(receiver, now: start + .seconds(second))
      case .succeed(let receiver): return rows.succeed(receiver)
      case .interrupt(let receiver):
        rows.noteInterruption(of: receiver)
        return false
      }
    }
  }

  @Test func theFirstFailureOfARowIsToldAndItsEnd() {
    let steps: [Step] = [
      .succeed("a"), .fail("a", second: 0), .fail("a", second: 600), .fail("b", second: 600), .succeed("a"),
      .succeed("a"), .fail("a", second: 601), .succeed("b"),
    ]
    #expect(told(steps) == [false, true, false, true, true, false, true, true])
  }

  /// Two lines a minute at most, and a row that lasts is told in the end.
  @Test func aReceiverThatFailsNowAndThenIsToldOfSeldom() {
    let steps: [Step] =
      [.fail("a", second: 0), .succeed("a")]
      + (1..<60).flatMap { [.fail("a", second: $0), .succeed("a")] }
      + [.fail("a", second: 59), .fail("a", second: 60), .succeed("a")]
    #expect(told(steps) == [true, true] + Array(repeating: false, count: 119) + [true, true])
  }

  /// A webhook that failed was disabled, and somebody enables it again.
  @Test func afterAnInterruptionTheFirstFailureOrSuccessIsTold() {
    let begin: [Step] = [.fail("a", second: 0), .interrupt("a")]
    #expect(told(begin + [.succeed("a"), .succeed("a")]) == [true, false, true, false])
    #expect(
      told(begin + [.fail("a", second: 1), .fail("a", second: 2), .succeed("a")])
        == [true, false, true, false, true])
  }

  @Test func onlySoManyReceiversAreKept() {
    let steps: [Step] = [
      .fail("a", second: 0), .fail("b", second: 0), .fail("c", second: 61), .succeed("a"),
      .fail("c", second: 61), .succeed("c"), .succeed("b"),
    ]
    #expect(told(countMax: 2, steps) == [true, true, false, true, true, true, true])
  }
}
