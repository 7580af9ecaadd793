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
    #expect(machine.reply() == "a")
    #expect(machine.reply() == "none")
    #expect(machine.reply() == "b")
    #expect(machine.unansweredCommands == 0)
    #expect(machine.unansweredBytes == 0)
  }

  @Test func aReplyNobodyAskedForIsOutOfStep() {
    var machine = Machine.up()
    #expect(machine.reply() == "out of step")
  }

  @Test func whatWaitsForTheFirstConnectionGoesOutInOrder() {
    var machine = Machine(endpoint: "test", limits: RedisLimits())
    machine.linkIsComingUp()
    #expect(machine.send("a", [RedisCommand("A")], timeout: .seconds(1), now: start) == "wait")
    #expect(machine.send("b", [RedisCommand("B")], timeout: .seconds(1), now: start) == "wait")
    #expect(
      machine.linkCameUp().map { String(decoding: $0, as: UTF8.self) } == [
        "*1\r\n$1\r\nA\r\n", "*1\r\n$1\r\nB\r\n",
      ])
    #expect(machine.reply() == "a")
    #expect(machine.reply() == "b")
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
    #expect(machine.reply() == "b")
  }

  @Test func aLossFailsWhatIsInFlightAndTheNextWaits() {
    var machine = Machine.up()
    #expect(machine.send("a", [ping, ping], timeout: .seconds(1), now: start) == "write")
    #expect(machine.reply() == "none")
    #expect(machine.goDown(isComingUp: true) == ["a connectionLost"])
    #expect(machine.send("b", [ping], timeout: .seconds(1), now: start) == "wait")
    #expect(machine.linkCameUp().count == 1)
    // The half-answered pipeline left nothing behind.
    #expect(machine.reply() == "b")
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
    #expect(machine.linkCameUp().count == 2)
    #expect(machine.send("d", [ping], timeout: .seconds(1), now: start) == "fail overloaded")
    #expect(machine.reply() == "none")
    #expect(machine.reply() == "a")
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
    let output = OutputBuffer()
    let batch = output.batch { output in
      for command in commands { output.append(command) }
    }
    let action = send(batch, for: waiter, deadline: now + timeout, now: now) { output.takeBack(batch) }
    return switch action {
    case .write: "write"
    case .wait: output.isEmpty ? "wait" : "wait, and leave too early"
    case .fail(let error): "fail \(error.code)"
    }
  }

  mutating func reply() -> String {
    switch received() {
    case .none: "none"
    case .outOfStep: "out of step"
    case .finish(let waiter): waiter
    }
  }

  mutating func goDown(isComingUp: Bool) -> [String] {
    let cause = RedisError(.connectionLost, cause: "gone", place: "test")
    return linkWentDown(because: cause, isComingUp: isComingUp).map { "\($0.waiter) \($0.error.code)" }
  }
}
