import BelfryModel
import ModelSamples
import TestKit
import Testing

@testable import BelfryStore

/// An account's own partition lists the places that the account is invited to.
@Suite struct InvitationPlaceTests {
  private static func invite(_ accounts: [AccountID], to channel: EntityID? = nil) -> Transaction {
    var transaction = Transaction(space)
    transaction.indexChanges = [IndexChange(.invited, to: channel, accounts)]
    return transaction
  }

  /// An account of the space's own partition learns of it in the commit, all others by the outbox.
  @Test func accountsLearnWhereTheyAreInvited() async throws {
    let channel: EntityID = 9
    try await withBroker { broker, redis in
      let near = try #require(
        (0..<10_000).lazy.compactMap { AccountID("near\($0)") }
          .first { Partitions.standard.holding(.personal($0)) == space.partition })
      for _ in 0..<2 {
        for transaction in [Self.invite([near, "bob"]), Self.invite([near, "bob"], to: channel)] {
          _ = try await broker.store.commit(transaction).commit
        }
      }
      try await broker.store.relayOutbox(of: space.partition)
      for account in [near, "bob"] {
        #expect(
          try await broker.store.invitations(to: account) == [
            InvitationPlace(space, channel: channel), InvitationPlace(space),
          ])
        #expect(try await broker.store.index(of: account) == [], "it belongs nowhere yet")
        let left = try #require(Int64(try redis.command("PTTL", layout.invitations(to: account))))
        #expect((1...Limits().invitationMilliseconds).contains(left))
      }
      #expect(try await broker.store.invitations(to: "carol") == [])
    }
  }

  /// A late change changes nothing, and a full list drops an early place.
  @Test func aListKeepsTheLatest() async throws {
    try await withBroker { broker, redis in
      let version = try #require(MessageID(streamForm: "1763700000000-253952"))
      let most = Int64(Limits.invitationsPerAccount)
      for number in 1...(most + 5) {
        try await broker.relay(
          IndexChange(.invited, to: EntityID(number), ["bob"]), of: space,
          version: MessageID(
            unixMilliseconds: version.unixMilliseconds + number, partition: space.partition, sequence: 0))
      }
      let places = try await broker.store.invitations(to: "bob")
      #expect(places.count == Int(most))
      #expect(places.first == InvitationPlace(space, channel: EntityID(most + 5)))
      try await broker.relay(
        IndexChange(.invited, to: EntityID(most + 5), ["bob"]), of: space, version: version)
      #expect(try await broker.store.invitations(to: "bob") == places)
    }
  }

  @Test func aPlaceIsReadAsItIsWritten() {
    for place in [
      InvitationPlace(space), InvitationPlace(space, channel: 9),
      InvitationPlace(.group(7)),
    ] { #expect(InvitationPlace(text: place.text) == place) }
    for text in ["", "server", "server:7 ", "server:7 x", "server:7 9 9", "nothing:7"] {
      #expect(InvitationPlace(text: text) == nil, "\(text)")
    }
  }
}
