import BelfryModel
import ModelSamples
import TestKit
import Testing

@testable import BelfryStore

@Suite struct CommitTests {
  @Test func marksBecomeTheIdsThatOnlyTheCommitKnows() async throws {
    try await withBroker { broker, _ in
      let first = try await broker.append("before")
      var transaction = Transaction.send("one")
      transaction.announcements.append(transaction.announcements[0])
      var membership = Membership(intervals: .since(.beforeThisCommit))
      membership.leave(through: .endOfThisCommit)
      let record = MemberRecord(role: .member, membership: membership)
      transaction.changes[.former("bob", of: space)] = record.text
      let commit = try await broker.store.commit(transaction).commit
      #expect(commit.before == first && commit.ids.count == 2)
      let text = try #require(try await broker.text(.former("bob", of: space)))
      #expect(
        MemberRecord(text: text)?.membership.intervals.all
          == [Interval(after: first, through: commit.ids[1])])
    }
  }

  /// A commit that announces nothing takes no id, so its end is what was before it.
  @Test func marksWithoutAnAnnouncement() async throws {
    try await withBroker { broker, _ in
      let first = try await broker.append("before")
      var transaction = Transaction(space)
      transaction.changes[.former("bob", of: space)] = "m \u{1},\u{2}"
      let commit = try await broker.store.commit(transaction).commit
      #expect(commit == Commit(ids: [], before: first))
      #expect(
        try await broker.text(.former("bob", of: space)) == "m \(first.streamForm),\(first.streamForm)")
      #expect(try await broker.store.lastIDs(of: [space.partition]) == [first])
    }
  }

  /// With nothing before the commit in its partition, too: sends decide on records as they last were, and one that
  /// says the same in other words is in conflict with them.
  @Test func whatOnlyTheCommitKnowsIsWrittenAsItWouldBeWrittenAgain() async throws {
    try await withBroker { broker, _ in
      try await broker.makeServer()
      let text = try #require(try await broker.text(.member("alice", of: space)))
      #expect(MemberRecord(text: text)?.membership.intervals.all.map(\.after) == [.zero])
      #expect(MemberRecord(text: text)?.text == text)
    }
  }

  @Test func recordsAreSetAndRemovedAndTablesDropped() async throws {
    try await withBroker { broker, _ in
      var transaction = Transaction(space)
      transaction.changes = [
        .settings(space): "{}", .channel(9, of: space): "{}",
        .channelMember("bob", channel: 9, of: space): "x", .member("bob", of: space): "m \u{1}",
      ]
      _ = try await broker.store.commit(transaction).commit
      transaction = Transaction(space)
      transaction.preconditions = [.settings(space): "{}", .member("carol", of: space): nil]
      transaction.changes = [
        .channel(9, of: space): nil, .settings(space): "{\"a\":1}",
        .member("dave", of: space): nil,
      ]
      transaction.removedTables = [.channelRoster(9)]
      _ = try await broker.store.commit(transaction).commit
      let addresses: [RecordAddress] = [
        .settings(space), .channel(9, of: space), .channelMember("bob", channel: 9, of: space),
        .member("bob", of: space),
      ]
      let records = try await broker.store.records(addresses)
      #expect(addresses.map { records.text($0) } == ["{\"a\":1}", nil, nil, "m 0-0"])
      let tables: [RecordTable] = [.settings, .channels, .channelRoster(9), .roster, .former]
      #expect(try await broker.store.counts(tables.map { TableAddress(space, $0) }) == [1, 0, 0, 1, 0])
    }
  }

  @Test func ceilingsCountWhatTheChangesMake() async throws {
    try await withBroker { broker, redis in
      try await broker.makeServer(["bob", "carol"])
      func change(_ changes: [AccountID: String?], ceiling: Int) -> Transaction {
        var transaction = Transaction.send("ding", clientId: "a")
        for (account, text) in changes { transaction.changes[.member(account, of: space)] = text }
        transaction.ceilings = [.roster: ceiling, .channels: 100]
        return transaction
      }
      let before = try redis.digest()
      let refused: [[AccountID: String?]] = [
        ["dave": "x"], ["dave": "x", "erin": "x", "bob": nil], ["dave": "x", "bob": "x"],
        ["dave": "x", "frank": nil],
      ]
      for changes in refused {
        #expect(try await broker.store.commit(change(changes, ceiling: 3)) == .ceiling(.roster))
      }
      #expect(try redis.digest() == before)
      _ = try await broker.store.commit(change(["dave": "x", "bob": nil], ceiling: 3)).commit
      #expect(try await broker.members() == 3)
    }
  }

  @Test func aConflictLeavesEverythingAsItWas() async throws {
    try await withBroker { broker, redis in
      try await broker.makeServer(["bob"])
      let before = try redis.digest()
      var transaction = Transaction.send("ding", clientId: "a")
      transaction.preconditions = [.settings(space): nil]
      transaction.changes = [.member("dave", of: space): "m \u{1}", .member("bob", of: space): nil]
      transaction.removedTables = [.channels]
      transaction.indexChanges = [IndexChange(.joined, ["dave"])]
      transaction.changedMemberships = ["dave"]
      #expect(try await broker.store.commit(transaction) == .conflict)
      #expect(try redis.digest() == before)
    }
  }

  @Test func membershipsAreSaidBeforeTheEntriesThatDependOnThem() async throws {
    try await withBroker { broker, _ in
      try await broker.makeServer()
      try await broker.feed.subscribe(space)
      try await broker.add(["bob", "carol"])
      try await broker.eventually { $0.heard.count == 3 }
      let entries = try await broker.log().suffix(2)
      #expect(
        broker.messages == [
          .memberships(["bob", "carol"]),
          .appended(entries[2], predecessor: try await broker.log()[1].id),
          .appended(entries[3], predecessor: entries[2].id),
        ])
    }
  }

  @Test func aThousandMembersJoinInOneCommit() async throws {
    try await withBroker { broker, _ in
      try await broker.makeServer()
      let accounts = (0..<1_000).compactMap { AccountID("member\($0)") }
      try await broker.add(accounts)
      #expect(try await broker.members() == 1_001)
      #expect(try await broker.store.partitionsToRelay() == [])
      for account in [accounts[0], accounts[500], accounts[999]] {
        let index = try await broker.store.index(of: account)
        #expect(index.map(\.space) == [space] && index[0].isMember)
      }
      // The same in one commit that only changes: each record was read, and still is what it was.
      let addresses = accounts.map { RecordAddress.member($0, of: space) }
      let records = try await broker.store.records(addresses)
      var transaction = Transaction(space)
      for address in addresses {
        transaction.preconditions[address] = records.text(address)
        transaction.changes[address] = .some(nil)
      }
      _ = try await broker.store.commit(transaction).commit
      #expect(try await broker.members() == 1)
    }
  }

  @Test func anUpdateIsSaidAndReadFromThenOn() async throws {
    try await withBroker { broker, _ in
      try await broker.makeServer()
      let id = try await broker.append("ding")
      try await broker.append("unchanged")
      try await broker.feed.subscribe(space)
      let entry = try #require(try await broker.log().first { $0.id == id })
      let update = try UpdateNotification(
        entry, in: space, by: app, body: "dong", ext: nil, status: 10_001)
      let notification = try await broker.runner.run(update).output
      try await broker.eventually { !$0.heard.isEmpty }
      let entries = try await broker.log()
      let updated = try #require(entries.first { $0.id == id })
      #expect(updated.body == "dong" && updated.updateTime == notification.updateTime)
      #expect(entries[entries.count - 2].body == "unchanged" && entries[entries.count - 2].updateTime == nil)
      // The update is an entry of its own, with everything that a reader of the first entry needs.
      let updateEntry = try #require(entries.last)
      #expect(updateEntry.id > id && updateEntry.updates == id)
      #expect(updateEntry.notificationJSON == updated.notificationJSON)
      #expect(updateEntry.audience == updated.audience)
      #expect(
        broker.messages == [.appended(updateEntry, predecessor: entries[entries.count - 2].id)])
    }
  }
}
