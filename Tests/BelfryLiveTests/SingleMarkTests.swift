import BelfryFeed
import BelfryLoop
import BelfryModel
import BelfryStore
import ModelSamples
import StreamClients
import Testing

@testable import BelfryLive

/// Entries that were marked one by one before a stream was opened. A session does not have these marks in memory.
@Suite struct SingleMarkTests {
  /// Only clients that have a notification are told of its updates. A client whose account has read it does not have it.
  @Test func updatesOfWhatWasMarkedAreNotShown() async throws {
    let (client, sent) = try await withStage { stage in
      let sent = try [stage.send(), stage.send(), stage.send()]
      #expect(try await stage.mark([sent[0]]) == 1)
      try stage.client.open(stage.hub)
      try await stage.settle { stage.client.received.count == 2 }
      for id in sent { try await stage.update(id) }
      try await stage.settle { stage.client.updates.contains(sent[2]) }
      // Another device marks what the store was asked about a moment ago.
      #expect(try await stage.mark([sent[1]]) == 1)
      for id in sent { try await stage.update(id) }
      try await stage.settle { stage.client.updates.count { $0 == sent[2] } == 2 }
      for id in sent { try await stage.recall(id) }
      let last = try stage.send()
      try await stage.settle { stage.client.received.contains(last) }
      return (stage.client.summary, sent + [last])
    }
    #expect(client.received == Array(sent[1...]))
    #expect(client.updates == [sent[1], sent[2], sent[2]])
    #expect(client.retracted == [sent[2]])
  }

  /// More marks than a part has, and each of them is told.
  @Test func aReturningClientIsToldAllMarks() async throws {
    let (told, sent) = try await withStage { stage in
      let sent = try (0..<9).map { _ in try stage.send() }
      try stage.client.open(stage.hub)
      try await stage.settle { stage.client.received == sent }
      stage.client.cut()
      #expect(try await stage.mark(Array(sent.prefix(7))) == 7)
      try stage.client.open(stage.hub)
      let last = try stage.send()
      try await stage.settle { stage.client.received.contains(last) }
      return (stage.client.held, Set(sent[7...] + [last]))
    }
    #expect(told == sent)
  }

  /// Another device marks everything while a client is told the single marks. Their ids are ahead of the clock, so the event of
  /// that mark does not say that they are read.
  @Test func aReturningClientIsToldMarksThatAWatermarkCovered() async throws {
    let (held, last) = try await withStage { stage in
      let sent = [try stage.send(), try stage.send(), try stage.send()]
      try stage.client.open(stage.hub)
      try await stage.settle { stage.client.received == sent }
      stage.client.cut()
      stage.setClockBack()
      #expect(try await stage.mark([sent[0]]) == 1)
      stage.store.onMarks = { [hub = stage.hub] in
        let read = try? await hub.feed.markRead(account: "bob", device: nil, upTo: sent[2])
        #expect(read == 2)
      }
      try stage.client.open(stage.hub)
      let last = try stage.send()
      // The event of the mark of everything names the other two.
      try await stage.settle { stage.client.received.contains(last) && stage.client.knowsRead(sent[2]) }
      return (stage.client.held, last)
    }
    #expect(held == [last])
  }

  /// Beyond its limit a session forgets marks, and then has the store asked.
  @Test func whatIsForgottenIsAsked() async throws {
    let memory = MemoryStore(limits: Limits())
    let space = SpaceID.server(1)
    let first = MessageID(firstAtUnixMilliseconds: memory.clockMilliseconds).raw
    // All of one partition.
    let ids = (0...Int64(SessionMarks.idsLimit)).compactMap { MessageID(first + $0 << 22) }
    #expect(memory.markRead(ReadMark(items: [ids[0]]), by: "bob") == .marked(1, version: 0))
    let snapshot = try await FeedSnapshot.take(of: "bob", from: memory)
    var marks = SessionMarks(snapshot)
    #expect(marks.mustAsk(about: ids[0], in: space))
    marks.applyAnswer(ReadState(), about: ids[1], in: space)
    #expect(!marks.mustAsk(about: ids[1], in: space), "the store has answered")
    for id in ids.dropLast() { marks.apply(ReadEcho(items: [id]), memory.partitions) }
    #expect(ids.dropLast().allSatisfy { marks.state.contains($0, in: space) }, "as many as there may be")
    marks.apply(ReadEcho(items: [ids[ids.count - 1]]), memory.partitions)
    #expect(marks.state.above.count == SessionMarks.idsLimit / 2)
    for id in ids {
      #expect(marks.state.contains(id, in: space) || marks.mustAsk(about: id, in: space))
    }
    // A mark was heard while the store was asked, and the answer is older.
    let overtaken = ids[ids.count - 1]
    marks.applyAnswer(ReadState(), about: overtaken, in: space)
    let later = (1...Int64(SessionMarks.idsLimit)).compactMap { MessageID(overtaken.raw + $0 << 22) }
    for id in later { marks.apply(ReadEcho(items: [id]), memory.partitions) }
    #expect(marks.state.contains(overtaken, in: space) || marks.mustAsk(about: overtaken, in: space))
    let generation = marks.generation
    marks.renewMarks(from: snapshot)
    #expect(marks.generation != generation && marks.state.contains(later[later.count - 1], in: space))
  }

  private func withStage<Value: Sendable>(
    _ body: @escaping @Sendable (Stage) async throws -> Value
  ) async throws -> Value {
    try await withLoop { loop, scope in
      let stage = Stage(loop, scope)
      defer { stage.client.cut() }
      return try await body(stage)
    }
  }
}

extension Client {
  fileprivate struct Summary: Sendable {
    var received: [MessageID]
    var updates: [MessageID]
    var retracted: Set<MessageID>
  }

  fileprivate var summary: Summary { Summary(received: received, updates: updates, retracted: retracted) }
}

/// Bob, who is in a server, and an app that sends there.
private final class Stage {
  let client = Client("bob")
  let hub: Hub
  let store: InterruptedStore
  private let memory = MemoryStore(limits: Limits())
  private let live: SlowLiveFeed
  private let loop: EventLoop
  private let runner: OperationRunner
  private let space = SpaceID.server(14)
  private let app = Actor(account: nil, isTrusted: true)

  init(_ loop: EventLoop, _ scope: LoopScope) {
    self.loop = loop
    live = SlowLiveFeed(memory, on: loop)
    runner = OperationRunner(store: memory, limits: Limits())
    store = InterruptedStore(memory, Chance(seed: 1), on: loop)
    hub = Hub(loop: loop, scope: scope, store: store, live: live, limits: Limits())
    var joining = Transaction(space)
    joining.changes[.member("bob", of: space)] = .some("m 0-0")
    joining.indexChanges = [IndexChange(.joined, ["bob"])]
    _ = memory.commit(joining)
    relay(memory)
  }

  func send() throws -> MessageID {
    var sending = Transaction(space)
    let content = NotificationContent(type: Catalogue.custom.code, toType: .server)
    sending.announcements = [Announcement(content, to: Audience(.all))]
    guard case .committed(let commit) = memory.commit(sending) else { return .zero }
    return try #require(commit.ids.first)
  }

  func mark(_ ids: [MessageID]) async throws -> Int {
    try await hub.feed.markRead(account: "bob", device: nil, items: ids)
  }

  func update(_ id: MessageID) async throws {
    _ = try await runner.run(
      UpdateNotification(try entry(id), in: space, by: app, body: "new", ext: nil, status: nil))
  }

  func recall(_ id: MessageID) async throws {
    _ = try await runner.run(RecallNotification(try entry(id), in: space, by: app))
  }

  private func entry(_ id: MessageID) throws -> LogEntry {
    let request = LogRequest(space, after: id.predecessor, through: id, limit: 1)
    return try #require(try memory.entries([request])[0].first)
  }

  func setClockBack() { memory.clockMilliseconds -= 60_000 }

  func settle(until isDone: () -> Bool) async throws {
    for _ in 0..<5_000 where !isDone() {
      live.arrive(atMost: .max)
      try await loop.sleep(for: .milliseconds(1))
      try client.pull(room: 8_192)
    }
    #expect(isDone())
  }
}

/// Does something just before the single marks are read.
private final class InterruptedStore: SlowStore {
  var onMarks: (() async -> Void)?

  override func singleMarks(
    of account: AccountID, after place: String?
  ) async throws(StoreError) -> (ids: [MessageID], next: String?) {
    let happens = onMarks
    onMarks = nil
    await happens?()
    return try await super.singleMarks(of: account, after: place)
  }
}
