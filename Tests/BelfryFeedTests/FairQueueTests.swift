import BelfryModel
import ModelSamples
import TestKit
import Testing

@testable import BelfryFeed

struct FairQueueTests {
  private final class Begun {
    var names: [String] = []
  }

  private let begun = Begun()

  /// The first letter of a name is its account.
  private func account(_ name: String) throws -> AccountID { try #require(AccountID(String(name.prefix(1)))) }

  private func come(_ name: String, to queue: FairQueue, wants: Bool = true) throws {
    queue.enter(as: try account(name)) { [begun] in
      begun.names.append(name)
      return wants
    }
  }

  @Test func ofOneAccountOneAfterTheOther() throws {
    let queue = FairQueue(places: 1, perAccount: 1)
    for name in ["a1", "a2", "a3"] { try come(name, to: queue) }
    #expect(begun.names == ["a1"])
    for _ in 0..<3 { queue.leave(as: try account("a")) }
    #expect(begun.names == ["a1", "a2", "a3"])
    try come("a4", to: queue)
    #expect(begun.names == ["a1", "a2", "a3", "a4"])
  }

  @Test func accountsTakeTurns() throws {
    let queue = FairQueue(places: 1, perAccount: 1)
    for name in ["a1", "a2", "a3", "b1", "b2", "c1"] { try come(name, to: queue) }
    for name in ["a", "a", "b", "c", "a"] { queue.leave(as: try account(name)) }
    #expect(begun.names == ["a1", "a2", "b1", "c1", "a3", "b2"])
  }

  @Test func anAccountHasNoMoreThanItsPlacesHoweverManyAreFree() throws {
    let queue = FairQueue(places: 4, perAccount: 2)
    for name in ["a1", "a2", "a3", "a4", "b1"] { try come(name, to: queue) }
    #expect(begun.names == ["a1", "a2", "b1"])
    queue.leave(as: try account("b"))
    #expect(begun.names == ["a1", "a2", "b1"])
    queue.leave(as: try account("a"))
    #expect(begun.names == ["a1", "a2", "b1", "a3"])
  }

  /// One that rests has its turn when it has a place again, though another left before.
  @Test func whoHadAllPlacesIsNotForgotten() throws {
    let queue = FairQueue(places: 2, perAccount: 1)
    for name in ["a1", "a2", "b1", "c1"] { try come(name, to: queue) }
    queue.leave(as: try account("b"))
    #expect(begun.names == ["a1", "b1", "c1"])
    queue.leave(as: try account("a"))
    #expect(begun.names == ["a1", "b1", "c1", "a2"])
  }

  @Test func whoDoesNotWantThePlacePassesItOn() throws {
    let queue = FairQueue(places: 1, perAccount: 1)
    try come("a1", to: queue)
    for name in ["b1", "a2"] { try come(name, to: queue, wants: false) }
    try come("c1", to: queue)
    queue.leave(as: try account("a"))
    #expect(begun.names == ["a1", "b1", "a2", "c1"])
    try come("d1", to: queue)
    #expect(begun.names.last == "c1")
  }

  @Test func whoStepsOutLetsAnotherInAndReturnsWhenThereIsAPlace() async throws {
    let queue = FairQueue(places: 1, perAccount: 1)
    for name in ["a1", "b1"] { try come(name, to: queue) }
    let (a, b) = (try account("a"), try account("b"))
    await queue.stepOut(as: a) {
      #expect(begun.names == ["a1", "b1"])
      queue.leave(as: b)
    }
    try come("c1", to: queue)
    #expect(begun.names == ["a1", "b1"])
    queue.leave(as: a)
    #expect(begun.names == ["a1", "b1", "c1"])
  }

  /// Places are neither lost nor made, in any order of coming and going.
  @Test func placesAreKeptCountOf() throws {
    var random = SeededGenerator(seed: TestEnvironment.seed)
    let queue = FairQueue(places: 3, perAccount: 2)
    let accounts = try ["a", "b", "c"].map { try account($0) }
    var open: [AccountID: Int] = [:]
    var waiting = 0
    for _ in 0..<10_000 {
      let account = random.pick(accounts)
      if random.oneIn(2) {
        waiting += 1
        queue.enter(as: account) {
          waiting -= 1
          open[account, default: 0] += 1
          return true
        }
      } else if open[account, default: 0] > 0 {
        open[account, default: 0] -= 1
        queue.leave(as: account)
      }
      let total = open.values.reduce(0, +)
      try #require(total <= 3 && open.values.allSatisfy { $0 <= 2 }, "BELFRY_SEED=\(TestEnvironment.seed)")
      try #require(
        waiting == 0 || total == 3 || open.values.contains(2), "BELFRY_SEED=\(TestEnvironment.seed)")
    }
  }
}
