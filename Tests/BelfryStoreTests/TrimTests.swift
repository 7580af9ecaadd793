import BelfryModel
import ModelSamples
import TestKit
import Testing

@testable import BelfryStore

/// Logs are held to their length while they grow, and say what was trimmed.
@Suite struct TrimTests {
  private static var limits: Limits {
    var limits = Limits()
    limits.entriesPerSpace = 100
    return limits
  }

  /// A log at its length costs a batch about what any other log does: it is trimmed once, and no entry is read to know what
  /// went.
  @Test(arguments: [false, true]) func aBatchIsTrimmedOnce(isOneCommit: Bool) async throws {
    try await withBroker(Self.limits) { broker, redis in
      broker.store.usesSendFunctions = !isOneCommit
      for round in 0..<10 {
        if round == 5 { try redis.command("CONFIG", "RESETSTAT") }
        for result in await broker.store.commit((0..<100).map { _ in .send("ding") }) {
          _ = try result.get().commit
        }
      }
      let calls = try redis.calls()
      #expect(calls["xlen"] == 5 && calls["xtrim", default: 0] <= 5, "\(calls)")
      #expect(calls["xrange", default: 0] <= 5, "only the first that stayed: \(calls)")
    }
  }

  /// Also while the clock is behind the ids, whose milliseconds stand still then.
  @Test(arguments: [1, 7, 100], [false, true])
  func aLogNeverGrowsFarBeyondItsLength(burst: Int, isClockBehind: Bool) async throws {
    try await withBroker(Self.limits) { broker, redis in
      if isClockBehind {
        let time = try await broker.store.nowMilliseconds() + 3_600_000
        let place = time - time % 32 + 1
        try redis.setLastID(MessageID(unixMilliseconds: place, partition: space.partition, sequence: 0))
      }
      var longest = 0
      for _ in 0..<(5_000 / burst) {
        for result in await broker.store.commit((0..<burst).map { _ in .send("ding") }) {
          _ = try result.get().commit
        }
        longest = max(longest, Int(try redis.command("XLEN", layout.log(space).text)) ?? .max)
      }
      // The bound is the limit, a node that cannot be trimmed yet, and the entries that came since the last
      // check. Single sends are checked by chance, one in 32.
      #expect(longest <= 100 + 100 + (burst == 100 ? 132 : 600), "\(longest) entries")
      #expect(longest > 100)
    }
  }

  /// The loss is noted as the last entry that was trimmed, and not as the first that stayed: a reader who had
  /// read all trimmed entries has lost nothing. If many were trimmed at once, it is only known to lie before
  /// the first that stayed.
  @Test(arguments: [1, 100]) func whatIsLostIsSaidToTheEntry(burst: Int) async throws {
    try await withBroker(Self.limits) { broker, _ in
      var ids: [MessageID] = []
      for _ in 0..<(1_000 / burst) {
        let sends = (0..<burst).map { _ in Transaction.send("ding") }
        for result in await broker.store.commit(sends) { ids += try result.get().commit.ids }
        // A log is looked at after one of 32 sends, by chance. If none was for long, more goes at once than is read.
        if ids.count % 50 == 0 { try await broker.store.sweep(space.partition) }
      }
      try await broker.store.sweep(space.partition)
      let first = try await broker.log(limit: 1)[0].id
      let place = try #require(ids.firstIndex(of: first))
      #expect(place > 700)
      let lost = try await broker.store.ends(of: [space])[0].lostThrough
      #expect(ids[place - 1] <= lost && lost < first)
      #expect(burst > 1 || lost == ids[place - 1])
    }
  }
}
