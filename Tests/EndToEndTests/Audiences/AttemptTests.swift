import BelfryModel
import TestKit
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

    /// Of all there is, but for when each partition was swept: brokers note that by themselves, from half a minute after
    /// their start. Sets have no order that stays.
    private static let digest = """
      local values = {}
      local keys = redis.call('KEYS', '*')
      table.sort(keys)
      for _, key in ipairs(keys) do
        local type, value = redis.call('TYPE', key).ok, nil
        if type == 'set' then
          local members = redis.call('SMEMBERS', key)
          table.sort(members)
          value = table.concat(members, ' ')
        elseif string.sub(key, -10) == ':partition' then
          local fields, words = redis.call('HGETALL', key), {}
          for index = 1, #fields, 2 do
            if fields[index] ~= 'swept-at' then words[#words + 1] = fields[index] .. '=' .. fields[index + 1] end
          end
          table.sort(words)
          value = table.concat(words, ' ')
        else
          value = redis.call('DUMP', key)
        end
        values[#values + 1] = key .. ' ' .. redis.call('PEXPIRETIME', key) .. ' ' .. redis.sha1hex(value)
      end
      return redis.sha1hex(table.concat(values, ' '))
      """

    private func tryAll(_ stage: Stage, _ acts: [Act]) async throws {
      // Rooms are left alone meanwhile: looking after them writes, too.
      let settings = [
        "BELFRY_LIMITS_ABSENCE_MILLISECONDS": "600000", "BELFRY_LIMITS_ROOMS_PER_ACCOUNT": "1000",
      ]
      try await withWorld(settings: settings) { world in
        let scenario = try AudienceScenario(stage, at: world[0], watches: false)
        for act in acts {
          let answers = try scenario.attempt(act) { try world.redis.command("EVAL", Self.digest, "0") }
          // Whoever does it on the stage may.
          if let status = answers[act.line.by] {
            #expect((200...299).contains(status), "\(act.testDescription) as \(act.line.by): \(status)")
          }
        }
      }
    }
  }
}
