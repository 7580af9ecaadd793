import Testing

@testable import BelfryServer

/// The time at which a socket's client counts as gone.
@Suite struct SocketLivenessTests {
  typealias Seen = SocketLiveness.Seen

  private func verdicts(_ beats: [Seen]) -> [SocketLiveness.Verdict] {
    var liveness = SocketLiveness()
    return beats.map { liveness.beat($0) }
  }

  @Test func whoAnswersIsAskedAgain() {
    #expect(
      verdicts([Seen(), Seen(isHeard: true), Seen(isHeard: true), Seen()]) == [.ask, .ask, .ask, .silent])
    #expect(verdicts([Seen(), Seen()]) == [.ask, .silent])
  }

  @Test func whoTakesNothingHasAnotherLimit() {
    #expect(verdicts([Seen(), Seen(isPaused: true), Seen(), Seen()]) == [.ask, .wait, .ask, .silent])
  }

  /// The question waits behind earlier data.
  @Test func whoReadsSlowlyHasABeatFromWhenItArrived() {
    let late = Seen(isOnItsWay: true)
    #expect(verdicts([Seen(), late, late, Seen(isHeard: true)]) == [.ask, .wait, .wait, .ask])
    #expect(verdicts([Seen(), late, late, Seen(), Seen()]) == [.ask, .wait, .wait, .wait, .silent])
    #expect(
      verdicts([Seen(), late, Seen(), Seen(isHeard: true), Seen()]) == [.ask, .wait, .wait, .ask, .silent])
    let most = [Seen](repeating: late, count: SocketLiveness.delayBeatsMax)
    #expect(verdicts([Seen()] + most).last == .wait)
    #expect(verdicts([Seen()] + most + [late]).last == .silent)
  }

  @Test func aMessageThatDoesNotEnd() {
    let within = Seen(isHeard: true, isWithinMessage: true)
    #expect(verdicts([within, within, within]) == [.ask, .ask, .silent])
    var liveness = SocketLiveness()
    for _ in 0..<6 {
      #expect(liveness.beat(within) == .ask)
      liveness.hearMessage()
    }
  }
}
