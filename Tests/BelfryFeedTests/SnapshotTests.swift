import BelfryModel
import BelfryStore
import ModelSamples
import Testing

@testable import BelfryFeed

@Suite struct SnapshotTests {
  /// Entries that are appended before a space is followed do not arrive live, so they have to lie within the
  /// bound. This also holds for a server that happens to lie in the account's own partition, whose bound is
  /// taken first.
  @Test(arguments: [true, false]) func whatCameBeforeFollowingIsWithinTheBounds(isAtHome: Bool) async throws {
    let reader: AccountID = "reader"
    let home = SpaceID.personal(reader).partition
    let ids = (1...200_000).lazy.compactMap { EntityID(Int64($0)) }
    let server = try #require(ids.first { (SpaceID.server($0).partition == home) == isAtHome })
    let space = SpaceID.server(server)
    let memory = MemoryStore(limits: Limits())
    enter(reader, space, memory)

    var isFollowed = false
    var missed = MessageID.zero
    let snapshot = try await FeedSnapshot.take(of: reader, from: memory) { (spaces) throws(StoreError) in
      #expect(spaces == [space])
      if !isFollowed { missed = send(to: space, memory) }
      isFollowed = true
    }
    #expect(missed > .zero)
    #expect(snapshot.ends.first { $0.space == space }?.last == missed)
  }

  /// Redis A was demoted, and lost what it had given since B was promoted. Later A is promoted again, in the same process. A place
  /// that B gave is as good as one of A.
  @Test func aPlaceThatAnEarlierPartOfAHistoryLostIsNotPassed() {
    let rewinds = [
      Rewind(ended: "-", kept: 40, first: 60), Rewind(ended: "b", kept: 90, first: 200),
    ]
    let end = LogEnd(allotted: 250, appended: 250, rewinds: rewinds, history: "a", present: "a")
    let bound = FeedSnapshot.Bound(end)
    for (id, known, kept) in [
      (39, "a", nil), (40, "a", nil), (41, "a", 40), (59, "a", 40), (60, "a", nil), (90, "a", nil),
      (91, "a", 90), (200, "a", nil), (250, "a", nil), (251, "a", 250), (90, "b", nil), (91, "b", 90),
    ] as [(MessageID, String, MessageID?)] {
      #expect(bound.lastKept(before: id, of: known) == kept, "\(known) \(id)")
    }
  }

  /// An older state was restored into the same process, which then goes on.
  @Test func whatARestoreTookBackIsNotPassed() {
    let rewinds = [Rewind(ended: "-", kept: 40, first: 200)]
    let end = LogEnd(allotted: 250, appended: 250, rewinds: rewinds, history: "r", present: "r")
    for (id, kept) in [(40, nil), (41, 40), (199, 40), (200, nil)] as [(MessageID, MessageID?)] {
      #expect(FeedSnapshot.Bound(end).lastKept(before: id, of: "r") == kept, "\(id)")
    }
  }

  private func enter(_ reader: AccountID, _ space: SpaceID, _ memory: MemoryStore) {
    var joining = Transaction(space)
    joining.changes[.member(reader, of: space)] = .some("m 0-0")
    joining.indexChanges = [IndexChange(.joined, [reader])]
    _ = memory.commit(joining)
    for partition in memory.partitionsToRelay() { memory.relayOutbox(of: partition) }
  }

  private func send(to space: SpaceID, _ memory: MemoryStore) -> MessageID {
    var sending = Transaction(space)
    let content = NotificationContent(type: Catalogue.custom.code, toType: .server)
    sending.announcements = [Announcement(content, to: Audience(.all))]
    guard case .committed(let commit) = memory.commit(sending) else { return .zero }
    return commit.ids[0]
  }
}
