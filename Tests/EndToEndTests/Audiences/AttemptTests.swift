import BelfryModel
import RedisFixture
import Testing

extension EndToEnd {
  /// Every operation, tried by everybody. Who may and who may not is put to the test in the model, account by
  /// account; here it is that a refusal leaves Redis byte for byte as it was.
  @Suite struct Attempts {
    @Test func servers() async throws { try await tryAll(ServerActs.stage, ServerActs.all) }
    @Test func channels() async throws { try await tryAll(ChannelActs.stage, ChannelActs.all) }
    @Test func groups() async throws {
      try await tryAll(GroupActs.stage, GroupActs.all)
      try await tryAll(GroupActs.guardedStage, GroupActs.applications)
    }
    @Test func rooms() async throws { try await tryAll(RoomActs.stage, RoomActs.all) }

    private func tryAll(_ stage: Stage, _ acts: [Act]) async throws {
      var options = RedisServer.Options()
      options.settings["enable-debug-command"] = "yes"
      // Rooms are left alone meanwhile: looking after them writes, too.
      let settings = [
        "BELFRY_LIMITS_ABSENCE_MILLISECONDS": "600000", "BELFRY_LIMITS_ROOMS_PER_ACCOUNT": "1000",
      ]
      try await withWorld(redis: options, settings: settings) { world in
        let theatre = try Theatre(stage, at: world[0], watches: false)
        for act in acts {
          let answers = try theatre.attempt(act) { try world.redis.command("DEBUG", "DIGEST") }
          // Whoever does it on the stage may.
          if let status = answers[act.line.by] {
            #expect((200...299).contains(status), "\(act.testDescription) as \(act.line.by): \(status)")
          }
        }
      }
    }
  }
}
