import TestKit

/// Waits until copies and pushes are done, according to Redis. Pushes and corrections that are due later
/// count as not done, so afterwards nothing more is sent outside until something changes.
extension TestBroker {
  func waitUntilNothingIsToBeSent() async throws {
    var left = ""
    do {
      try await eventually(within: .seconds(60), every: .milliseconds(10)) {
        left = try redis.command("EVAL", Self.firstLeft("'pushes', 'corrections'"), "0")
        return left == "nothing"
      }
    } catch {
      throw TestFailure("there is something left to be sent: \(left); \(error)")
    }
  }

  /// Pushes alone: corrections may be due when something expires.
  func waitUntilNothingIsToBePushed() async throws {
    try await eventually("something is left to be pushed", within: .seconds(60), every: .milliseconds(10)) {
      try redis.command("EVAL", Self.firstLeft("'pushes'"), "0") == "nothing"
    }
  }

  /// A script, so that Redis answers for one moment. Lists of what is due are keys that exist only while they hold
  /// something.
  private static func firstLeft(_ lists: String) -> String {
    """
    for _, list in ipairs({\(lists)}) do
      local key = redis.call('KEYS', 'belfry:*:' .. list)[1]
      if key then return key .. ' ' .. table.concat(redis.call('ZRANGE', key, 0, -1), ', ') end
    end
    for _, key in ipairs(redis.call('KEYS', 'belfry:*:outbox')) do
      if redis.call('XLEN', key) > 0 then return key end
    end
    for _, key in ipairs(redis.call('KEYS', 'belfry:*:copies')) do
      local facts, last = redis.call('XINFO', 'STREAM', key), nil
      for index = 1, #facts, 2 do
        if facts[index] == 'last-generated-id' then last = facts[index + 1] end
      end
      for _, reader in ipairs(redis.call('SMEMBERS', string.sub(key, 1, -7) .. 'copy-readers')) do
        local state = redis.call('HGETALL', key .. ':' .. reader)
        for index = 1, #state, 2 do
          if state[index] == 'position' and state[index + 1] ~= last then return key .. ':' .. reader end
          if state[index] == 'unfinished' then return key .. ':' .. reader .. ' unfinished' end
        end
        local behind = key .. '-behind:' .. reader
        if redis.call('EXISTS', behind) == 1 then return behind .. ' ' .. redis.call('HKEYS', behind)[1] end
      end
    end
    return 'nothing'
    """
  }
}
