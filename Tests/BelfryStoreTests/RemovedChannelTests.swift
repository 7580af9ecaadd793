import BelfryModel
import ModelSamples
import TestKit
import Testing

@testable import BelfryStore

/// A channel is removed in one commit, and the sweep ends it in the records of members, who may be a million.
@Suite struct RemovedChannelTests {
  private static let alice = Actor(account: "alice")

  @Test func theSweepEndsRemovedChannelsInRecords() async throws {
    try await withBroker { broker, _ in
      try await broker.makeChannels([8, 9])
      let others = try await broker.record("bob").membership.channels[8]
      _ = try await broker.runner.run(RemoveChannel(server, id: 9, actor: Self.alice))
      #expect(try await broker.record("bob").membership.channels[9]?.intervals.current != nil)
      try await broker.sweepEverything()
      let channels = try await broker.record("bob").membership.channels
      #expect(channels[8] == others)
      #expect(channels[9]?.intervals.current == nil)
      let removal = try #require(try await broker.log().last?.id)
      #expect(
        channels[9]?.intervals.contains(removal) == true, "bob still sees the announcement of the removal")
      #expect(try await broker.record("carol").membership.channels[9]?.blocked.current == nil)
      let member = try await broker.record("bob")
      try await broker.sweepEverything()
      #expect(try await broker.record("bob") == member, "once is enough")
    }
  }

  /// A part of a keyspace may be lost, and the rest says nothing of what was there.
  @Test func withoutTheTableOfChannelsNothingIsKnown() async throws {
    try await withBroker { broker, redis in
      try await broker.makeChannels([8, 9])
      let bob = try await broker.record("bob")
      try redis.command("DEL", broker.store.layout.table(TableAddress(space, .channels)).text)
      try await broker.sweepEverything()
      #expect(try await broker.record("bob") == bob)
    }
  }

  @Test func theyAreForgottenAfterRetention() async throws {
    var limits = Limits()
    limits.retentionMilliseconds = -60_000
    try await withBroker(limits) { broker, _ in
      try await broker.makeChannels([8, 9])
      _ = try await broker.runner.run(RemoveChannel(server, id: 9, actor: Self.alice))
      try await broker.sweepEverything()
      #expect(try await broker.record("bob").membership.channels.keys.sorted() == [8])
      #expect(try await broker.record("carol").membership.channels.keys.sorted() == [8])
    }
  }

  /// A record that no longer says who was in the channel would hide what was lost in it.
  @Test func theyAreKeptAsLongAsLossesAreTold() async throws {
    var limits = Limits()
    limits.retentionMilliseconds = 600_000
    try await withBroker(limits) { broker, _ in
      try await broker.makeChannels([8, 9])
      _ = try await broker.runner.run(RemoveChannel(server, id: 9, actor: Self.alice))
      try await broker.sweepEverything()
      let removed = try #require(try await broker.log().last?.id).unixMilliseconds
      for (passed, known) in [(900_000, [8, 9]), (1_500_000, [8])] as [(Int64, [EntityID])] {
        try await broker.store.sweep(space.partition, nowMilliseconds: removed + passed)
        #expect(try await broker.record("bob").membership.channels.keys.sorted() == known)
      }
    }
  }

  @Test func aMuteInARemovedChannelIsNone() async throws {
    try await withBroker { broker, _ in
      try await broker.makeChannels([8, 9])
      for id in [8, 9] as [EntityID] {
        _ = try await broker.runner.run(
          MuteInChannel(
            server, id: id, actor: Self.alice, accounts: ["bob"],
            durationMilliseconds: Limits.muteMaximumMilliseconds))
      }
      _ = try await broker.runner.run(RemoveChannel(server, id: 9, actor: Self.alice))
      try await broker.sweepEverything()
      #expect(try await broker.record("bob").channelMutes.keys.sorted() == [8])
    }
  }

  /// Leaving does not lift a block, but a removed channel has none.
  @Test func aFormerMemberIsForgottenWithTheChannelsThatBlockedIt() async throws {
    var limits = Limits()
    limits.retentionMilliseconds = -60_000
    try await withBroker(limits) { broker, _ in
      try await broker.makeChannels([8, 9])
      _ = try await broker.runner.run(LeaveServer(server, actor: Actor(account: "carol")))
      for (channel, isKept) in [(9, true), (8, false)] as [(EntityID, Bool)] {
        _ = try await broker.runner.run(RemoveChannel(server, id: channel, actor: Self.alice))
        try await broker.sweepEverything()
        let former = try await broker.store.page(of: TableAddress(space, .former), after: nil, limit: 10)
        #expect(former.records.map(\.field).contains("carol") == isKept)
      }
    }
  }
}

extension Broker {
  /// Makes private channels. Bob is in each, and each blocks carol.
  fileprivate func makeChannels(_ channels: [EntityID]) async throws {
    let alice = Actor(account: "alice")
    try await makeServer(["bob", "carol"])
    for id in channels {
      _ = try await runner.run(
        CreateChannel(
          server, id: id, actor: alice, name: "bells", type: .private, membership: .roster, members: ["bob"]))
      _ = try await runner.run(
        ChangeChannelList(server, id: id, actor: alice, list: .block, adds: true, accounts: ["carol"]))
    }
  }

  fileprivate func record(_ account: AccountID) async throws -> MemberRecord {
    let address = RecordAddress.member(account, of: space)
    let records = try await store.records([address])
    let text = try #require(records.text(address))
    return try #require(MemberRecord(text: text))
  }
}
