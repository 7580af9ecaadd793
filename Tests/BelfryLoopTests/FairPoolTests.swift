import BelfryLoop
import TestKit
import Testing

@Suite struct FairPoolTests {
  private typealias Pool = FairPool<String, String>

  private func makePool(places: Int, waiting: Int = 1_000) -> Pool {
    Pool(places: FairShares(total: places), waiting: FairShares(total: waiting))
  }

  private func add(_ pool: inout Pool, _ element: String, for owner: String) -> Bool {
    pool.append(element, for: owner)
  }

  private func take(
    _ amount: Int, _ shares: inout FairShares<String>, for owner: String?
  ) -> FairShares<String>.Shortage? {
    shares.take(amount, for: owner)
  }

  /// All that begin now.
  private func begin(_ pool: inout Pool) -> [String] {
    var begun: [String] = []
    while let next = pool.popNext() { begun.append(next.element) }
    return begun
  }

  @Test(arguments: [(1, 32), (2, 21), (3, 16), (7, 8)])
  func someThatTakeAllTheyGetLeaveAsMuchFree(owners: Int, share: Int) {
    var shares = FairShares<Int>(total: 64)
    // In turns, as requests come.
    for _ in 0..<64 { for owner in 0..<owners { _ = shares.take(for: owner) } }
    for owner in 0..<owners { #expect(shares.taken(by: owner) <= share) }
    #expect(shares.total - shares.takenByAll >= share)
    #expect(shares.shortage(for: owners) == nil)
  }

  @Test func oneOwnerHasNoMoreThanItsMostHoweverMuchIsFree() {
    var shares = FairShares<String>(total: 100, perOwner: 10)
    #expect(take(10, &shares, for: "a") == nil)
    #expect(take(1, &shares, for: "a") == .owner)
    shares.giveBack(1, of: "a")
    #expect(take(1, &shares, for: "a") == nil)
  }

  @Test func trustedOwnersHaveWhatIsReserved() {
    var shares = FairShares<String>(total: 10, reserved: 6)
    #expect(take(2, &shares, for: "a") == nil)
    #expect(take(1, &shares, for: "a") == .owner)
    #expect(take(3, &shares, for: "b") == .all)
    #expect(take(8, &shares, for: nil) == nil)
    #expect(take(1, &shares, for: nil) == .all)
    shares.giveBack(8, of: nil)
    shares.giveBack(2, of: "a")
    // More than there is at all, while nothing is taken.
    #expect(take(11, &shares, for: "b") == nil)
  }

  @Test func anOwnerThatIsSlowWaitsForItself() {
    var pool = makePool(places: 4)
    for number in 0..<10 { #expect(add(&pool, "a\(number)", for: "a")) }
    #expect(begin(&pool) == ["a0", "a1"])
    #expect(add(&pool, "b0", for: "b"))
    #expect(begin(&pool) == ["b0"])
    pool.leave("b")
    #expect(begin(&pool) == [])
    pool.leave("a")
    #expect(begin(&pool) == ["a2"])
  }

  @Test func whereAllPlacesAreTakenOwnersTakeTurns() {
    var pool = makePool(places: 2)
    for name in ["a0", "b0", "a1", "a2", "b1", "c0"] {
      #expect(add(&pool, name, for: String(name.prefix(1))))
    }
    #expect(begin(&pool) == ["a0", "b0"])
    var begun: [String] = []
    for owner in ["a", "b", "c", "a"] {
      pool.leave(owner)
      begun += begin(&pool)
    }
    #expect(begun == ["c0", "a1", "b1", "a2"])
  }

  @Test func theRoomForWaitingIsSharedToo() {
    var pool = makePool(places: 1, waiting: 8)
    #expect(
      (0..<8).map { add(&pool, "a\($0)", for: "a") } == [true, true, true, true, false, false, false, false])
    #expect(add(&pool, "b0", for: "b"))
  }

  @Test func whatIsWithdrawnIsPassedOver() {
    var pool = makePool(places: 1)
    for name in ["a0", "a1", "a2"] { #expect(add(&pool, name, for: "a")) }
    #expect(begin(&pool) == ["a0"])
    pool.withdraw(of: "a")
    pool.leave("a")
    let next = pool.popNext { $0 == "a1" }
    #expect(next?.element == "a2")
    #expect(pool.waitingCount == 0)
    pool.leave("a")
    #expect(pool.isUnused)
  }

  /// Places are neither lost nor made, and nobody waits while there is one for it.
  @Test func placesAreKeptCountOf() throws {
    var random = SeededGenerator(seed: TestEnvironment.seed)
    var pool = makePool(places: 5, waiting: 40)
    let owners = ["a", "b", "c", "d"]
    var open: [String: Int] = [:]
    var waiting: [String: Int] = [:]
    for _ in 0..<10_000 {
      let owner = random.pick(owners)
      if random.oneIn(2) {
        if pool.append(owner, for: owner) { waiting[owner, default: 0] += 1 }
      } else if open[owner, default: 0] > 0 {
        open[owner, default: 0] -= 1
        pool.leave(owner)
      }
      while let next = pool.popNext() {
        waiting[next.element, default: 0] -= 1
        open[next.element, default: 0] += 1
      }
      let total = open.values.reduce(0, +)
      let note: Comment = "BELFRY_SEED=\(TestEnvironment.seed)"
      try #require(pool.takenCount == total && total <= 5, note)
      try #require(pool.waitingCount == waiting.values.reduce(0, +), note)
      for owner in owners where waiting[owner, default: 0] > 0 {
        try #require(total == 5 || open[owner, default: 0] + 1 > max(4 - total, 1), note)
      }
    }
  }
}
