import BelfryLive
import BelfryLoop
import BelfryModel
import BelfryStore
import ModelSamples
import StreamClients
import TestKit
import Testing

/// A server that was cut off sends its live messages once it is heard again, after all that its successor has sent.
@Suite struct LateMessageTests {
  /// - Parameter isHeardAgain: the channels were lost in between, so the late message is the first one after that.
  @Test(arguments: [false, true]) func nothingIsShownAgain(isHeardAgain: Bool) async throws {
    let (received, sent) = try await withStage { stage in
      try await eventually { stage.live.isSubscribed(.personal("bob")) }
      var sent = [try await stage.send("a1"), try await stage.send("a2")]
      try await stage.waitUntilShown(sent)
      let late = try #require(stage.live.arrived.last { $0.message.entryID == sent[1] })
      for number in 0..<9 { sent.append(try await stage.send("b\(number)")) }
      try await stage.waitUntilShown(sent)
      if isHeardAgain {
        var isHeard = false
        stage.hub.onHearingAgain = { isHeard = true }
        stage.live.breakOff()
        try await eventually { isHeard }
      }
      stage.live.arriveAgain(late)
      sent.append(try await stage.send("next"))
      try await stage.waitUntilShown(sent)
      // Another one: a cursor that was set back would have the stream repeat what lies before it.
      sent.append(try await stage.send("last"))
      try await stage.waitUntilShown(sent)
      return (stage.client.received, sent)
    }
    #expect(received == sent)
  }

  /// It may have said that streams are to end.
  @Test func aMessageForAnAccountThatCannotBeReadIsTold() async throws {
    try await withStage { stage in
      try await eventually { stage.live.isSubscribed(.personal("bob")) }
      var told = 0
      stage.hub.onUnreadable = { told += 1 }
      stage.live.onUnreadable?(try #require(SpaceID(key: "server:7")))
      #expect(told == 0)
      stage.live.onUnreadable?(.personal("bob"))
      #expect(told == 1)
      // The stream goes on.
      let sent = [try await stage.send("next")]
      try await stage.waitUntilShown(sent)
    }
  }

  private func withStage<Value: Sendable>(
    _ body: @escaping @Sendable (Stage) async throws -> Value
  ) async throws -> Value {
    try await withLoop { loop, scope in
      let stage = Stage(loop, scope)
      try stage.client.open(stage.hub)
      defer { stage.client.cut() }
      return try await body(stage)
    }
  }
}

extension LiveMessage {
  fileprivate var entryID: MessageID? {
    if case .appended(let entry, _) = self { entry.id } else { nil }
  }
}

/// Bob with a stream, and somebody who sends to him.
private final class Stage {
  let client = Client("bob")
  let live: SlowLiveFeed
  let hub: Hub
  private let memory = MemoryStore(limits: Limits())

  private let loop: EventLoop

  init(_ loop: EventLoop, _ scope: LoopScope) {
    self.loop = loop
    live = SlowLiveFeed(memory, on: loop)
    hub = Hub(loop: loop, scope: scope, store: memory, live: live, limits: Limits())
  }

  func send(_ body: String) async throws -> MessageID {
    var content = NotificationContent(type: Catalogue.custom.code, toType: .accounts)
    content.toAccids = ["bob"]
    content.body = body
    let app = Actor(account: nil, isTrusted: true)
    let sends = try SendNotification.sends(content, by: app, generatedClientId: body)
    let done = try await OperationRunner(store: memory, limits: Limits()).run(#require(sends.first))
    return try #require(done.commit?.ids.first)
  }

  func waitUntilShown(_ sent: [MessageID]) async throws {
    try await eventually("not all was shown") {
      live.arrive(atMost: 100)
      try client.pull(room: 8_192)
      return Set(client.received).isSuperset(of: sent)
    }
    // Time for what must not come.
    for _ in 0..<50 {
      live.arrive(atMost: 100)
      try client.pull(room: 8_192)
      await loop.letOthersRun()
    }
  }
}
