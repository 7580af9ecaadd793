import BelfryModel
import ModelSamples
import TestKit
import Testing

@testable import BelfryStore

/// Ids leap ahead of the clock where a history of the data has ended. An entry says all the same when it was appended.
@Suite struct AppendTimeTests {
  /// A send, a batch, a commit, and a delivery by the outbox, in the log and live; and their answers.
  @Test func anEntrySaysWhenItWasAppendedWhileIDsAreAhead() async throws {
    try await withBroker { broker, redis in
      let (bob, carol) = (SpaceID.personal("bob"), SpaceID.personal("carol"))
      for followed in [space, bob] { try await broker.feed.subscribe(followed) }
      try redis.endHistory()
      let began = try redis.milliseconds()
      var commits = [try await broker.store.commit(.send("alone", clientId: "a")).commit]
      for result in await broker.store.commit((0..<20).map { .send("\($0)", clientId: "b\($0)") }) {
        commits.append(try result.get().commit)
      }
      commits.append(try await broker.store.commit(.send("own", to: Audience(.all), in: bob)).commit)
      var telling = Transaction.send("telling")
      telling.deliveries = [Delivery(.custom("told"), to: "carol")]
      commits.append(try await broker.store.commit(telling).commit)
      try await broker.relayEverything()
      let ended = try redis.milliseconds()

      let entries = try await broker.log() + broker.log(bob) + broker.log(carol)
      #expect(entries.count == 24)
      for entry in entries {
        #expect((began...ended).contains(entry.time), "\(entry.contentJSON)")
        #expect(entry.id.unixMilliseconds > entry.time, "ids are ahead")
        #expect(try entry.shown().time == entry.time)
      }
      let times = Dictionary(entries.map { ($0.id, $0.time) }) { first, _ in first }
      #expect(commits.allSatisfy { $0.appendedAt != nil && $0.appendedAt == times[$0.ids[0]] })
      try await broker.eventually { $0.messages.compactMap(\.entry).count == 23 }
      #expect(Set(broker.messages.compactMap(\.entry)) == Set(entries.filter { $0.body != "told" }))
    }
  }

  @Test func aRepetitionIsToldTheFirstTime() async throws {
    try await withBroker { broker, redis in
      try redis.endHistory()
      let bob = SpaceID.personal("bob")
      let sends = [
        Transaction.send("alone", clientId: "a"), .send("own", to: Audience(.all), in: bob, clientId: "a"),
      ]
      for send in sends {
        let first = try await broker.store.commit(send).commit
        try await broker.eventually { _ in try redis.milliseconds() > first.appendedAt ?? .max }
        let again = CommitOutcome.duplicate(of: first.ids[0], appendedAt: first.appendedAt)
        #expect(try await broker.store.commit(send) == again)
        #expect(await broker.outcomes([send, .send("other", clientId: "b")])[0] == again)
        let dedupe = try #require(send.dedupe)
        let content = send.announcements[0].content
        let known = try await broker.store.firstSends(of: [RepeatedSend(in: send.space, dedupe, content)])
        #expect(known == [.same(first.ids[0], appendedAt: first.appendedAt)])
      }
    }
  }

  /// An update says the time of its entry, and its own by the clock.
  @Test func anUpdateKeepsTheTimeOfItsEntry() async throws {
    try await withBroker { broker, redis in
      try redis.endHistory()
      let id = try await broker.append("ding")
      let time = try #require(try await broker.log().first).time
      try await broker.eventually { _ in try redis.milliseconds() > time + 1 }
      try await broker.update(id)
      let ended = try redis.milliseconds()
      for entry in try await broker.log() {
        let shown = try entry.shown()
        #expect(shown.messageServerId == id && shown.content.body == "dong")
        #expect(shown.time == time)
        #expect((time...ended).contains(try #require(shown.updateTime)))
      }
    }
  }

  @Test func whatIsNeverStoredSaysItsTimeToo() async throws {
    try await withBroker { broker, redis in
      try await broker.feed.subscribe(space)
      try redis.endHistory()
      let began = try redis.milliseconds()
      var transaction = Transaction.send("ding")
      transaction.announcements[0].content.setting.persistEnable = false
      _ = try await broker.store.commit(transaction).commit
      let ended = try redis.milliseconds()
      try await broker.eventually { $0.heard.count == 1 }
      let entry = try #require(broker.messages[0].entry)
      #expect((began...ended).contains(entry.time) && entry.id.unixMilliseconds > entry.time)
    }
  }

  /// While ids are not ahead, they say the time, which costs nothing.
  @Test func theIDSaysTheTimeOtherwise() async throws {
    try await withBroker { broker, _ in
      let commit = try await broker.store.commit(.send("ding", clientId: "a")).commit
      #expect(commit.appendedAt == nil)
      let entry = try #require(try await broker.log().first)
      #expect(!entry.contentJSON.contains("\"time\"") && entry.time == entry.id.unixMilliseconds)
      #expect(
        try await broker.store.commit(.send("ding", clientId: "a")) == .duplicate(of: commit.ids[0]))
    }
  }
}

extension LogEntry {
  /// As consumers receive it.
  fileprivate func shown() throws -> Notification {
    var bytes: [UInt8] = []
    appendNotification(to: &bytes)
    let text = String(decoding: bytes, as: UTF8.self)
    #expect(text.components(between: "\"time\":") == 2, "once: \(text)")
    return try #require(RecordJSON.value(Notification.self, text))
  }
}

extension String {
  fileprivate func components(between separator: String) -> Int {
    split(separator: separator, omittingEmptySubsequences: false).count
  }
}

extension Broker {
  fileprivate func outcomes(_ transactions: [Transaction]) async -> [CommitOutcome?] {
    await store.commit(transactions).map { try? $0.get() }
  }
}

extension RedisServer {
  /// As if this Redis had come back, perhaps without its last writes: each partition has given an id in another history.
  fileprivate func endHistory() throws {
    let now = try milliseconds()
    for partition in Partitions.standard.all {
      let last = MessageID(unixMilliseconds: now, partition: partition, sequence: 0)
      try command(
        "HSET", layout.partitionHash(partition), "last", last.streamForm, "history", "00000000")
    }
  }
}
