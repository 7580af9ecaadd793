import BelfryModel
import ModelSamples
import TestKit
import Testing

@testable import BelfryStore

/// The echoes that tell an account's other devices of an act on one of them.
@Suite struct EchoTests {
  private static let echo = DeviceEcho(
    account: "bob", device: "phone", operation: OperationName(.group, "mute"),
    target: ["groupId": "7", "accids": ["carol"]])

  private static var transaction: Transaction {
    var transaction = Transaction.send("ding", clientId: "a")
    transaction.echo = echo
    return transaction
  }

  @Test func itIsToldOnTheAccountsOwnChannelAndKeptNowhere() async throws {
    try await withBroker { broker, redis in
      try await broker.feed.subscribe(.personal("bob"))
      _ = try await broker.store.commit(Self.transaction).commit
      try await broker.eventually { $0.heard.count == 1 }
      #expect(broker.heard == [Broker.Heard(space: .personal("bob"), message: .device(Self.echo))])
      #expect(try redis.keys("*bob*") == [])
    }
  }

  @Test func whatIsNotCommittedIsNotTold() async throws {
    try await withBroker { broker, _ in
      try await broker.feed.subscribe(.personal("bob"))
      _ = try await broker.store.commit(.send("ding", clientId: "a")).commit
      #expect(try await broker.store.commit(Self.transaction) != .conflict)
      var transaction = Self.transaction
      transaction.dedupe = nil
      transaction.preconditions[.settings(space)] = "something else"
      #expect(try await broker.store.commit(transaction) == .conflict)
      transaction = Transaction(space)
      transaction.echo = Self.echo
      transaction.changes[.member("carol", of: space)] = "m 0-0"
      transaction.ceilings[.roster] = 0
      #expect(try await broker.store.commit(transaction) == .ceiling(.roster))
      try await broker.append("after all that", to: Audience(.all), in: .personal("bob"))
      try await broker.eventually { !$0.heard.isEmpty }
      #expect(broker.messages.compactMap(\.entry?.body) == ["after all that"])
      #expect(broker.messages.count == 1)
    }
  }

  /// A send has no echo, and pays nothing for those that have.
  @Test func aSendTellsNobodyElse() async throws {
    try await withBroker { broker, redis in
      _ = try await broker.store.commit(.send("ding")).commit
      try redis.command("CONFIG", "RESETSTAT")
      _ = try await broker.store.commit(.send("ding")).commit
      #expect(try redis.calls()["spublish"] == 1)
      _ = try await broker.store.commit(Self.transaction).commit
      // This answer comes after the echo was sent.
      _ = try await broker.store.lastIDs(of: [space.partition])
      #expect(try redis.calls()["spublish"] == 3)
    }
  }
}
