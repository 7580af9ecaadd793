import BelfryFeed
import BelfryLive
import BelfryLoop
import BelfryModel
import BelfryStore
import ModelSamples
import TestKit
import Testing

/// A client may send any text as a cursor. It must not cost more than another one, and nothing is lost by it.
@Suite struct ForgedCursorTests {
  private static let app = Actor(account: nil, isTrusted: true)

  /// The cursor is beyond all entries, and knows none of the account's spaces. A round for each dozen of them would go through
  /// all of them.
  @Test func aCursorThatKnowsNoneOfManySpacesTakesFewScans() async throws {
    let (scans, shown, sent) = try await withLoop { loop, scope in
      let memory = MemoryStore(limits: Limits())
      let live = SlowLiveFeed(memory, on: loop)
      let hub = Hub(loop: loop, scope: scope, store: memory, live: live, limits: Limits())
      var sent: [MessageID] = []
      for number in 1...400 as ClosedRange<Int64> { sent += try await Self.join(number, memory) }
      relay(memory)
      var cursor: FeedCursor?
      while true {
        let page = try await hub.feed.page(for: "bob", after: cursor, limit: 500)
        cursor = page.cursor
        if page.notifications.isEmpty { break }
      }
      let text = try #require(cursor).text
      let forged = try #require(FeedCursor(text: String(text.prefix { $0 != "_" })))
      let before = hub.feed.scanCount
      var page = try await hub.feed.page(for: "bob", after: forged, limit: 500)
      let scans = hub.feed.scanCount - before
      var shown: [MessageID] = []
      while !page.notifications.isEmpty {
        shown += page.notifications.map(\.id)
        page = try await hub.feed.page(for: "bob", after: page.cursor, limit: 500)
      }
      return (scans, shown, sent)
    }
    #expect(scans <= 2)
    #expect(shown.count == Set(shown).count)
    #expect(Set(shown).isSuperset(of: sent))
  }

  /// Each event would have them all in its id.
  @Test func placesInPartitionsThatDoNotExistAreForgotten() async throws {
    let text = try await withLoop { loop, scope in
      let memory = MemoryStore(limits: Limits())
      let live = SlowLiveFeed(memory, on: loop)
      let hub = Hub(loop: loop, scope: scope, store: memory, live: live, limits: Limits())
      var forged = FeedCursor()
      let most = try #require(Partitions(count: Partition.limit))
      for partition in most.all {
        let id = MessageID(unixMilliseconds: memory.clockMilliseconds, partition: partition, sequence: 1)
        forged.reachAll([partition: id], most)
      }
      return try await hub.feed.page(for: "bob", after: forged, limit: 500).cursor.text
    }
    #expect(text.utf8.count <= FeedCursor.textBytesMost(in: .standard), "\(text.utf8.count)")
  }

  private static func join(_ number: Int64, _ memory: MemoryStore) async throws -> [MessageID] {
    let runner = OperationRunner(store: memory, limits: Limits())
    let server = try #require(EntityID(number))
    _ = try await runner.run(
      CreateServer(
        id: server, defaultChannel: try #require(EntityID(10_000 + number)), owner: "owner",
        actor: Actor(account: "owner"), name: "s"))
    _ = try await runner.run(AddMembers(server, actor: app, accounts: ["bob"], requestId: "r\(number)"))
    var content = NotificationContent(type: Catalogue.custom.code, toType: .server)
    content.serverId = server
    let sends = try SendNotification.sends(content, by: app, generatedClientId: "c\(number)")
    return try await runner.run(#require(sends.first)).commit?.ids ?? []
  }
}
