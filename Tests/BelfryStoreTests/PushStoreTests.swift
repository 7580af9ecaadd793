import BelfryModel
import ModelSamples
import TestKit
import Testing

@testable import BelfryStore

/// Pushers, and what push has to do.
@Suite struct PushStoreTests {
  private let bob: AccountID = "bob"
  private let phone: DeviceID = "phone"
  private var partition: Partition { layout.partition(of: space) }

  private func claim(_ broker: isolated Broker, by owner: String) async throws -> CopyReaderState? {
    try await broker.store.claimCopies(.push, in: partition, by: owner, milliseconds: 60_000)?.state
  }

  private func due(_ broker: isolated Broker, at time: Int64 = .max) async throws -> [DuePush] {
    try await broker.store.duePushes(in: [partition], nowMilliseconds: min(time, 1 << 50), limit: 100)[0]
  }

  @Test func pushersAreKeptByDeviceAndKnownToThePartition() async throws {
    try await withBroker { broker, _ async throws in
      let store = broker.store
      #expect(try await store.putPusher(PusherRecord(device: phone, text: "1"), of: bob))
      #expect(try await store.putPusher(PusherRecord(device: phone, text: "2"), of: bob))
      #expect(try await store.pushers(of: [bob, "carol"]) == [[PusherRecord(device: phone, text: "2")], []])
      #expect(try await store.withPushers(among: ["carol", bob, "dave"]) == [bob])
      // The one that is to go has been replaced.
      #expect(try await store.removePusher(of: phone, bob, ifStill: "1") == false)
      #expect(try await store.removePusher(of: phone, bob, ifStill: "2"))
      #expect(try await store.removePusher(of: phone, bob) == false)
      #expect(try await store.withPushers(among: [bob]).isEmpty)
    }
  }

  /// It goes with its pusher, counts for none, and is noted for no other.
  @Test func aFailureIsKeptWithItsPusher() async throws {
    try await withBroker { broker, redis async throws in
      let store = broker.store
      var record = PusherRecord(device: phone, text: "1")
      #expect(try await store.putPusher(record, of: bob))
      record.failure = PushFailure(atMilliseconds: 7, cause: "it answered with status 503")
      try await store.notePushFailure(record, of: bob)
      #expect(try await store.pushers(of: [bob]) == [[record]])
      var other = PusherRecord(device: phone, text: "2")
      #expect(try await store.putPusher(other, of: bob))
      #expect(try await store.pushers(of: [bob]) == [[other]])
      try await store.notePushFailure(record, of: bob)
      #expect(try await store.pushers(of: [bob]) == [[other]])
      other.failure = record.failure
      try await store.notePushFailure(other, of: bob)
      for number in 2...Limits.pushersPerAccount {
        let more = PusherRecord(device: DeviceID("phone\(number)") ?? phone, text: "more")
        #expect(try await store.putPusher(more, of: bob))
      }
      #expect(try await store.putPusher(PusherRecord(device: "late", text: "late"), of: bob) == false)
      try await store.endPushFailure(of: phone, bob)
      #expect(try await store.pushers(of: [bob])[0].allSatisfy { $0.failure == nil })
      try await store.notePushFailure(other, of: bob)
      #expect(try await store.removePusher(of: phone, bob))
      #expect(try redis.command("HKEYS", layout.pushers(of: bob)).contains("!") == false)
    }
  }

  @Test func whatIsEnteredAndHowFarItHasComeAreWrittenTogether() async throws {
    try await withBroker { broker, _ async throws in
      try await broker.makeServer()
      try await broker.store.beginPush(word: "a")
      let id = try await broker.append("one")
      let state = try #require(try await claim(broker, by: "a"))
      #expect(try await claim(broker, by: "b") == nil)
      var next = state
      next.position = id
      next.unfinished = [
        UnfinishedCopy(id: id.predecessor, place: PageCursor(text: "here")),
        UnfinishedCopy(id: id, place: nil),
      ]
      let push = DuePush(text: "badge bob * 0", dueAtMilliseconds: 5)
      let save = { (owner: String) async throws in
        try await broker.store.savePush(
          in: partition, by: owner, milliseconds: 60_000, next, before: state, entering: [push])
      }
      // A broker that has lost the lease enters nothing.
      #expect(try await save("b") == false)
      #expect(try await due(broker).isEmpty)
      #expect(try await save("a"))
      #expect(try await due(broker) == [push])
      #expect(try await due(broker, at: 4).isEmpty)
      #expect(try await claim(broker, by: "a") == next)
    }
  }

  @Test func whatIsSettledGoesUnlessThereWasReasonToDoItAgain() async throws {
    try await withBroker { broker, redis async throws in
      let key = layout.pushes(partition)
      for (time, text) in [("5", "a"), ("6", "b"), ("7", "c")] { try redis.command("ZADD", key, time, text) }
      let settled = [
        SettledPush(
          DuePush(text: "a", dueAtMilliseconds: 5), later: [.init(text: "x", dueAtMilliseconds: 9)]),
        SettledPush(
          DuePush(text: "b", dueAtMilliseconds: 5), later: [.init(text: "y", dueAtMilliseconds: 9)]),
        SettledPush(
          DuePush(text: "gone", dueAtMilliseconds: 5), later: [.init(text: "z", dueAtMilliseconds: 9)]),
        SettledPush(
          DuePush(text: "c", dueAtMilliseconds: 7), later: [.init(text: "c", dueAtMilliseconds: 8)]),
      ]
      #expect(try await broker.store.settlePushes(settled, in: partition, waitingMax: 10) == 0)
      #expect(try await due(broker).map(\.text) == ["b", "c", "x"])
      // Settled once more, by a broker that was slower, nothing comes back.
      #expect(try await broker.store.settlePushes(settled, in: partition, waitingMax: 10) == 0)
      #expect(try await due(broker).map(\.text) == ["b", "c", "x"])
    }
  }

  /// A task that was entered and has yet to begin takes no place from tasks that are to be tried again.
  /// Neither does a task that is only looked at once more.
  @Test func soManyWaitForAnotherTry() async throws {
    try await withBroker { broker, redis async throws in
      let key = layout.pushes(partition)
      let far: Int64 = 9_999_999_999_999
      for number in 0..<10 { try redis.command("ZADD", key, "\(number)", "entered \(number)") }
      for text in ["w1", "w2"] { try redis.command("ZADD", key, "\(far)", text) }
      let full = [
        SettledPush(
          DuePush(text: "entered 0", dueAtMilliseconds: 0),
          later: [.init(text: "p", dueAtMilliseconds: far), .init(text: "q", dueAtMilliseconds: far)]),
        SettledPush(
          DuePush(text: "entered 1", dueAtMilliseconds: 1),
          later: [.init(text: "entered 1", dueAtMilliseconds: far)]),
      ]
      #expect(try await broker.store.settlePushes(full, in: partition, waitingMax: 3) == 1)
      #expect(try redis.command("ZCOUNT", key, "\(far)", "+inf") == "4")
    }
  }

  @Test func copiesThatOnlyPushReadsGoWhenItHasComePast() async throws {
    try await withBroker { broker, redis async throws in
      try await broker.makeServer()
      try await broker.store.beginPush(word: "a")
      var last = MessageID.zero
      for number in 0..<500 { last = try await broker.append("\(number)") }
      var state = try #require(try await claim(broker, by: "a"))
      let before = state
      state.position = last
      #expect(
        try await broker.store.savePush(in: partition, by: "a", milliseconds: 60_000, state, before: before))
      let left = Int(try redis.command("XLEN", layout.copies(partition)).trimmingPrefix("(integer) ")) ?? .max
      #expect(left <= 100)
    }
  }

  @Test func pushEndsWhereNobodyHasAPusherAndGoesOnWhereSomebodyHas() async throws {
    try await withBroker { broker, redis async throws in
      try await broker.makeServer()
      let store = broker.store
      #expect(try await store.pushWord() == nil)
      try await broker.append("not copied")
      #expect(try await store.copies(in: partition, after: .zero, limit: 10).isEmpty)
      try await store.beginPush(word: "a")
      #expect(try await store.putPusher(PusherRecord(device: phone, text: "1"), of: bob))
      try await store.endPushIfUnused(word: "b")
      #expect(try await store.pushWord() == "a")
      try await broker.append("copied")
      #expect(try await store.copies(in: partition, after: .zero, limit: 10).count == 1)
      #expect(try await store.removePusher(of: phone, bob))
      try await store.endPushIfUnused(word: "b")
      #expect(try await store.pushWord() == nil)
      try await broker.append("not copied")
      #expect(try await store.copies(in: partition, after: .zero, limit: 10).isEmpty)
    }
  }

  @Test func aMarkHasTheNumberCorrectedThatDevicesWereTold() async throws {
    try await withBroker { broker, _ async throws in
      try await broker.makeServer(["bob"])
      let home = layout.partition(of: bob)
      let due = { (broker: isolated Broker) async throws in
        try await broker.store.duePushes(in: [home], nowMilliseconds: 1 << 50, limit: 10)[0].map(\.text)
      }
      let mark = { (broker: isolated Broker, id: MessageID) async throws in
        try await broker.store.marked(
          ReadMark(items: [id]), by: bob)
      }
      _ = try await mark(broker, try await broker.append("one"))
      #expect(try await due(broker).isEmpty)
      #expect(try await broker.store.beginBadge(of: bob, mark: "a") == .none)
      _ = try await mark(broker, try await broker.append("two"))
      _ = try await mark(broker, try await broker.append("three"))
      #expect(try await due(broker) == ["badge bob * 0"])
    }
  }

  @Test func aNumberIsKnownUnlessTwoWereToldAtOnce() async throws {
    try await withBroker { broker, _ async throws in
      let store = broker.store
      #expect(try await store.putPusher(PusherRecord(device: phone, text: "1"), of: bob))
      // A correction begins nothing where nothing was told.
      #expect(try await store.beginBadge(of: bob, mark: "a", onlyIfKnown: true) == .none)
      #expect(try await store.withBadges(among: [bob]).isEmpty)
      #expect(try await store.beginBadge(of: bob, mark: "a") == .none)
      #expect(try await store.noteBadge(4, of: bob, since: "a"))
      #expect(try await store.withBadges(among: ["carol", bob]) == [bob])
      // Both learn that the other was there, in either order of ending.
      #expect(try await store.beginBadge(of: bob, mark: "b") == .unread(4))
      #expect(try await store.beginBadge(of: bob, mark: "c", onlyIfKnown: true) == .uncertain)
      #expect(try await store.noteBadge(5, of: bob, since: "c"))
      #expect(try await store.noteBadge(4, of: bob, since: "b") == false)
      #expect(try await store.beginBadge(of: bob, mark: "d") == .uncertain)
      // And also where the one that came first said that nothing is left.
      #expect(try await store.beginBadge(of: bob, mark: "e") == .uncertain)
      #expect(try await store.noteBadge(0, of: bob, since: "e"))
      #expect(try await store.noteBadge(1, of: bob, since: "d") == false)
      #expect(try await store.beginBadge(of: bob, mark: "f") == .uncertain)
      #expect(try await store.noteBadge(0, of: bob, since: "f"))
      #expect(try await store.withBadges(among: [bob]).isEmpty)
      // Nothing is kept of an account that has given its devices up meanwhile.
      #expect(try await store.beginBadge(of: bob, mark: "g") == .none)
      #expect(try await store.removePusher(of: phone, bob))
      #expect(try await store.noteBadge(3, of: bob, since: "g"))
      #expect(try await store.withBadges(among: [bob]).isEmpty)
    }
  }

  /// Corrections wait for what expires, by the thousand, and keep nothing that failed from being tried again.
  @Test func correctionsAreDueOnceAndTakeNoPlaceFromWhatFailed() async throws {
    try await withBroker { broker, redis async throws in
      let far: Int64 = 9_999_999_999_999
      try redis.command("ZADD", layout.pushes(partition), "1", "failed")
      let settle = { (text: String, due: Int64, later: [DuePush]) async throws in
        try await broker.store.settlePushes(
          [SettledPush(DuePush(text: text, dueAtMilliseconds: due), later: later)], in: partition,
          waitingMax: 2)
      }
      let badge = { (time: Int64) in DuePush(text: "badge bob * 0", dueAtMilliseconds: time) }
      let others = (0..<5).map { DuePush(text: "badge b\($0) * 0", dueAtMilliseconds: far) }
      #expect(
        try await settle("failed", 1, others + [badge(far), DuePush(text: "again", dueAtMilliseconds: far)])
          == 0)
      // A sooner one takes the place of a later one, and not the other way about.
      try redis.command("ZADD", layout.pushes(partition), "2", "other")
      #expect(try await settle("other", 2, [badge(far - 9), badge(far - 2)]) == 0)
      #expect(try await due(broker, at: far - 1).isEmpty == (1 << 50 < far))
      #expect(try redis.command("ZSCORE", layout.corrections(partition), "badge bob * 0") == "\(far - 9)")
      // One that has begun may have counted before what is to be corrected now.
      try redis.command("ZADD", layout.corrections(partition), "3", "badge bob * 0")
      try redis.command("ZADD", layout.pushes(partition), "4", "third")
      #expect(try await settle("third", 4, [badge(far - 5)]) == 0)
      #expect(try await settle("badge bob * 0", 3, []) == 0)
      #expect(try redis.command("ZSCORE", layout.corrections(partition), "badge bob * 0") == "\(far - 5)")
    }
  }
}
