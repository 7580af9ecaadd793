import BelfryBytes
import Testing

@testable import BelfryRedis

@Suite struct SubscriptionStateMachineTests {
  typealias Machine = SubscriptionStateMachine<String>
  let now = ContinuousClock.now
  let gone = RedisError(.connectionLost, cause: "gone", place: "test")

  @Test func aConfirmationEndsAllWaitsForTheChannel() {
    var machine = Machine.up()
    #expect(machine.subscribe("x", "a", now) == "send")
    #expect(machine.subscribe("x", "b", now) == "wait")
    #expect(machine.subscribe("y", "c", now) == "send")
    #expect(machine.reply(.push("ssubscribe", "x")) == "confirm a b")
    #expect(machine.subscribe("x", "d", now) == "finish")
    #expect(machine.reply(.push("ssubscribe", "y")) == "confirm c")
    #expect(machine.nextDeadline == nil)
  }

  @Test func messagesOfUnconfirmedOrDroppedChannelsAreNotDelivered() {
    var machine = Machine.up()
    _ = machine.subscribe("x", "a", now)
    #expect(machine.reply(.message("x", "early")) == "none")
    _ = machine.reply(.push("ssubscribe", "x"))
    #expect(machine.reply(.message("x", "hello")) == "message x hello")
    _ = machine.unsubscribe("x")
    #expect(machine.reply(.message("x", "late")) == "none")
  }

  @Test func anEarlierConfirmationDoesNotCountForALaterSubscription() {
    var machine = Machine.up()
    _ = machine.subscribe("x", "a", now)
    let (request, failures) = machine.unsubscribe("x")
    #expect(request == .unsubscribe("x"))
    #expect(failures.map(\.error.code) == [.unsubscribed])
    #expect(machine.subscribe("x", "b", now) == "send")
    #expect(machine.reply(.push("ssubscribe", "x")) == "confirm ")
    #expect(machine.reply(.push("sunsubscribe", "x")) == "none")
    #expect(machine.reply(.push("ssubscribe", "x")) == "confirm b")
  }

  @Test func anErrorBelongsToTheOldestRequest() {
    var machine = Machine.up()
    _ = machine.subscribe("x", "a", now)
    _ = machine.subscribe("y", "b", now)
    #expect(machine.reply(.error("NOPERM no")) == "fail a replied")
    #expect(machine.reply(.push("ssubscribe", "y")) == "confirm b")
    #expect(machine.channelCount == 1)
    #expect(machine.subscribe("x", "c", now) == "send")
  }

  @Test func afterALossWhatIsEstablishedIsRestoredAndWhatWaitedFails() {
    var machine = Machine.up()
    _ = machine.subscribe("kept", "a", now)
    _ = machine.reply(.push("ssubscribe", "kept"))
    _ = machine.subscribe("unconfirmed", "b", now)
    let down = machine.linkWentDown(because: gone, isComingUp: true)
    #expect(down.wasRestored)
    #expect(down.failures.map { "\($0.waiter) \($0.error.code)" } == ["b connectionLost"])
    #expect(machine.reply(.message("kept", "not now")) == "none")

    let up = machine.linkCameUp()
    #expect(up.requests == [.subscribe("kept")])
    #expect(!up.isRestored)
    #expect(machine.subscribe("kept", "c", now) == "wait")
    #expect(machine.reply(.push("ssubscribe", "kept")) == "confirm c restored")
  }

  @Test func aLossDuringRestorationIsNotAnnouncedTwice() {
    var machine = Machine.up()
    _ = machine.subscribe("x", "a", now)
    _ = machine.reply(.push("ssubscribe", "x"))
    #expect(machine.linkWentDown(because: gone, isComingUp: true).wasRestored)
    _ = machine.linkCameUp()
    #expect(!machine.linkWentDown(because: gone, isComingUp: false).wasRestored)
    #expect(machine.subscribe("y", "b", now) == "fail unavailable")
    #expect(machine.linkCameUp().requests == [.subscribe("x")])
  }

  @Test func droppingAChannelDuringRestorationDoesNotHoldItUp() {
    var machine = Machine.up()
    for channel in ["x", "y"] {
      _ = machine.subscribe(channel, "a", now)
      _ = machine.reply(.push("ssubscribe", channel))
    }
    _ = machine.linkWentDown(because: gone, isComingUp: true)
    let order = machine.linkCameUp().requests.compactMap { request -> String? in
      if case .subscribe(let channel) = request { channel } else { nil }
    }
    _ = machine.unsubscribe(order[0])
    #expect(machine.reply(.push("ssubscribe", order[0])) == "confirm ")
    #expect(machine.reply(.push("ssubscribe", order[1])) == "confirm  restored")
    #expect(machine.reply(.push("sunsubscribe", order[0])) == "none")
    #expect(machine.channelCount == 1)
  }

  @Test func aRefusalDuringRestorationGivesTheConnectionUp() {
    var machine = Machine.up()
    _ = machine.subscribe("x", "a", now)
    _ = machine.reply(.push("ssubscribe", "x"))
    _ = machine.linkWentDown(because: gone, isComingUp: true)
    _ = machine.linkCameUp()
    #expect(machine.reply(.error("NOPERM no")) == "give up replied")
  }

  @Test func subscriptionsWaitForTheFirstConnectionButNotForLong() {
    var machine = Machine(endpoint: "test", limits: RedisLimits())
    #expect(machine.subscribe("x", "a", now) == "fail unavailable")
    machine.linkIsComingUp()
    #expect(machine.subscribe("x", "b", now) == "wait")
    #expect(machine.nextDeadline == now + .milliseconds(250))
    let (requests, failures) = machine.expire(now: now + .milliseconds(250))
    #expect(requests.isEmpty)
    #expect(failures.map(\.error.code) == [.unavailable])
    #expect(machine.subscribe("y", "c", now) == "wait")
    #expect(machine.linkCameUp().requests == [.subscribe("y")])
    #expect(machine.reply(.push("ssubscribe", "y")) == "confirm c restored")
  }

  @Test func anOverdueSubscriptionIsUndone() {
    var machine = Machine.up()
    _ = machine.subscribe("x", "a", now)
    #expect(machine.expire(now: now + .milliseconds(999)).failures.isEmpty)
    let (requests, failures) = machine.expire(now: now + .seconds(1))
    #expect(requests == [.unsubscribe("x")])
    #expect(failures.map(\.error.code) == [.timedOut])
    #expect(machine.reply(.push("ssubscribe", "x")) == "confirm ")
    #expect(machine.reply(.push("sunsubscribe", "x")) == "none")
  }

  @Test func anUnansweredPingIsALossAndAnAnsweredOneIsNot() {
    var machine = Machine.up()
    #expect(machine.heartbeat() == .send(.ping))
    #expect(machine.reply(.status("PONG")) == "none")
    #expect(machine.heartbeat() == .send(.ping))
    #expect(machine.reply(.array([.bulk(Array("pong".utf8)), .bulk([])])) == "none")
    #expect(machine.heartbeat() == .send(.ping))
    guard case .giveUp(let error) = machine.heartbeat() else {
      Issue.record("silence was not noticed")
      return
    }
    #expect(error.code == .timedOut)
  }

  @Test func aHeartbeatAfterALossLeavesNothingBehind() {
    var machine = Machine.up()
    #expect(machine.heartbeat() == .send(.ping))
    _ = machine.linkWentDown(because: gone, isComingUp: true)
    #expect(machine.heartbeat() == .stop)
    _ = machine.linkCameUp()
    #expect(machine.subscribe("x", "a", now) == "send")
    #expect(machine.reply(.push("ssubscribe", "x")) == "confirm a")
    #expect(machine.heartbeat() == .send(.ping))
  }

  @Test(arguments: [
    RedisReply.push("ssubscribe", "y"), .status("PONG"), .integer(1), .null,
    .array([]), .array([.integer(1), .null]), .push("unknown", "x"), .bulk([1]),
  ])
  func whatWasNotAskedForGivesTheConnectionUp(reply: RedisReply) {
    var machine = Machine.up()
    _ = machine.subscribe("x", "a", now)
    #expect(machine.reply(reply) == "give up unexpectedReply")
  }

  /// A node of a cluster ends the subscriptions to a slot that has left it.
  @Test func aChannelThatMovesAwayIsNoLongerWantedHere() {
    var machine = Machine.up()
    _ = machine.subscribe("x", "a", now)
    _ = machine.reply(.push("ssubscribe", "x"))
    #expect(machine.reply(.push("sunsubscribe", "x")) == "moved x")
    #expect(machine.channelCount == 0)
    _ = machine.subscribe("y", "b", now)
    #expect(
      machine.reply(.push("sunsubscribe", "y")) == "moved nothing b replied",
      "while its confirmation is under way")
    #expect(machine.reply(.push("sunsubscribe", "never wanted")) == "none")
  }

  @Test func aChannelThatHasMovedMeanwhileDoesNotKeepTheOthersFromBeingRestored() {
    var machine = Machine.up()
    for channel in ["x", "y"] {
      _ = machine.subscribe(channel, "a", now)
      _ = machine.reply(.push("ssubscribe", channel))
    }
    _ = machine.linkWentDown(because: gone, isComingUp: true)
    let requests = machine.linkCameUp().requests
    guard case .subscribe(let first) = requests.first, case .subscribe(let last) = requests.last else {
      return
    }
    #expect(machine.reply(.error(moved(first))) == "moved \(first)")
    #expect(machine.reply(.push("ssubscribe", last)) == "confirm  restored")
    #expect(machine.channels == [last])
  }

  @Test func releasedChannelsAreGivenUpWithTheirWaiters() {
    var machine = Machine.up()
    _ = machine.subscribe("x", "a", now)
    _ = machine.reply(.push("ssubscribe", "x"))
    for channel in ["{x}2", "z"] {
      _ = machine.subscribe(channel, "c", now)
      _ = machine.reply(.push("ssubscribe", channel))
    }
    _ = machine.subscribe("y", "b", now)
    let slots = (x: ClusterSlot.of(key: "x"), y: ClusterSlot.of(key: "y"), z: ClusterSlot.of(key: "z"))
    let released = machine.release([slots.x, slots.z])
    #expect(released.channels.mapValues(Set.init) == [slots.x: ["x", "{x}2"], slots.z: ["z"]])
    #expect(released.failures.isEmpty)
    let unconfirmed = machine.release([slots.y])
    #expect(unconfirmed.channels.isEmpty, "what was never confirmed is its waiter's to ask for again")
    #expect(unconfirmed.failures.map(\.waiter) == ["b"])
    #expect(machine.channelCount == 0)
  }

  /// A node that is asked to end a subscription whose slot leaves at that moment says first that the subscription has ended,
  /// and then that the request went to the wrong node.
  @Test func theSecondAnswerToOneRequestIsNotTakenForThatOfTheNext() {
    var machine = Machine.up()
    _ = machine.subscribe("x", "a", now)
    _ = machine.reply(.push("ssubscribe", "x"))
    #expect(machine.unsubscribe("x").request == .unsubscribe("x"))
    #expect(machine.subscribe("y", "b", now) == "send")
    #expect(machine.reply(.push("sunsubscribe", "x")) == "none")
    #expect(machine.reply(.error(moved("x"))) == "none")
    #expect(machine.reply(.push("ssubscribe", "y")) == "confirm b")
    #expect(machine.heartbeat() == .send(.ping))
    #expect(machine.unsubscribe("y").request == .unsubscribe("y"))
    #expect(machine.reply(.push("pong", "")) == "none")
    #expect(machine.reply(.error(moved("y"))) == "none", "it refuses the request that is next")
    #expect(machine.reply(.error(moved("y"))) == "none", "nothing is asked for, and nothing is lost by it")
  }

  private func moved(_ channel: String) -> String { "MOVED \(ClusterSlot.of(key: channel)) 127.0.0.1:7002" }

  @Test func closingFailsWhatWaitsAndForgetsTheRest() {
    var machine = Machine.up()
    _ = machine.subscribe("x", "a", now)
    #expect(machine.close().map(\.error.code) == [.closed])
    #expect(machine.subscribe("x", "b", now) == "fail closed")
    #expect(machine.channelCount == 0)
  }
}

/// Actions as text, to be compared at a glance.
extension SubscriptionStateMachine<String> {
  static func up() -> Self {
    var machine = Self(endpoint: "test", limits: RedisLimits())
    machine.linkIsComingUp()
    _ = machine.linkCameUp()
    return machine
  }

  mutating func subscribe(_ channel: String, _ waiter: String, _ now: Instant) -> String {
    switch subscribe(channel, for: waiter, deadline: now + .seconds(1), now: now) {
    case .finish: "finish"
    case .send: "send"
    case .wait: "wait"
    case .fail(let error): "fail \(error.code)"
    }
  }

  mutating func reply(_ reply: RedisReply) -> String {
    switch received(reply) {
    case .none: "none"
    case .message(let channel, let payload): "message \(channel) \(String(decoding: payload, as: UTF8.self))"
    case .confirm(let waiters, let isRestored):
      "confirm \(waiters.joined(separator: " "))\(isRestored ? " restored" : "")"
    case .fail(let failures):
      "fail " + failures.map { "\($0.waiter) \($0.error.code)" }.joined(separator: ", ")
    case .movedAway(let channel, let failures, let isRestored):
      "moved \(channel ?? "nothing")" + failures.map { " \($0.waiter) \($0.error.code)" }.joined()
        + (isRestored ? " restored" : "")
    case .giveUp(let error): "give up \(error.code)"
    }
  }
}

extension RedisReply {
  static func push(_ kind: String, _ channel: String) -> RedisReply {
    .array([.bulk(Array(kind.utf8)), .bulk(Array(channel.utf8)), .integer(1)])
  }

  static func message(_ channel: String, _ payload: String) -> RedisReply {
    .array([.bulk(Array("smessage".utf8)), .bulk(Array(channel.utf8)), .bulk(Array(payload.utf8))])
  }
}
