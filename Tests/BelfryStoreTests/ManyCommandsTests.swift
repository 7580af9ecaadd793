import BelfryModel
import BelfryRedis
import ModelSamples
import TestKit
import Testing

@testable import BelfryStore

/// One caller may need more commands than a connection takes at a time.
@Suite struct ManyCommandsTests {
  @Test func noTransactionIsCut() {
    func ends(_ names: String, atMost count: Int) -> [Int] {
      let commands = names.split(separator: " ").map { RedisCommand(String($0)) }
      return PipelineParts(of: commands, commandsEach: count).ends
    }
    #expect(ends("", atMost: 2) == [])
    #expect(ends("GET", atMost: 2) == [1])
    #expect(ends("GET GET", atMost: 2) == [2])
    #expect(ends("GET GET GET", atMost: 2) == [2, 3])
    #expect(ends("GET MULTI GET GET EXEC GET", atMost: 2) == [5, 6])
    #expect(ends("MULTI GET EXEC MULTI GET EXEC", atMost: 1) == [3, 6])
  }

  @Test func recordsOfTwentyThousandAccountsAreRead() async throws {
    try await withBroker { broker, _ in
      let spaces = (0..<20_000).compactMap { AccountID("a\($0)") }.map { SpaceID.personal($0) }
      for place in [0, 4_097, 19_999] {
        var transaction = Transaction(spaces[place])
        transaction.changes = [.banned("mallory", from: spaces[place]): "\(place)"]
        _ = try await broker.store.commit(transaction).commit
      }
      // Two tables of a space are read in a transaction, so these are 80,000 commands.
      let addresses = spaces.flatMap {
        [RecordAddress.banned("mallory", from: $0), .profile("mallory", in: $0)]
      }
      let records = try await broker.store.records(addresses)
      let found = spaces.indices.filter { records.text(.banned("mallory", from: spaces[$0])) == "\($0)" }
      #expect(found == [0, 4_097, 19_999])
      #expect(records.texts.values.count { $0 != nil } == 3)
    }
  }
}
