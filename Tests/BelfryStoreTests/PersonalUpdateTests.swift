import BelfryModel
import ModelSamples
import TestKit
import Testing

@testable import BelfryStore

/// All updates of a notification in a mailbox take one entry, and none once the notification is read.
@Suite struct PersonalUpdateTests {
  private static let own = SpaceID.personal("bob")

  @Test func aLaterUpdateTakesThePlaceOfAnEarlierOne() async throws {
    try await withBothStores { store in
      let id = try await send(to: store)
      for number in 0..<5 { try await update(id, "\(number)", in: store) }
      let log = try await entries(of: store)
      #expect(log.map(\.updates) == [nil, id])
      #expect(log.allSatisfy { $0.body == "4" })
      try await recall(id, in: store)
      let recalled = try await entries(of: store)
      #expect(recalled.map(\.updates) == [nil, id] && recalled.allSatisfy(\.isRecalled))
    }
  }

  @Test(arguments: [false, true]) func whatIsReadGoesWithItsUpdates(isByWatermark: Bool) async throws {
    try await withBothStores { store in
      let id = try await send(to: store)
      let other = try await send(to: store)
      for number in 0..<5 { try await update(id, "\(number)", in: store) }
      let mark =
        isByWatermark
        ? ReadMark(items: [], covered: [id], watermarks: [id]) : ReadMark(items: [id])
      #expect(try await store.marked(mark, by: "bob") == 1)
      #expect(try await entries(of: store).map(\.id) == [other], "nothing is left that nobody can read")
      #expect(try await store.mailboxes(of: ["bob"], writtenToBy: nil)[0].entries == 1)
    }
  }

  /// In the log of many readers each update stays: some may have read the others.
  @Test func inASharedLogEachUpdateIsAnEntry() async throws {
    try await withBothStores { store in
      let id = try await send(to: store, in: space)
      for number in 0..<3 { try await update(id, "\(number)", in: store, space) }
      #expect(try await entries(of: store, space).map(\.updates) == [nil, id, id, id])
    }
  }

  private func withBothStores(_ body: @Sendable (any Store) async throws -> Void) async throws {
    try await withBroker { broker, _ in
      try await body(broker.store)
      try await body(MemoryStore(limits: Limits()))
    }
  }

  private func send(to store: any Store, in space: SpaceID = Self.own) async throws -> MessageID {
    let audience = Audience(.named, named: ["bob"])
    return try await store.commit(.send("ding", to: audience, in: space)).commit.ids[0]
  }

  private func entries(of store: any Store, _ space: SpaceID = Self.own) async throws -> [LogEntry] {
    try await store.entries([LogRequest(space, after: .zero, limit: 100)])[0]
  }

  private func entry(_ id: MessageID, of store: any Store, _ space: SpaceID) async throws -> LogEntry {
    try #require(try await entries(of: store, space).first { $0.id == id })
  }

  private func update(
    _ id: MessageID, _ body: String, in store: any Store, _ space: SpaceID = Self.own
  ) async throws {
    let update = try UpdateNotification(
      try await entry(id, of: store, space), in: space, by: app, body: body, ext: nil, status: nil)
    _ = try await OperationRunner(store: store, limits: Limits()).run(update)
  }

  private func recall(_ id: MessageID, in store: any Store) async throws {
    let recall = RecallNotification(try await entry(id, of: store, Self.own), in: Self.own, by: app)
    _ = try await OperationRunner(store: store, limits: Limits()).run(recall)
  }
}
