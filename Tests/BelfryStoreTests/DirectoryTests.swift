import BelfryModel
import ModelSamples
import TestKit
import Testing

@testable import BelfryStore

/// Directories, and spaces that are to be looked at: what the brokers find without knowing any space.
@Suite struct DirectoryTests {
  private static func group(_ number: Int) -> SpaceID { .group(EntityID(bits: UInt64(number) << 1)) }

  private static func listing(_ isListed: Bool, at time: Int64) -> ListingChange {
    ListingChange(.groups, isListed: isListed, createdAt: time)
  }

  @Test func theNewestComeFirstPageByPage() async throws {
    try await withBroker { broker, redis in
      // Among them times of fewer digits, and several of one millisecond.
      let times: [Int64] = [5, 1_763_700_000_000, 999_999_999_999, 1_763_700_000_000, 1_763_700_000_001, 0]
      var wanted: [(Int64, SpaceID)] = []
      for (number, time) in times.enumerated() {
        let group = Self.group(number + 1)
        var transaction = Transaction(group)
        transaction.listing = Self.listing(true, at: time)
        _ = try await broker.store.commit(transaction).commit
        wanted.append((time, group))
      }
      try await broker.relayEverything()
      wanted.sort { ($0.0, $0.1.key) > ($1.0, $1.1.key) }
      for limit in [1, 2, 5, 6, 100] {
        var (listed, cursor): ([SpaceID], PageCursor?) = ([], nil)
        repeat {
          let page = try await broker.store.page(of: .groups, after: cursor, limit: limit)
          #expect(!page.spaces.isEmpty && page.spaces.count <= limit)
          listed += page.spaces
          cursor = page.next
        } while cursor != nil
        #expect(listed == wanted.map(\.1))
      }
      #expect(try await broker.store.page(of: .rooms, after: nil, limit: 10).spaces == [])
      #expect(try redis.keys("*:directory:*") == [layout.directory(.groups)])
    }
  }

  @Test func listingTwiceIsListingOnceAndUnlistingEndsIt() async throws {
    try await withBroker { broker, redis in
      let (group, time) = (Self.group(1), Int64(1_763_700_000_000))
      try await broker.list(group, Self.listing(true, at: time))
      let before = try redis.digest()
      try await broker.list(group, Self.listing(true, at: time))
      #expect(try redis.digest() == before)
      for _ in 0..<2 { try await broker.list(group, Self.listing(false, at: time)) }
      #expect(try redis.keys("belfry:{*").allSatisfy { $0.hasSuffix(":partition") })
    }
  }

  @Test(arguments: ["", "17", "1763700000000", "1763700000000:group", "176370000000:group:7", "+"])
  func aCursorOfSomebodyElseIsRefused(text: String) async throws {
    try await withBroker { broker, _ in
      let error = await #expect(throws: StoreError.self) {
        try await broker.store.page(of: .groups, after: PageCursor(text: text), limit: 10)
      }
      #expect(error?.code == .badCursor)
    }
  }

  // MARK: Spaces to look at

  private func commit(_ broker: isolated Broker, _ space: SpaceID, wakeAt time: Int64) async throws {
    var transaction = Transaction(space)
    transaction.wakeAtMilliseconds = time
    _ = try await broker.store.commit(transaction).commit
  }

  @Test func spacesAreDueFromTheirTimeOn() async throws {
    try await withBroker { broker, _ in
      let spaces = (1...40).map { Self.group($0) }
      for (index, space) in spaces.enumerated() {
        try await commit(broker, space, wakeAt: 1_000 + Int64(index))
      }
      #expect(try await broker.store.dueSpaces(nowMilliseconds: 999).spaces == [])
      let due = try await broker.store.dueSpaces(nowMilliseconds: 1_029).spaces
      #expect(
        Set(due) == Set((0..<30).map { DueSpace(space: spaces[$0], atMilliseconds: 1_000 + Int64($0)) }))
    }
  }

  @Test func ofOnePartitionTheLongestDueComeFirstAndNotAllAtOnce() async throws {
    try await withBroker { broker, redis in
      for number in 0..<50 {
        try redis.command("ZADD", layout.wake(space.partition), "\(100 - number)", "room:\(number + 1)")
      }
      let due = try await broker.store.dueSpaces(nowMilliseconds: 1_000).spaces
      #expect(due.map(\.atMilliseconds) == (0..<16).map { 51 + Int64($0) })
    }
  }

  @Test func aCommitMakesItEarlierAndNeverLater() async throws {
    try await withBroker { broker, _ in
      for (time, wanted) in [(Int64(50), Int64(50)), (30, 30), (40, 29), (29, 28), (10, 10)] {
        try await commit(broker, space, wakeAt: time)
        #expect(
          try await broker.store.dueSpaces(nowMilliseconds: 100).spaces
            == [DueSpace(space: space, atMilliseconds: wanted)])
      }
    }
  }

  @Test func postponingIsForWhoeverSawTheTimeAsItIs() async throws {
    try await withBroker { broker, redis in
      try await commit(broker, space, wakeAt: 50)
      let seen = try #require(try await broker.store.dueSpaces(nowMilliseconds: 50).spaces.first)
      try await broker.store.postpone(
        DueSpace(space: space, atMilliseconds: 49), toMilliseconds: 80)
      #expect(try await broker.store.dueSpaces(nowMilliseconds: 50).spaces == [seen])

      try await broker.store.postpone(seen, toMilliseconds: 80)
      #expect(try await broker.store.dueSpaces(nowMilliseconds: 79).spaces == [])
      let later = DueSpace(space: space, atMilliseconds: 80)
      #expect(try await broker.store.dueSpaces(nowMilliseconds: 80).spaces == [later])

      // The space is wanted even later than it is due. A broker that has looked already must look again all
      // the same.
      try await commit(broker, space, wakeAt: 90)
      try await broker.store.postpone(later, toMilliseconds: nil)
      let again = try await broker.store.dueSpaces(nowMilliseconds: 80).spaces
      #expect(again.map(\.space) == [space])
      try await broker.store.postpone(again[0], toMilliseconds: nil)
      #expect(try redis.keys("*:wake") == [])
    }
  }
}
