import BelfryModel
import TestKit
import Testing

extension EndToEnd {
  /// Everybody tries every operation. The tests of the model check the permissions account by account. These
  /// tests check that a refusal writes nothing to Redis.
  @Suite struct Attempts {
    @Test func servers() async throws { try await tryAll(ServerActs.stage, ServerActs.all) }
    @Test func channels() async throws { try await tryAll(ChannelActs.stage, ChannelActs.all) }
    @Test func groups() async throws {
      try await tryAll(GroupActs.stage, GroupActs.all)
      try await tryAll(GroupActs.guardedStage, GroupActs.applications)
    }
    @Test func rooms() async throws { try await tryAll(RoomActs.stage, RoomActs.all) }

    private func tryAll(_ stage: Stage, _ acts: [Act]) async throws {
      // Rooms have long timeouts here, because maintaining them writes too.
      let settings = [
        "BELFRY_LIMITS_ABSENCE_MILLISECONDS": "600000", "BELFRY_LIMITS_ROOMS_PER_ACCOUNT": "1000",
      ]
      try await withWorld(settings: settings) { world in
        let scenario = try AudienceScenario(stage, in: world, watches: false)
        for act in acts {
          let answers = try await scenario.attempt(act)
          // The person who does it in the act must be allowed.
          if let status = answers[act.line.by] {
            #expect((200...299).contains(status), "\(act.testDescription) as \(act.line.by): \(status)")
          }
        }
      }
    }
  }
}

extension AudienceScenario {
  /// The act as each of the cast would try it. A refused person gets a code that a program can use, and has
  /// changed nothing.
  func attempt(_ act: Act) async throws -> [String: Int] {
    var answers: [String: Int] = [:]
    try await prepare(act)
    for (name, person) in people.sorted(by: { $0.key < $1.key }) {
      let (answer, writes) = try await self.try(act.line, by: person)
      answers[name] = answer.status
      if (200...299).contains(answer.status) {
        try await prepare(act)
        continue
      }
      #expect((400...499).contains(answer.status), "\(act.testDescription) as \(name): \(answer)")
      #expect(
        answer["code"].flatMap { Refusal.Code(rawValue: $0) } != nil, "\(act.testDescription): \(answer)")
      #expect(writes == 0, "\(act.testDescription) as \(name) is refused, and wrote something")
    }
    return answers
  }

  /// - Returns: the answer, and the number of writes. From half a minute after their start, brokers record
  ///   when they swept a partition; if that came in between, the refused request is tried again. Brokers also empty
  ///   the rooms that earlier acts have closed, which is waited for.
  private func `try`(_ line: Line, by person: Person) async throws -> (Answer, writes: Int) {
    while true {
      try await eventually("closed rooms are not emptied", within: Broker.patience) {
        try Writes(redis).roomsToEmpty == 0
      }
      let before = try Writes(redis)
      let answer = try ask(person, line)
      let after = try Writes(redis)
      if before.sweeps == after.sweeps || (200...299).contains(answer.status) {
        return (answer, after.count - before.count)
      }
    }
  }
}

/// The writes that Redis has counted. They are the same for the same work, independent of the amount of data.
struct Writes {
  let count: Int
  /// When each partition was swept.
  let sweeps: Substring
  /// The number of items in the outboxes.
  let waiting: Int
  /// The number of closed rooms with attendees. They are due at once, and open rooms after the time of absence.
  let roomsToEmpty: Int

  private static let tags = Partitions.standard.hashTags
  private static let script = """
    local changes = string.match(redis.call('INFO', 'persistence'), 'rdb_changes_since_last_save:(%d+)')
    local waiting, rooms, sweeps = 0, 0, {}
    local soon = redis.call('TIME')[1] * 1000 + 60000
    for number, tag in ipairs(ARGV) do
      local prefix = 'belfry:{' .. tag .. '}:'
      waiting = waiting + redis.call('XLEN', prefix .. 'outbox')
      rooms = rooms + redis.call('ZCOUNT', prefix .. 'wake', '-inf', soon)
      sweeps[number] = redis.call('HGET', prefix .. 'partition', 'swept-at') or '-'
    end
    return table.concat({ changes, waiting, rooms, table.concat(sweeps, ',') }, ' ')
    """

  init(_ redis: RedisServer) throws {
    let words = try redis.command(["EVAL", Self.script, "0"] + Self.tags).split(separator: " ")
    try #require(words.count == 4)
    count = try #require(Int(words[0]))
    waiting = try #require(Int(words[1]))
    roomsToEmpty = try #require(Int(words[2]))
    sweeps = words[3]
  }
}
