import BelfrySystem
import Testing

@testable import BelfryRedis

@Suite struct LinkStateMachineTests {
  let error = RedisError(.connectionLost, cause: "gone", place: "test")

  @Test func itConnectsSetsUpInRoundsAndComesUp() {
    var machine = LinkStateMachine()
    #expect(text(machine.start()) == "connect")
    let second = RedisSetUp([RedisCommand("C")])
    let first = RedisSetUp([RedisCommand("A"), RedisCommand("B")]) { _ in second }
    #expect(text(machine.connected(setUp: first)) == "ask A B")
    #expect(text(machine.received(.status("OK"), random: 0)) == "none")
    #expect(text(machine.received(.status("OK"), random: 0)) == "ask C")
    #expect(text(machine.received(.status("OK"), random: 0)) == "come up")
  }

  @Test func aRoundWithoutCommandsIsDoneAtOnce() {
    var machine = LinkStateMachine()
    _ = machine.start()
    #expect(text(machine.connected(setUp: RedisSetUp([]))) == "come up")
  }

  @Test func aRefusedSetUpIsALoss() {
    var machine = LinkStateMachine()
    _ = machine.start()
    _ = machine.connected(setUp: RedisSetUp([RedisCommand("PING")]))
    #expect(text(machine.received(.error("LOADING data"), random: 0)) == "go down replied after 0.05 seconds")
    #expect(!machine.isComingUp)
  }

  @Test func pausesDoubleUntilItHasBeenUpAgain() {
    var machine = LinkStateMachine()
    _ = machine.start()
    let pauses = (0..<7).map { _ in
      let pause = text(machine.lost(error, random: 1))
      _ = machine.pauseEnded()
      return pause
    }
    let seconds = ["0.1", "0.2", "0.4", "0.8", "1.0", "1.0", "1.0"]
    #expect(pauses == seconds.map { "go down connectionLost after \($0) seconds" })
    _ = machine.connected(setUp: RedisSetUp([]))
    #expect(text(machine.lost(error, random: 1)) == "go down connectionLost after 0.05 seconds")
  }

  @Test func onlyTheFirstTryGivesHope() {
    var machine = LinkStateMachine()
    #expect(!machine.isComingUp)
    _ = machine.start()
    #expect(machine.isComingUp)
    _ = machine.lost(error, random: 0)
    #expect(!machine.isComingUp)
    _ = machine.pauseEnded()
    #expect(!machine.isComingUp)
    _ = machine.connected(setUp: RedisSetUp([]))
    _ = machine.lost(error, random: 0)
    #expect(machine.isComingUp)
    _ = machine.pauseEnded()
    #expect(machine.isComingUp)
  }

  /// A set-up that this process begins once more is no failure of Redis.
  @Test func startingAgainKeepsTheHope() {
    var machine = LinkStateMachine()
    #expect(text(machine.startAgain(because: error)) == "none")
    _ = machine.start()
    _ = machine.connected(setUp: RedisSetUp([RedisCommand("PING")]))
    #expect(text(machine.startAgain(because: error)) == "go down connectionLost after 0.0 seconds")
    #expect(machine.isComingUp)
    #expect(text(machine.startAgain(because: error)) == "none")
    #expect(text(machine.pauseEnded()) == "connect")
    _ = machine.lost(error, random: 0)
    _ = machine.pauseEnded()
    _ = machine.startAgain(because: error)
    #expect(!machine.isComingUp)
  }

  @Test func whatComesTooLateChangesNothing() {
    var machine = LinkStateMachine()
    _ = machine.start()
    _ = machine.lost(error, random: 0)
    #expect(text(machine.connected(setUp: RedisSetUp([]))) == "none")
    #expect(text(machine.received(.null, random: 0)) == "none")
    #expect(text(machine.lost(error, random: 0)) == "none")
    #expect(text(machine.start()) == "none")
    #expect(text(machine.pauseEnded()) == "connect")
    #expect(text(machine.pauseEnded()) == "none")
  }

  @Test func closedItStaysClosed() {
    var machine = LinkStateMachine()
    _ = machine.start()
    #expect(text(machine.close()) == "close")
    #expect(text(machine.close()) == "none")
    #expect(text(machine.start()) == "none")
    #expect(text(machine.lost(error, random: 0)) == "none")
    #expect(text(machine.pauseEnded()) == "none")
  }

  private func text(_ action: LinkStateMachine.Action) -> String {
    switch action {
    case .none: "none"
    case .connect: "connect"
    case .ask(let commands): "ask \(commands.map(\.name).joined(separator: " "))"
    case .comeUp: "come up"
    case .goDown(let error, let delay): "go down \(error.code) after \(delay)"
    case .close: "close"
    }
  }
}

extension LinkStateMachine {
  init() {
    self.init(backoff: Backoff(.milliseconds(50), atMost: .seconds(1), jitter: .half))
  }
}

@Suite struct BackoffTests {
  @Test func jitterSpansHalfTheDelayAndNumbersNeverOverflow() {
    let backoff = Backoff(.milliseconds(50), atMost: .seconds(1), jitter: .half)
    #expect(backoff.delay(doublings: 0, random: 0) == .milliseconds(25))
    #expect(backoff.delay(doublings: 0, random: 1) == .milliseconds(50))
    #expect(backoff.delay(doublings: 3, random: 0) == .milliseconds(200))
    #expect(backoff.delay(doublings: .max, random: 0.5) == .milliseconds(750))
  }
}
