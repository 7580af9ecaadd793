import BelfryModel
import BelfryStore
import ModelSamples
import Synchronization
import Testing

/// The rules that a random walk cannot compare, since Redis's clock does not obey: ids within a millisecond,
/// windows that end, retention.
struct MemoryStoreTests {
  static let server: EntityID = 7
  static let space = SpaceID.server(server)
  static let app = Actor(account: nil, isTrusted: true)

  let store: MemoryStore
  let runner: OperationRunner
  /// A broker generates a new id for each send, and two sends with one id would be one.
  private static let sends = Atomic(0)

  init() async throws {
    var limits = Limits()
    limits.retentionMilliseconds = 10_000
    limits.entriesPerSpace = 3
    limits.dedupeWindowMilliseconds = 1_000
    store = MemoryStore(limits: limits)
    runner = OperationRunner(store: store, limits: limits)
    _ = try await runner.run(
      CreateServer(id: Self.server, defaultChannel: 1, owner: "olivia", actor: Self.app, name: "Tower"))
  }

  func send(_ clientId: String? = nil, to accounts: [AccountID]? = nil) async throws -> MessageID {
    var content = NotificationContent(type: 100, toType: .server)
    if let accounts { content.toAccids = accounts } else { content.serverId = Self.server }
    content.messageClientId = clientId
    let number = Self.sends.add(1, ordering: .relaxed).newValue
    let send = try SendNotification.sends(content, by: Self.app, generatedClientId: "generated \(number)")[0]
    let done = try await runner.run(send)
    return try #require(done.commit?.ids.first ?? done.duplicateOf)
  }

  func log(_ space: SpaceID = space) throws -> [MessageID] {
    try store.entries([LogRequest(space, after: .zero, limit: 100)])[0].map(\.id)
  }

  // MARK: Ids

  @Test func idsOfOneMillisecondAreInSequence() async throws {
    store.clockMilliseconds += 1
    let ids = [try await send(), try await send()]
    #expect(ids.map(\.unixMilliseconds) == [store.clockMilliseconds, store.clockMilliseconds])
    #expect(ids.map(\.sequence) == [0, 1])
    #expect(ids.map(\.partition) == [Self.space.partition, Self.space.partition])
  }

  @Test func aClockThatIsSetBackMakesNoEarlierID() async throws {
    let first = try await send()
    store.clockMilliseconds -= 60_000
    let second = try await send()
    #expect(second.raw == first.raw + 1)
  }

  @Test func aSequenceThatRunsOverBorrowsTheNextMillisecond() async throws {
    store.clockMilliseconds += 1
    var last = try await send()
    for _ in 0..<4_096 {
      let next = try await send()
      #expect(next > last)
      last = next
    }
    #expect(last.unixMilliseconds == store.clockMilliseconds + 1)
    #expect(last.sequence == 0)
    #expect(last.partition == Self.space.partition)
    #expect(store.lastIDs(of: [Self.space.partition]) == [last])
  }

  // MARK: Windows

  @Test func aSendIsRecognisedForTheWindowAndNoLonger() async throws {
    let first = try await send("m1")
    store.clockMilliseconds += 999
    #expect(try await send("m1") == first)
    store.clockMilliseconds += 1
    #expect(try await send("m1") > first)
  }

  // MARK: Sweeping

  @Test func theSweepTrimsByAgeAndByLength() async throws {
    let old = try await send()
    store.clockMilliseconds += 10_001
    let ids = [try await send(), try await send()]
    store.sweep(Self.space.partition)
    #expect(try log() == ids)
    #expect(old < ids[0])
    let more = [try await send(), try await send()]
    store.sweep(Self.space.partition)
    #expect(try log() == [ids[1]] + more)
  }

  @Test func updatesGoWithTheirEntries() async throws {
    let id = try await send()
    let entry = try #require(try store.entries([LogRequest(Self.space, after: .zero, limit: 100)])[0].last)
    _ = try await runner.run(
      UpdateNotification(entry, in: Self.space, by: Self.app, body: "dong", ext: nil, status: nil))
    let updates = TableAddress(Self.space, .updates)
    #expect(try store.page(of: updates, after: nil, limit: 10).records.map(\.field) == [id.text])
    store.clockMilliseconds += 10_001
    store.sweep(Self.space.partition)
    #expect(store.counts([updates]) == [0])
  }

  @Test func aStayIsForgottenOnceNoLossOfItIsTold() async throws {
    _ = try await runner.run(AddMembers(Self.server, actor: Self.app, accounts: ["mia"], requestId: "r"))
    _ = try await runner.run(KickMembers(Self.server, actor: Self.app, accounts: ["mia"]))
    let personal = SpaceID.personal("mia").partition
    for (milliseconds, isKnown) in [(Int64(19_000), true), (1_001, false)] {
      store.clockMilliseconds += milliseconds
      store.sweep(Self.space.partition)
      store.sweep(personal)
      #expect(store.counts([TableAddress(Self.space, .former)]) == [isKnown ? 1 : 0])
      #expect(store.index(of: "mia").map(\.isMember) == (isKnown ? [false] : []))
    }
  }

  @Test func directMessagesAndReadMarksGoWithRetention() async throws {
    let id = try await send(to: ["mia", "max"])
    #expect(store.index(of: "mia").map(\.space.kind) == [.direct])
    #expect(store.markRead(ReadMark(items: [id]), by: "mia") == .marked(1, version: 0))
    #expect(store.markRead(ReadMark(items: [id]), by: "mia") == .marked(0, version: 0))
    let directMessage = try #require(store.index(of: "mia").first?.space)
    store.clockMilliseconds += 10_001
    for space in [directMessage, .personal("mia")] { store.sweep(space.partition) }
    #expect(store.index(of: "mia").isEmpty)
    #expect(store.readState(of: "mia").above.isEmpty)
    #expect(try await store.locate(id) == nil)
  }

  @Test func aRemovedServerLastsUntilItsLossesAreForgotten() async throws {
    _ = try await runner.run(RemoveServer(Self.server, actor: Self.app))
    for milliseconds in [Int64(0), 10_001] {
      store.clockMilliseconds += milliseconds
      store.sweep(Self.space.partition)
      #expect(store.index(of: "olivia").map(\.isMember) == [true])
    }
    store.clockMilliseconds += 10_001
    store.sweep(Self.space.partition)
    #expect(store.index(of: "olivia").isEmpty)
    #expect(
      store.counts([TableAddress(Self.space, .settings), TableAddress(Self.space, .roster)]) == [0, 0])
  }

  @Test func whatIsReadLeavesAPersonalLog() async throws {
    let ids = [try await send(to: ["mia"]), try await send(to: ["mia"]), try await send(to: ["mia"])]
    #expect(try log(.personal("mia")) == ids)
    #expect(store.markRead(ReadMark(items: [ids[1]]), by: "mia") == .marked(1, version: 0))
    #expect(try log(.personal("mia")) == [ids[0], ids[2]])
    var mark = ReadMark(items: [], watermarks: [ids[0]])
    #expect(store.markRead(mark, by: "mia") == .conflict, "the first")
    mark.version = 1
    #expect(store.markRead(mark, by: "mia") == .marked(0, version: 2))
    #expect(try log(.personal("mia")) == [ids[2]])
  }

  // MARK: Listening

  @Test func aFeedThatIsCutOffHearsNothing() async throws {
    let feed = MemoryLiveFeed(store)
    var heard: [LiveMessage] = []
    var states: [Bool] = []
    feed.onMessage = { _, message in heard.append(message) }
    feed.onHearingChange = { isHeard, _ in states.append(isHeard) }
    _ = try await send()
    try feed.subscribe(Self.space)
    _ = try await send()
    feed.isConnected = false
    store.clockMilliseconds += 5
    _ = try await send()
    #expect(heard.count == 1)
    #expect(throws: StoreError.self) { try feed.subscribe(Self.space) }
    feed.isConnected = true
    _ = try await send()
    feed.unsubscribe(Self.space)
    _ = try await send()
    #expect(heard.count == 2)
    #expect(states == [false, true])
  }

  @Test func aCursorOfAnotherStoreIsRefused() throws {
    let roster = TableAddress(Self.space, .roster)
    #expect(throws: StoreError.self) { try store.page(of: roster, after: PageCursor(text: "17"), limit: 1) }
    #expect(try store.page(of: roster, after: nil, limit: 0).records.map(\.field) == ["olivia"])
  }
}
