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
      let limits = PushRetryLimits(ofPartition: 10, ofAccount: 10)
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
      #expect(try await broker.store.settlePushes(settled, in: partition, limits).isEmpty)
      #expect(try await due(broker).map(\.text) == ["b", "c", "x"])
      // Settled once more, by a broker that was slower, nothing comes back.
      #expect(try await broker.store.settlePushes(settled, in: partition, limits).isEmpty)
      #expect(try await due(broker).map(\.text) == ["b", "c", "x"])
    }
  }

  // MARK: Retries

  private let far: Int64 = 9_999_999_999_999

  private func task(
    _ number: Int, _ account: String, _ device: String, _ tries: Int, at time: Int64
  ) -> DuePush {
    DuePush(text: "push server:7 \(number) \(account) \(device) \(tries)", dueAtMilliseconds: time)
  }

  /// A notification is entered for the account and fails on so many of its devices.
  /// - Returns: what is given up because of that.
  private func fail(
    _ broker: isolated Broker, _ redis: RedisServer, _ number: Int, to account: String, devices: Int = 1,
    _ limits: PushRetryLimits
  ) async throws -> [String] {
    let entered = task(number, account, "*", 0, at: 5)
    try redis.command("ZADD", layout.pushes(partition), "5", entered.text)
    let later = (0..<devices).map { task(number, account, "d\($0)", 1, at: far) }
    return try await broker.store.settlePushes(
      [SettledPush(entered, later: later)], in: partition, limits)
  }

  private func retryCount(_ redis: RedisServer) throws -> String {
    try redis.command("ZCARD", layout.retries(partition))
  }

  /// The account's own oldest notifications are given up, and nothing of other accounts.
  @Test func anAccountWhoseDevicesAllFailTakesNoPlaceFromOthers() async throws {
    try await withBroker { broker, redis async throws in
      let devices = Limits.pushersPerAccount
      let limits = PushRetryLimits(ofPartition: 5 * devices, ofAccount: 2 * devices)
      for number in 1...2 {
        #expect(try await fail(broker, redis, number, to: "alice", devices: devices, limits).isEmpty)
      }
      // One more than its share.
      #expect(try await fail(broker, redis, 3, to: "alice", limits) == ["push server:7 1 alice d0 1"])
      for number in 4...9 {
        #expect(try await fail(broker, redis, number, to: "alice", devices: devices, limits).count == devices)
      }
      #expect(try await fail(broker, redis, 10, to: "bob", limits).isEmpty)
      let left = try await due(broker).map(\.text)
      #expect(left.filter { $0.contains(" bob ") } == ["push server:7 10 bob d0 1"])
      #expect(left.count == 2 * devices + 1)
      #expect(left.allSatisfy { !$0.contains(" alice ") || $0.contains(" 8 ") || $0.contains(" 9 ") })
      #expect(try retryCount(redis) == "\(left.count)")
    }
  }

  /// A task that was entered and has yet to begin takes no place from them, however long it waits.
  @Test func soManyWaitForAnotherTry() async throws {
    try await withBroker { broker, redis async throws in
      let key = layout.pushes(partition)
      for number in 0..<10 {
        try redis.command("ZADD", key, "\(far)", task(number, "reader", "*", 0, at: far).text)
      }
      let limits = PushRetryLimits(ofPartition: 4, ofAccount: 40)
      // As many as then stay free for others, and one more.
      for number in 1...2 { #expect(try await fail(broker, redis, number, to: "alice", limits).isEmpty) }
      #expect(try await fail(broker, redis, 3, to: "alice", limits) == ["push server:7 1 alice d0 1"])
      // An account that has none finds a place as long as one is free.
      for name in ["bob", "carol"] { #expect(try await fail(broker, redis, 4, to: name, limits).isEmpty) }
      #expect(try await fail(broker, redis, 5, to: "dave", limits) == ["push server:7 5 dave d0 1"])
      #expect(try redis.command("ZCARD", key) == "14")
      // A broker of an earlier release settles a push and does not know of the names.
      try redis.command("ZREM", key, "push server:7 4 carol d0 1")
      #expect(try await fail(broker, redis, 6, to: "dave", limits).isEmpty)
      #expect(try retryCount(redis) == "4")
    }
  }

  @Test func whatWasNotTriedIsNoRetry() async throws {
    try await withBroker { broker, redis async throws in
      let limits = PushRetryLimits(ofPartition: 1, ofAccount: 1)
      let settle = { (push: DuePush, later: [DuePush], isPutOff: Bool) async throws in
        try await broker.store.settlePushes(
          [SettledPush(push, later: later, isPutOff: isPutOff)], in: partition, limits)
      }
      let entered = task(1, "bob", "*", 0, at: 5)
      try redis.command("ZADD", layout.pushes(partition), "5", entered.text)
      // It is looked at once more for all devices. Then one device fails, and two have no turn.
      let again = task(1, "bob", "*", 0, at: far)
      #expect(try await settle(entered, [again], false).isEmpty)
      let (first, second) = (task(1, "bob", "a", 0, at: 0), task(1, "bob", "b", 0, at: 0))
      let failed = task(1, "bob", "c", 1, at: far)
      #expect(try await settle(again, [first, second, failed], false).isEmpty)
      #expect(try retryCount(redis) == "1")
      // Put off, they stay what they are.
      let later = task(1, "bob", "a", 0, at: far)
      #expect(try await settle(first, [later], true).isEmpty)
      let failedLater = task(1, "bob", "c", 1, at: far + 1)
      #expect(try await settle(failed, [failedLater], true).isEmpty)
      #expect(try await due(broker).count == 3)
      #expect(try retryCount(redis) == "1")
      // The second try has the place of the first.
      let twice = task(1, "bob", "c", 2, at: far)
      #expect(try await settle(failedLater, [twice], false).isEmpty)
      // Now its receiver gets no requests, and there is one place.
      let givenUp = try await settle(second, [task(1, "bob", "b", 0, at: far)], false)
      #expect(givenUp == ["push server:7 1 bob b 0"])
      #expect(try await settle(twice, [], false).isEmpty)
      #expect(try await due(broker) == [later])
      #expect(try retryCount(redis) == "0")
    }
  }

  @Test func retriesGoToTheNewPartitionsOfTheirSpaces() throws {
    let more = RedisLayout(try #require(Partitions(count: 1_024)))
    let division = KeyspaceDivision(from: .standard, to: more.partitions)
    let destination = try #require(division.destination(of: layout.retries(partition)))
    guard case .divided(let key) = destination else {
      Issue.record("\(destination)")
      return
    }
    let name = ArraySlice("bob 00382402239303770112 \(space.key) phone 1".utf8)
    let parts = division.divide(.sortedSet([name: ArraySlice("0".utf8)]), of: key, lastMilliseconds: nil)
    #expect(
      parts.filter { !$0.contents.isEmpty }.map(\.key) == [more.retries(more.partition(of: space))])
  }

  @Test func aFailureAlsoSaysThatPushesWereGivenUp() throws {
    let failure = PushFailure(atMilliseconds: 7, cause: "it answered with status 503")
    let both = failure.sayingGivenUp()
    #expect(both.cause == "it answered with status 503; pushes were given up because too many waited")
    #expect(both.saysGivenUp && !failure.saysGivenUp)
    #expect(both.sayingGivenUp() == both)
    let long = PushFailure(atMilliseconds: 7, cause: String(repeating: "é", count: 300)).sayingGivenUp()
    #expect(long.saysGivenUp && long.cause.utf8.count <= PushFailure.causeBytesMax)
    #expect(PushFailure(text: long.text) == long)
    #expect(PushFailure.ofGivenUpPushes(atMilliseconds: 7).saysGivenUp)
  }

  // MARK: Copies

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
      // Pushes that share a count tell the same number, and do not disagree.
      for (mark, unread) in [("h", 0), ("i", 7)] {
        try await store.beginBadge(of: bob, mark: mark)
        #expect(try await store.noteBadge(unread, of: bob, since: mark))
        #expect(try await store.noteBadge(unread, of: bob, since: mark))
      }
      #expect(try await store.beginBadge(of: bob, mark: "j") == .unread(7))
      #expect(try await store.noteBadge(7, of: bob, since: "i") == false, "another number is under way")
      #expect(try await store.noteBadge(0, of: bob, since: "j") == false)
      #expect(try await store.beginBadge(of: bob, mark: "k") == .uncertain)
      #expect(try await store.noteBadge(0, of: bob, since: "k"))
      // Nothing is kept of an account that has given its devices up meanwhile.
      #expect(try await store.beginBadge(of: bob, mark: "g") == .none)
      #expect(try await store.removePusher(of: phone, bob))
      #expect(try await store.noteBadge(3, of: bob, since: "g"))
      #expect(try await store.withBadges(among: [bob]).isEmpty)
    }
  }

  /// Notifications that only those inside see no longer count.
  @Test func leavingARoomCorrectsTheNumberOnDevices() async throws {
    try await withBroker { broker, redis async throws in
      let home = layout.partition(of: bob)
      let corrections = layout.corrections(home)
      try redis.command("HSET", layout.badges(home), "bob", "41")
      let room = SpaceID.room(7)
      for (kind, space, isCorrected) in [
        (IndexChange.Kind.joined, room, false), (.left, .server(7), false), (.left, room, true),
      ] {
        var change = Transaction(space)
        change.announcements = Transaction.send("x", in: space).announcements
        change.indexChanges = [IndexChange(kind, ["bob"])]
        _ = try await broker.store.commit(change).commit
        try await broker.relayEverything()
        let due = try redis.command("ZSCORE", corrections, "badge bob * 0")
        #expect(due.isEmpty != isCorrected, "\(kind) \(space)")
      }
    }
  }

  /// Corrections wait for what expires, by the thousand, and keep nothing that failed from being tried again.
  @Test func correctionsAreDueOnceAndTakeNoPlaceFromWhatFailed() async throws {
    try await withBroker { broker, redis async throws in
      try redis.command("ZADD", layout.pushes(partition), "1", "failed")
      let settle = { (text: String, due: Int64, later: [DuePush]) async throws in
        try await broker.store.settlePushes(
          [SettledPush(DuePush(text: text, dueAtMilliseconds: due), later: later)], in: partition,
          PushRetryLimits(ofPartition: 2, ofAccount: 2))
      }
      let badge = { (time: Int64) in DuePush(text: "badge bob * 0", dueAtMilliseconds: time) }
      let others = (0..<5).map { DuePush(text: "badge b\($0) * 0", dueAtMilliseconds: far) }
      #expect(
        try await settle("failed", 1, others + [badge(far), task(1, "bob", "phone", 1, at: far)]).isEmpty)
      // A sooner one takes the place of a later one, and not the other way about.
      try redis.command("ZADD", layout.pushes(partition), "2", "other")
      #expect(try await settle("other", 2, [badge(far - 9), badge(far - 2)]).isEmpty)
      #expect(try await due(broker, at: far - 1).isEmpty == (1 << 50 < far))
      #expect(try redis.command("ZSCORE", layout.corrections(partition), "badge bob * 0") == "\(far - 9)")
      // One that has begun may have counted before what is to be corrected now.
      try redis.command("ZADD", layout.corrections(partition), "3", "badge bob * 0")
      try redis.command("ZADD", layout.pushes(partition), "4", "third")
      #expect(try await settle("third", 4, [badge(far - 5)]).isEmpty)
      #expect(try await settle("badge bob * 0", 3, []).isEmpty)
      #expect(try redis.command("ZSCORE", layout.corrections(partition), "badge bob * 0") == "\(far - 5)")
    }
  }
}
