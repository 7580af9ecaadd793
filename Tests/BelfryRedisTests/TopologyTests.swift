import Testing

@testable import BelfryRedis

@Suite struct TopologyTests {
  typealias Address = RedisEndpoint.Address
  private let seed = Address.tcp(host: "seed", port: 1)
  private let start = ContinuousClock.now

  private func map(_ masters: [String]) -> SlotMap {
    var map = SlotMap(only: .tcp(host: masters[0], port: 1))
    for (slot, host) in masters.enumerated() { map.move(slot, to: .tcp(host: host, port: 1)) }
    return map
  }

  @Test func theFirstQuestionGoesToTheSeed() {
    var machine = TopologyStateMachine(seed: seed)
    #expect(machine.next(now: start) == .ask(seed))
    #expect(machine.next(now: start) == .none, "one at a time")
    #expect(machine.doubt(now: start) == .none)
  }

  @Test func aNodeThatDoesNotAnswerIsFollowedByTheNext() {
    var machine = TopologyStateMachine(seed: seed)
    _ = machine.take(TopologyAnswer(map(["a", "b", "c"]), epoch: 3))
    var asked: Set<Address> = []
    var now = start
    for _ in 0..<4 {
      var action = machine.next(now: now)
      if case .wait(let pause) = action {
        now += pause
        action = machine.next(now: now)
      }
      guard case .ask(let address) = action else { break }
      asked.insert(address)
      _ = machine.ended(isAnswered: false, now: now)
    }
    #expect(asked.count == 4, "the three, and the seed")
  }

  /// A master that is cut off goes on naming itself.
  @Test func anOlderAnswerDoesNotCount() {
    var machine = TopologyStateMachine(seed: seed)
    let first = machine.take(TopologyAnswer(map(["a", "b"]), epoch: 7))
    #expect(first)
    let older = [
      TopologyAnswer(map(["old", "b"]), epoch: 6),
      TopologyAnswer(map(["old", "b"]), epoch: 7, isServing: false),
    ].map { machine.take($0) }
    #expect(older == [false, false])
    #expect(machine.map == map(["a", "b"]))
    let newer = [
      TopologyAnswer(map(["new", "b"]), epoch: 8, isServing: false),
      TopologyAnswer(map(["new", "b"]), epoch: 8),
    ].map { machine.take($0) }
    #expect(newer == [true, false], "others are served all the same; the second has nothing new")
  }

  /// Its nodes count from the beginning again, and would not be believed for ever.
  @Test func aClusterThatWasMadeAgainIsBelievedInTheEnd() {
    var machine = TopologyStateMachine(seed: seed)
    _ = machine.take(TopologyAnswer(map(["a", "b"]), epoch: 70))
    let again = TopologyAnswer(map(["b", "a"]), epoch: 6)
    for _ in 1..<TopologyStateMachine.olderAnswersMax {
      let taken = [machine.take(again), machine.take(TopologyAnswer(map(["x"]), epoch: 5, isServing: false))]
      #expect(taken == [false, false])
    }
    // One of the known epoch is among them.
    _ = machine.take(TopologyAnswer(map(["a", "b"]), epoch: 70))
    for _ in 1..<TopologyStateMachine.olderAnswersMax { _ = machine.take(again) }
    #expect(machine.map == map(["a", "b"]))
    let last = machine.take(again)
    #expect(last && machine.map == map(["b", "a"]))
  }

  @Test func questionsAreSpacedAndMoreOftenAskedInDoubt() {
    var machine = TopologyStateMachine(seed: seed)
    _ = machine.next(now: start)
    _ = machine.take(TopologyAnswer(map(["a"]), epoch: 1))
    #expect(machine.ended(isAnswered: true, now: start) == .wait(TopologyStateMachine.interval))
    #expect(machine.doubt(now: start) == .wait(TopologyStateMachine.intervalMin))
    #expect(machine.doubt(now: start + .milliseconds(99)) == .wait(.milliseconds(1)))
    guard case .ask = machine.next(now: start + .milliseconds(100)) else {
      Issue.record("it is time")
      return
    }
  }

  /// Doubts that come while a question is under way are not answered by it.
  @Test func aDoubtDuringAQuestionLeadsToAnother() {
    var machine = TopologyStateMachine(seed: seed)
    _ = machine.next(now: start)
    _ = machine.doubt(now: start)
    _ = machine.take(TopologyAnswer(map(["a"]), epoch: 1))
    #expect(machine.ended(isAnswered: true, now: start) == .wait(TopologyStateMachine.intervalMin))
  }
}
