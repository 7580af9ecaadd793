import BelfryLive
import BelfryLoop
import BelfryModel
import ModelSamples
import Testing

@testable import BelfryStore

/// The pages are the logs, merged, for any distribution of entries over the logs and any size of page.
@Suite struct PageTests {
  enum Layout: CaseIterable { case inTurn, oneLogAfterTheOther, anyhow, mostlyInOne }

  @Test(arguments: Layout.allCases) func pagesAreTheLogsMerged(layout: Layout) async throws {
    try await play { reading in
      let sent = try await reading.send(600, layout)
      for limit in [1, 7, 50, 500] {
        #expect(try await reading.pages(of: limit) == sent, "pages of \(limit)")
      }
    }
  }

  /// Any number of entries between those that are marked is passed over.
  @Test func marksFindWhatLiesFarApart() async throws {
    try await play { reading in
      let sent = try await reading.send(600, .mostlyInOne)
      let marked = [sent[0], sent[1], sent[150], sent[151], sent[599]]
      #expect(try await reading.mark(marked + marked) == marked.count)
      #expect(try await reading.mark([sent[1], sent[2]]) == 1)
      #expect(try await reading.pages(of: 500) == sent.filter { !marked.contains($0) && $0 != sent[2] })
    }
  }

  /// An account that is back in a server before its index says so (the broker that took it back died before
  /// its relay) is shown all entries since then once the index says so, each once.
  @Test func whoComesBackBeforeTheIndexKnowsIsShownEverythingOnce() async throws {
    try await play { reading in
      try reading.enter("m 0-0", .joined)
      reading.relay()
      let before = try reading.send(to: reading.first)
      try reading.enter("m 0-0,\(before.streamForm)", .left)
      reading.relay()
      try reading.enter("m 0-0,\(before.streamForm);\(MessageID.beforeThisCommit.streamForm)", .joined)
      let since = try reading.send(to: reading.first)

      var (shown, cursor) = try await reading.page(after: nil)
      reading.relay()
      for _ in 0..<2 {
        let (more, next) = try await reading.page(after: cursor)
        shown += more
        cursor = next
      }
      #expect(shown == [before, since])
    }
  }

  /// A client may send any text as its cursor. Here all places of lagging spaces are taken by servers that the account is not
  /// in, and the account's own server needs one.
  @Test func laggingSpacesOfOthersTakeNoRoom() async throws {
    try await play { reading in
      try reading.enter("m 0-0", .joined)
      reading.relay()
      let sent = try reading.send(to: reading.first)
      let (_, cursor) = try await reading.page(after: nil)
      let own = [SpaceID.server(reading.first), .personal(reading.reader)].map(\.partition)
      let others = (1...1_000).lazy.compactMap { EntityID($0) }.map { SpaceID.server($0) }
        .filter { !own.contains($0.partition) }.prefix(FeedCursor.laggingLimit)
      let text = cursor.text.prefix { $0 != "_" } + others.map { "~\($0.key)*1" }.joined()
      let crafted = try #require(FeedCursor(text: String(text)))
      let (shown, next) = try await reading.page(after: crafted)
      #expect(shown == [sent])
      #expect(next.lagging.isEmpty)
    }
  }

  /// They come, go and come back while nobody relays, and are shown something newer of the same partition meanwhile.
  @Test func whoCameAndWentUnnoticedIsShownAllOfTheirStays() async throws {
    try await play { reading in
      let before = try reading.beginInBoth()
      let stays = try await reading.comeAndGo(after: "0-0,\(before.streamForm)")
      let after = try reading.send(to: reading.twin)

      let (shown, cursor) = try await reading.page(after: nil)
      #expect(shown == [before, after])
      reading.relay()
      let (late, next) = try await reading.page(after: cursor)
      #expect(late == stays)
      #expect(try await reading.page(after: next).0 == [])
    }
  }

  /// As before, and the reader is still busy with the first of these stays when its index learns of the second.
  @Test func whoIsShownOneStayWhileAnotherBeginsIsShownBoth() async throws {
    try await play { reading in
      let before = try reading.beginInBoth()
      var (shown, cursor): ([MessageID], FeedCursor?) = ([], nil)
      let stays = try await reading.comeAndGo(after: "0-0,\(before.streamForm)") {
        let after = try reading.send(to: reading.twin)
        if cursor == nil {
          (shown, cursor) = try await reading.page(after: nil)
          #expect(shown == [before, after])
          reading.relay()
        }
      }
      let last = try reading.send(to: reading.twin)
      // One at a time: the second stay is passed on the way, before the last one is reached.
      var more: [MessageID] = []
      for _ in 0..<2 { try await reading.turn(&cursor, limit: 1, into: &more) }
      #expect(!more.contains(last))
      reading.relay()
      for _ in 0..<4 { try await reading.turn(&cursor, limit: 1, into: &more) }
      #expect(more.filter { stays.contains($0) } == stays)
      #expect(Set(more).count == more.count)
    }
  }

  /// The same `messageClientId` after the dedupe window: the direct message is there already.
  @Test func aDirectMessageThatIsWrittenToAgainIsShownOnce() async throws {
    try await play { reading in
      let directMessage: EntityID = 77
      let neighbour = try #require(SpaceID.direct(directMessage).partition.servers.first { _ in true })
      try reading.enter("m 0-0", .joined, in: neighbour)
      let first = try reading.write(directMessage)
      reading.relay()
      var shown: [MessageID] = []
      var cursor: FeedCursor?
      try await reading.turn(&cursor, into: &shown)
      let second = try reading.write(directMessage)
      let after = try reading.send(to: neighbour)
      try await reading.turn(&cursor, into: &shown)
      reading.relay()
      for _ in 0..<2 { try await reading.turn(&cursor, into: &shown) }
      #expect(shown == [first, after, second])
    }
  }

  /// After very many changes have piled up, the index learns of a return before it learns of an earlier one.
  @Test func whatTheIndexLearnsInAnotherOrderIsShownToo() async throws {
    try await play { reading in
      let before = try reading.beginInBoth()
      try reading.enter("m 0-0,\(before.streamForm)", .left)
      reading.relay()
      let stays = try await reading.comeBackTwice(after: "0-0,\(before.streamForm)")
      let after = try reading.send(to: reading.twin)
      var shown: [MessageID] = []
      var cursor: FeedCursor?
      try await reading.turn(&cursor, into: &shown)
      reading.relayTheLast()
      for _ in 0..<2 { try await reading.turn(&cursor, into: &shown) }
      #expect(shown == [before, after] + stays)
    }
  }

  /// An index from before it remembered returns, or one that had to forget the space in between.
  @Test func whatAnIndexHasForgottenIsNotShownAgain() async throws {
    try await play { reading in
      try reading.enter("m 0-0", .joined)
      reading.relay()
      let before = try reading.send(to: reading.first)
      var shown: [MessageID] = []
      var cursor: FeedCursor?
      try await reading.turn(&cursor, into: &shown)
      let stays = try await reading.comeAndGo(after: "0-0,\(before.streamForm)") { reading.relay() }
      reading.forgetReturns()
      try await reading.turn(&cursor, into: &shown)
      #expect(shown == [before] + stays)
    }
  }

  /// The index learned of each stay in its time, but the reader was away.
  @Test func whoWasAwayAllTheTimeIsShownAllOfTheirStays() async throws {
    try await play { reading in
      let before = try reading.beginInBoth()
      var cursor = FeedCursor()
      let stays = try await reading.comeAndGo(after: "0-0,\(before.streamForm)") {
        if cursor == FeedCursor() {
          _ = try reading.send(to: reading.twin)
          cursor = try await reading.page(after: nil).1
        }
        reading.relay()
      }
      #expect(try await reading.page(after: cursor).0 == stays)
    }
  }

  private func play(_ body: @escaping @Sendable (Reading) async throws -> Void) async throws {
    try await withLoop { loop, scope in try await body(Reading(on: loop, scope)) }
  }
}

/// A reader who is in some servers.
private final class Reading {
  let reader: AccountID = "reader"
  private let servers = (1...12).compactMap { EntityID(Int64($0)) }
  private let memory = MemoryStore(limits: Limits())
  private let chance = Chance(seed: 7)
  private let hub: Hub

  init(on loop: EventLoop, _ scope: LoopScope) {
    hub = Hub(
      loop: loop, scope: scope, store: SlowStore(memory, chance, on: loop),
      live: SlowLiveFeed(memory, on: loop), limits: Limits()
    )
  }

  /// The ids, oldest first.
  func send(_ count: Int, _ layout: PageTests.Layout) async throws -> [MessageID] {
    for server in servers { try enter("m 0-0", .joined, in: server) }
    relay()
    return try (0..<count).map { number in
      memory.clockMilliseconds += 1
      let server =
        switch layout {
        case .inTurn: servers[number % servers.count]
        case .oneLogAfterTheOther: servers[number * servers.count / count]
        case .anyhow: chance.pick(servers)
        case .mostlyInOne: chance.happens(percent: 90) ? servers[0] : chance.pick(servers)
        }
      return try send(to: server)
    }
  }

  var first: EntityID { servers[0] }
  /// A server of the same partition, after the first and none of those that are written to at random.
  var twin: EntityID { SpaceID.server(first).partition.servers.first { $0 != first } ?? first }

  @discardableResult
  func send(to server: EntityID) throws -> MessageID {
    var sending = Transaction(.server(server))
    let content = NotificationContent(type: Catalogue.custom.code, toType: .server)
    sending.announcements = [Announcement(content, to: Audience(.all))]
    guard case .committed(let commit) = memory.commit(sending) else { return .zero }
    return commit.ids[0]
  }

  /// Writes the reader's record in the server, of a member or a former one, and tells the index when the relay
  /// comes.
  func enter(_ record: String, _ change: IndexChange.Kind, in server: EntityID? = nil) throws {
    let space = SpaceID.server(server ?? first)
    var transaction = Transaction(space)
    let isMember = change == .joined
    transaction.changes[.member(reader, of: space)] = .some(isMember ? record : nil)
    transaction.changes[.former(reader, of: space)] = .some(isMember ? nil : record)
    transaction.indexChanges = [IndexChange(change, [reader])]
    _ = memory.commit(transaction)
  }

  /// Writes a direct message to the reader: its entry, and the change of the index.
  func write(_ directMessage: EntityID) throws -> MessageID {
    var writing = Transaction(.direct(directMessage))
    let content = NotificationContent(type: Catalogue.custom.code, toType: .server)
    writing.announcements = [Announcement(content, to: Audience(.named, named: [reader]))]
    writing.indexChanges = [IndexChange(.joined, [reader])]
    guard case .committed(let commit) = memory.commit(writing) else { return .zero }
    return commit.ids[0]
  }

  /// Adds a page, and moves the cursor.
  func turn(_ cursor: inout FeedCursor?, limit: Int = 100, into shown: inout [MessageID]) async throws {
    let (more, next) = try await page(after: cursor, limit: limit)
    shown += more
    cursor = next
  }

  func forgetReturns() {
    for space in memory.index(of: reader).map(\.space) { memory.indexes[reader]?[space]?.earlier = [] }
  }

  /// In the first server and in its twin, as the index knows.
  /// - Returns: what was then sent to the first.
  func beginInBoth() throws -> MessageID {
    try enter("m 0-0", .joined, in: twin)
    try enter("m 0-0", .joined)
    relay()
    return try send(to: first)
  }

  /// Leaves the first server, comes for a while, leaves, and comes again; something is sent in both stays.
  /// - Parameter first: the stay so far, as a record has it.
  func comeAndGo(
    after first: String, _ afterEach: () async throws -> Void = {}
  ) async throws -> [MessageID] {
    try enter("m \(first)", .left)
    return try await comeBackTwice(after: first, afterEach)
  }

  func comeBackTwice(
    after first: String, _ afterEach: () async throws -> Void = {}
  ) async throws -> [MessageID] {
    let now = MessageID.beforeThisCommit.streamForm
    try enter("m \(first);\(now)", .joined)
    let second = try send(to: self.first)
    try await afterEach()
    // Its own id is between the two.
    let began = second.predecessor.predecessor.streamForm
    try enter("m \(first);\(began),\(second.streamForm)", .left)
    try enter("m \(first);\(began),\(second.streamForm);\(now)", .joined)
    let third = try send(to: self.first)
    try await afterEach()
    return [second, third]
  }

  /// The others come later, and change nothing.
  func relayTheLast() {
    for partition in memory.partitionsToRelay() { memory.outboxes[partition]?.reverse() }
    relay()
  }

  func relay() {
    for partition in memory.partitionsToRelay() { memory.relayOutbox(of: partition) }
  }

  func page(after cursor: FeedCursor?, limit: Int = 100) async throws -> ([MessageID], FeedCursor) {
    let page = try await hub.feed.page(for: reader, after: cursor, limit: limit)
    return (page.notifications.map(\.id), try #require(FeedCursor(text: page.cursor.text)))
  }

  /// All unread, page by page.
  func pages(of limit: Int) async throws -> [MessageID] {
    var ids: [MessageID] = []
    var cursor: FeedCursor?
    while true {
      let (more, next) = try await page(after: cursor, limit: limit)
      ids += more
      if more.isEmpty { return ids }
      cursor = next
    }
  }

  func mark(_ ids: [MessageID]) async throws -> Int {
    try await hub.feed.markRead(account: reader, device: nil, items: ids)
  }
}
