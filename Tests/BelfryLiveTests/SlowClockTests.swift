import BelfryFeed
import BelfryLive
import BelfryLoop
import BelfryModel
import BelfryStore
import ModelSamples
import StreamClients
import Testing

/// Something is sent while everything is being marked, and the clock of its node is behind. So its id is before the time of the
/// mark, and it is not read.
@Suite struct SlowClockTests {
  @Test func whatIsSentDuringAMarkStaysOnTheDevice() async throws {
    try await withLoop { loop, scope in
      let stage = Stage(loop, scope)
      defer { stage.client.cut() }
      try #require(stage.spaces[0].partition != stage.spaces[1].partition)
      let last = try await stage.begin()
      var late = MessageID.zero
      stage.store.onMark = { late = stage.sendAndShow(millisecondsAfter: last, 500) }
      #expect(try await stage.markAll() == 1)
      try #require(stage.client.held == [last, late])
      // The client is told of the mark only now.
      try await stage.settle { $0.knowsRead(last) && $0.held == [late] }
      stage.client.cut()
      try stage.client.open(stage.hub)
      let next = stage.send(to: stage.spaces[0])
      try await stage.settle { $0.held == [late, next] }
      #expect(stage.client.doubled.isEmpty)
    }
  }
}

/// Does something just before a mark is written.
private final class InterruptedStore: SlowStore {
  var onMark: (() -> Void)?

  override func markRead(_ mark: ReadMark, by account: AccountID) async throws(StoreError) -> MarkOutcome {
    let happens = onMark
    onMark = nil
    happens?()
    return try await super.markRead(mark, by: account)
  }
}

/// Bob, who is in two servers of different partitions.
private final class Stage {
  let client = Client("bob")
  let hub: Hub
  let store: InterruptedStore
  let spaces = [SpaceID.server(1), SpaceID.server(2)]
  private let memory = MemoryStore(limits: Limits())
  private let live: SlowLiveFeed
  private let loop: EventLoop

  init(_ loop: EventLoop, _ scope: LoopScope) {
    self.loop = loop
    live = SlowLiveFeed(memory, on: loop)
    store = InterruptedStore(memory, Chance(seed: 1), on: loop)
    hub = Hub(loop: loop, scope: scope, store: store, live: live, limits: Limits())
    for space in spaces {
      var joining = Transaction(space)
      joining.changes[.member("bob", of: space)] = .some("m 0-0")
      joining.indexChanges = [IndexChange(.joined, ["bob"])]
      _ = memory.commit(joining)
    }
    relay(memory)
  }

  /// The client is shown two notifications of the first server, and the first of them is marked.
  /// - Returns: the second one.
  func begin() async throws -> MessageID {
    memory.clockMilliseconds += 1_000
    let first = send(to: spaces[0])
    memory.clockMilliseconds += 1_000
    let last = send(to: spaces[0])
    try client.open(hub)
    try await settle { $0.held == [first, last] }
    memory.clockMilliseconds += 1_000
    #expect(try await hub.feed.markRead(account: "bob", device: nil, upTo: first) == 1)
    try await settle { $0.held == [last] }
    return last
  }

  func markAll() async throws -> Int {
    try await hub.feed.markRead(account: "bob", device: nil, upTo: .last)
  }

  /// Sends to the second server by a clock that is behind, and has the client take it.
  func sendAndShow(millisecondsAfter last: MessageID, _ milliseconds: Int64) -> MessageID {
    let now = memory.clockMilliseconds
    memory.clockMilliseconds = last.unixMilliseconds + milliseconds
    let id = send(to: spaces[1])
    memory.clockMilliseconds = now
    live.arrive(atMost: .max)
    try? client.pull(room: 8_192)
    return id
  }

  func send(to space: SpaceID) -> MessageID {
    var sending = Transaction(space)
    let content = NotificationContent(type: Catalogue.custom.code, toType: .server)
    sending.announcements = [Announcement(content, to: Audience(.all))]
    guard case .committed(let commit) = memory.commit(sending), let id = commit.ids.first else {
      return .zero
    }
    return id
  }

  func settle(until isDone: (Client) -> Bool) async throws {
    try await BelfryLiveTests.settle(client, loop, live) { isDone(client) }
    #expect(isDone(client))
  }
}
