import TestKit
import Testing

@testable import BelfryRedis

@Suite struct SentinelStateMachineTests {
  typealias Address = RedisEndpoint.Address
  private let sentinels = (1...3).map { Address.tcp(host: "s\($0)", port: 26_379) }
  private let old = Address.tcp(host: "old", port: 6_379)
  private let new = Address.tcp(host: "new", port: 6_379)
  private let start = ContinuousClock.now

  @Test func theFirstThatAnswersIsAskedFirstFromThenOn() {
    var machine = SentinelStateMachine(sentinels)
    #expect(machine.locate(now: start) == .ask(sentinels[0]))
    #expect(machine.locate(now: start) == .none, "one at a time")
    #expect(machine.failed(now: start) == .ask(sentinels[1]))
    #expect(machine.answered(SentinelAnswer(old), now: start) == .found(old))
    #expect(machine.master == old)
    #expect(machine.locate(now: start) == .found(old), "who asks at the same time")
    let later = start + SentinelStateMachine.answerAge
    #expect(machine.locate(now: later) == .ask(sentinels[1]))
  }

  @Test func whereNamedNodeIsNoMasterAnotherSentinelIsAskedAtOnce() {
    var machine = SentinelStateMachine(sentinels)
    _ = machine.locate(now: start)
    _ = machine.answered(SentinelAnswer(old), now: start)
    machine.refuse(new)
    #expect(machine.locate(now: start) == .found(old), "another's refusal says nothing of it")
    machine.refuse(old)
    machine.refuse(old)
    #expect(machine.locate(now: start) == .ask(sentinels[1]), "several links lose the same master")
    #expect(machine.answered(SentinelAnswer(new), now: start) == .found(new))
  }

  @Test func aNameThatNobodyKnowsFailsAndOneThatAnotherKnowsDoesNot() {
    var machine = SentinelStateMachine(sentinels)
    _ = machine.locate(now: start)
    let unknown = SentinelAnswer(nil)
    #expect(machine.answered(unknown, now: start) == .ask(sentinels[1]))
    #expect(machine.failed(now: start) == .ask(sentinels[2]))
    #expect(machine.answered(unknown, now: start) == .fail(.unknownName))
    let later = start + .seconds(1)
    #expect(machine.locate(now: later) == .ask(sentinels[0]))
    #expect(machine.answered(unknown, now: later) == .ask(sentinels[1]))
    #expect(machine.answered(SentinelAnswer(old), now: later) == .found(old))
  }

  @Test func withAllSentinelsGoneTheLastMasterIsTriedAndTheyAreAskedEverMoreRarely() {
    var machine = SentinelStateMachine(sentinels)
    var now = start
    #expect(machine.locate(now: now) == .ask(sentinels[0]))
    #expect(failRound(&machine, now) == .fail(.noAnswer), "nothing is known yet")
    #expect(machine.locate(now: now) == .fail(.noAnswer))
    now += .milliseconds(100)
    #expect(machine.locate(now: now) == .ask(sentinels[0]))
    #expect(machine.answered(SentinelAnswer(old), now: now) == .found(old))
    machine.refuse(old)
    var pauses: [Duration] = []
    for _ in 0..<6 {
      var pause = Duration.zero
      while machine.locate(now: now + pause) == .found(old) { pause += .milliseconds(50) }
      pauses.append(pause)
      now += pause
      #expect(failRound(&machine, now) == .found(old))
    }
    #expect(pauses == [0, 100, 200, 400, 800, 1_000].map { .milliseconds($0) })
  }

  private func failRound(
    _ machine: inout SentinelStateMachine, _ now: ContinuousClock.Instant
  ) -> SentinelStateMachine.Action {
    _ = machine.failed(now: now)
    _ = machine.failed(now: now)
    return machine.failed(now: now)
  }

  @Test func itLooksByItselfNowAndThen() {
    var machine = SentinelStateMachine(sentinels)
    _ = machine.locate(now: start)
    #expect(machine.look(now: start) == .none)
    _ = machine.answered(SentinelAnswer(old), now: start)
    #expect(machine.look(now: start + .milliseconds(400)) == .wait(.milliseconds(600)))
    #expect(machine.look(now: start + .seconds(1)) == .ask(sentinels[0]))
    #expect(machine.answered(SentinelAnswer(new), now: start + .seconds(1)) == .found(new))
  }

  @Test func moreSentinelsAreLearntAndForgotten() {
    var machine = SentinelStateMachine([sentinels[0]])
    _ = machine.locate(now: start)
    _ = machine.answered(SentinelAnswer(old, others: Array(sentinels[1...])), now: start)
    #expect(machine.sentinels == sentinels)
    _ = machine.look(now: start + .seconds(1))
    #expect(machine.failed(now: start + .seconds(1)) == .ask(sentinels[1]))
    _ = machine.answered(SentinelAnswer(old, others: [sentinels[0]]), now: start + .seconds(1))
    #expect(machine.sentinels == [sentinels[1], sentinels[0]], "the third was removed")
    let many = (0..<100).map { Address.tcp(host: "many\($0)", port: 1) }
    _ = machine.look(now: start + .seconds(2))
    _ = machine.answered(SentinelAnswer(old, others: many), now: start + .seconds(2))
    #expect(machine.sentinels.count == SentinelStateMachine.sentinelsMax)
    #expect(machine.sentinels.contains(sentinels[0]), "it was configured")
  }

  @Test func answersAreRead() throws {
    let named = words("10.0.0.2", "6380")
    let others = RedisReply.array([
      words("name", "x", "ip", "10.0.0.3", "port", "26379"), words("ip", "10.0.0.4", "port", "0"),
    ])
    #expect(
      try SentinelAnswer([named, others])
        == SentinelAnswer(
          .tcp(host: "10.0.0.2", port: 6_380), others: [.tcp(host: "10.0.0.3", port: 26_379)]))
    #expect(try SentinelAnswer([.null, .error("ERR No such master with that name")]) == SentinelAnswer(nil))
    for wrong in [words("10.0.0.2"), words("10.0.0.2", "0"), .error("NOPERM"), .integer(1)] {
      #expect(throws: RedisError.self) { try SentinelAnswer([wrong, others]) }
    }
  }

  private func words(_ words: String...) -> RedisReply {
    .array(words.map { RedisReply.bulk(Array($0.utf8)[...]) })
  }
}
