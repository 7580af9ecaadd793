import BelfryModel
import ModelSamples
import TestKit
import Testing

@testable import BelfryStore

/// Brokers share nothing but Redis: what several do at once must come to what one after the other would.
@Suite struct ManyBrokersTests {
  @Test func whatSeveralSendIsOneChain() async throws {
    try await withRedisServer { redis in
      try await withBroker(of: redis) { listener in
        try await listener.feed.subscribe(space)
        try await withThrowingTaskGroup(of: Void.self) { group in
          for _ in 0..<3 {
            group.addTask {
              try await withBroker(of: redis) { broker in
                for number in 0..<200 { try await broker.append("\(number)", to: Audience(.all)) }
              }
            }
          }
          try await group.waitForAll()
        }
        try await listener.eventually { $0.heard.count == 600 }
        var last = MessageID.zero
        for message in listener.messages {
          guard case .appended(let entry, let predecessor) = message else { throw Unexpected(message) }
          try #require(predecessor == last && entry.id > last)
          last = entry.id
        }
        let heard = listener.messages.compactMap(\.entry)
        #expect(try await listener.log() == heard)
      }
    }
  }

  @Test func aCeilingHoldsWhoeverComesFirst() async throws {
    var limits = Limits()
    limits.membersPerServer = 20
    let (few, names) = (limits, ["a", "b", "c"])
    try await withRedisServer { redis in
      try await withBroker(of: redis, few) { broker in
        try await broker.makeServer()
        try await withThrowingTaskGroup(of: Void.self) { group in
          for name in names {
            group.addTask {
              try await withBroker(of: redis, few) { broker in
                for number in 0..<15 { await broker.tryToAdd("\(name)\(number)") }
              }
            }
          }
          try await group.waitForAll()
        }
        #expect(try await broker.members() == 20)
        var indexed = 0
        for name in names {
          for number in 0..<15 {
            let account = try #require(AccountID("\(name)\(number)"))
            indexed += try await broker.store.index(of: account).count
          }
        }
        #expect(indexed == 19, "every member but the owner, and nobody else")
      }
    }
  }

  @Test func relayingTogetherIsRelayingOnce() async throws {
    try await withRedisServer { redis in
      try await withBroker(of: redis) { listener in
        try await listener.feed.subscribe(.personal("bob"))
        var transaction = Transaction.send("welcome")
        transaction.indexChanges = [IndexChange(.joined, ["bob"])]
        _ = try await listener.store.commit(transaction).commit
        try await withThrowingTaskGroup(of: Void.self) { group in
          for _ in 0..<4 {
            group.addTask {
              try await withBroker(of: redis) { try await $0.store.relayOutbox(of: space.partition) }
            }
          }
          try await group.waitForAll()
        }
        try await listener.append("the end", to: Audience(.all), in: .personal("bob"))
        try await listener.eventually { $0.messages.last?.entry != nil }
        #expect(listener.messages.dropLast() == [.index])
      }
    }
  }
}

extension Broker {
  /// Whether there was room is the test's to find out.
  fileprivate func tryToAdd(_ name: String) async {
    guard let account = AccountID(name) else { return }
    try? await add([account])
  }
}
