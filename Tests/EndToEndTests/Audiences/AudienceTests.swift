import BelfryModel
import Testing

extension EndToEnd {
  /// Every operation, and exactly the accounts that are notified: on each of their devices, and nobody else.
  @Suite struct Audiences {
    /// With a threshold of three a server of seven is as large as one of a million.
    private static let small = ["BELFRY_LIMITS_SUBSCRIPTION_THRESHOLD": "3"]

    @Test func servers() async throws { try await play(ServerActs.stage, ServerActs.all) }
    @Test func channels() async throws { try await play(ChannelActs.stage, ChannelActs.all) }
    @Test func groups() async throws {
      try await play(GroupActs.stage, GroupActs.all)
      try await play(GroupActs.guardedStage, GroupActs.applications)
    }
    @Test func rooms() async throws { try await play(RoomActs.stage, RoomActs.all) }

    @Test func serversAboveTheThreshold() async throws {
      try await play(ServerActs.stage, ServerActs.all, settings: Self.small) { $0.heardAbove ?? $0.heard }
    }
    @Test func channelsAboveTheThreshold() async throws {
      try await play(ChannelActs.stage, ChannelActs.all, settings: Self.small) { $0.heardAbove ?? $0.heard }
    }

    private func play(
      _ stage: Stage, _ acts: [Act], settings: [String: String] = [:],
      _ heard: (Act) -> [Heard] = { $0.heard }
    ) async throws {
      try await withWorld(settings: settings) { world in
        let scenario = try AudienceScenario(stage, in: world)
        defer { scenario.close() }
        for act in acts { try await scenario.play(act, heard(act)) }
        scenario.checkAll()
      }
    }

    /// No type is left out.
    @Test func everyTypeIsHeard() {
      let acts =
        ServerActs.all + ChannelActs.all + GroupActs.all + GroupActs.applications + RoomActs.all
      #expect(Set(acts.flatMap(\.heard).map(\.type)) == Set(Catalogue.all.map(\.code)))
    }
  }
}
