import Testing

@testable import BelfryRedis

@Suite struct PipelineStateMachineTests {
  typealias Machine = PipelineStateMachine<String>
  let start = ContinuousClock.now
  let ping = RedisCommand("PING")

  @Test func repliesGoToWhoeverAskedFirst() {
    var machine = Machine.up()
    #expect(machine.send("a", [ping], timeout: .seconds(1), now: start) == "write")
    #expect(machine.send("b", [ping, ping], timeout: .seconds(1), now: start) == "write")
    #expect(machine.unansweredCommands == 3)
    #expect(machine.reply(.integer(1)) == "a [1]")
    #expect(machine.reply(.integer(2)) == "none")
    #expect(machine.reply(.integer(3)) == "b [2, 3]")
    #expect(machine.unansweredCommands == 0)
    #expect(machine.unansweredBytes == 0)
  }

  @Test func aReplyNobodyAskedForIsOutOfStep() {
    var machine = Machine.up()
    #expect(machine.reply(.integer(1)) == "out of step")
  }

  @Test func whatWaitsForTheFirstConnectionGoesOutInOrder() {
    var machine = Machine(endpoint: "test", limits: RedisLimits())
    machine.linkIsComingUp()
    #expect(machine.send("a", [RedisCommand("A")], timeout: .seconds(1), now: start) == "wait")
    #expect(machine.send("b", [RedisCommand("B")], timeout: .seconds(1), now: start) == "wait")
    #expect(machine.linkCameUp().map(\.name) == ["A", "B"])
    #expect(machine.reply(.integer(1)) == "a [1]")
    #expect(machine.reply(.integer(2)) == "b [2]")
  }

  @Test func whatWaitsFailsWhenTheFirstConnectionFails() {
    var machine = Machine(endpoint: "test", limits: RedisLimits())
    machine.linkIsComingUp()
    #expect(machine.send("a", [ping], timeout: .seconds(1), now: start) == "wait")
    #expect(machine.goDown(isComingUp: false) == ["a unavailable"])
    #expect(machine.send("b", [ping], timeout: .seconds(1), now: start) == "fail unavailable")
    #expect(machine.unansweredCommands == 0)
  }

  @Test func whatWaitsGivesUpAfterAWhileAndTheRestGoesOn() {
    var machine = Machine(endpoint: "test", limits: RedisLimits())
    machine.linkIsComingUp()
    #expect(machine.send("a", [ping], timeout: .seconds(1), now: start) == "wait")
    #expect(machine.send("b", [ping], timeout: .seconds(1), now: start + .milliseconds(100)) == "wait")
    #expect(machine.nextDeadline == start + .milliseconds(250))
    let expiry = machine.expire(now: start + .milliseconds(250))
    #expect(expiry.failures.map(\.waiter) == ["a"])
    #expect(expiry.failures.map(\.error.code) == [.unavailable])
    #expect(expiry.loss == nil)
    #expect(machine.linkCameUp().count == 1)
    #expect(machine.reply(.null) == "b [null]")
  }

  @Test func aLossFailsWhatIsInFlightAndTheNextWaits() {
    var machine = Machine.up()
    #expect(machine.send("a", [ping, ping], timeout: .seconds(1), now: start) == "write")
    #expect(machine.reply(.integer(1)) == "none")
    #expect(machine.goDown(isComingUp: true) == ["a connectionLost"])
    #expect(machine.send("b", [ping], timeout: .seconds(1), now: start) == "wait")
    #expect(machine.linkCameUp().count == 1)
    // The half-answered pipeline left nothing behind.
    #expect(machine.reply(.integer(2)) == "b [2]")
  }

  @Test func anOverdueReplySpoilsAllBehindIt() {
    var machine = Machine.up()
    #expect(machine.send("slow", [ping], timeout: .seconds(5), now: start) == "write")
    #expect(machine.send("quick", [ping], timeout: .seconds(1), now: start) == "write")
    #expect(machine.nextDeadline == start + .seconds(1))
    #expect(machine.expire(now: start + .milliseconds(999)).failures.isEmpty)
    let expiry = machine.expire(now: start + .seconds(1))
    #expect(
      expiry.failures.map { "\($0.waiter) \($0.error.code)" } == ["slow connectionLost", "quick timedOut"])
    #expect(expiry.loss?.code == .timedOut)
    #expect(machine.nextDeadline == nil)
    #expect(machine.unansweredCommands == 0)
    #expect(machine.goDown(isComingUp: true) == [])
  }

  @Test func limitsCountWhatWaitsToo() {
    var limits = RedisLimits()
    limits.unansweredCommandsMax = 3
    var machine = Machine(endpoint: "test", limits: limits)
    machine.linkIsComingUp()
    #expect(machine.send("a", [ping, ping], timeout: .seconds(1), now: start) == "wait")
    #expect(machine.send("b", [ping, ping], timeout: .seconds(1), now: start) == "fail overloaded")
    #expect(machine.send("c", [ping], timeout: .seconds(1), now: start) == "wait")
    #expect(machine.linkCameUp().count == 3)
    #expect(machine.send("d", [ping], timeout: .seconds(1), now: start) == "fail overloaded")
    #expect(machine.reply(.null) == "none")
    #expect(machine.reply(.null) == "a [null, null]")
    #expect(machine.send("e", [ping, ping], timeout: .seconds(1), now: start) == "write")
  }

  @Test func bytesAreLimitedByTheirSizeOnTheWire() {
    var limits = RedisLimits()
    limits.unansweredBytesMax = 2 * "*1\r\n$4\r\nPING\r\n".utf8.count
    var machine = Machine.up(limits)
    #expect(machine.send("a", [ping, ping], timeout: .seconds(1), now: start) == "write")
    #expect(machine.unansweredBytes == limits.unansweredBytesMax)
    #expect(machine.send("b", [ping], timeout: .seconds(1), now: start) == "fail overloaded")
  }

  @Test func closingTellsWhatMayHaveBeenExecuted() {
    var sent = Machine.up()
    #expect(sent.send("a", [ping], timeout: .seconds(1), now: start) == "write")
    #expect(sent.close().map(\.error.code) == [.connectionLost])
    #expect(sent.send("b", [ping], timeout: .seconds(1), now: start) == "fail closed")

    var waiting = Machine(endpoint: "test", limits: RedisLimits())
    waiting.linkIsComingUp()
    #expect(waiting.send("a", [ping], timeout: .seconds(1), now: start) == "wait")
    #expect(waiting.close().map(\.error.code) == [.closed])
  }

  @Test func beforeItIsStartedNothingWaits() {
    var machine = Machine(endpoint: "test", limits: RedisLimits())
    #expect(machine.send("a", [ping], timeout: .seconds(1), now: start) == "fail unavailable")
  }
}

/// Actions as text, to be compared at a glance.
extension PipelineStateMachine<String> {
  static func up(_ limits: RedisLimits = RedisLimits()) -> Self {
    var machine = Self(endpoint: "test", limits: limits)
    machine.linkIsComingUp()
    _ = machine.linkCameUp()
    return machine
  }

  mutating func send(_ waiter: String, _ commands: [RedisCommand], timeout: Duration, now: Instant) -> String
  {
    switch send(commands, for: waiter, deadline: now + timeout, now: now) {
    case .write: "write"
    case .wait: "wait"
    case .fail(let error): "fail \(error.code)"
    }
  }

  mutating func reply(_ reply: RedisReply) -> String {
    switch received(reply) {
    case .none: "none"
    case .outOfStep: "out of step"
    case .finish(let waiter, let replies):
      "\(waiter) [\(replies.map { (try? $0.integer()).map(String.init) ?? "null" }.joined(separator: ", "))]"
    }
  }

  mutating func goDown(isComingUp: Bool) -> [String] {
    let cause = RedisError(.connectionLost, cause: "gone", place: "test")
    return linkWentDown(because: cause, isComingUp: isComingUp).map { "\($0.waiter) \($0.error.code)" }
  }
}
