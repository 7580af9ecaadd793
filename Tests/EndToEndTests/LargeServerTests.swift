import BelfryModel
import Foundation
import TestKit
import Testing

extension EndToEnd {
  /// A community of a million: what is done in it costs Redis what it costs in one of ten, counted.
  ///
  /// `BELFRY_TEST_MEMBERS` sets how many, in both tests:
  ///
  ///     BELFRY_TEST_MEMBERS=1000000 swift test --filter LargeServer
  @Suite struct LargeServer {
    private static let givenMembers =
      ProcessInfo.processInfo.environment["BELFRY_TEST_MEMBERS"].flatMap { Int($0) }
    private static let members = givenMembers ?? 1_000_000
    /// The members of the server that is removed. Each of them has an index there: for a million they take
    /// 300 MB of Redis, and a minute more than these.
    private static let removed = givenMembers ?? 20_000

    @Test func everythingCostsWhatItCostsInASmallOne() async throws {
      let settings = ["BELFRY_LOOPS": "1", "BELFRY_LIMITS_SUBSCRIPTION_THRESHOLD": "5"]
      try await withWorld(settings: settings) { world in
        let owner = try Person("olga", at: world[0])
        let small = try Cost.serverApart(from: ["olga", "joiner"], by: owner)
        let large = try Cost.serverApart(from: ["olga", "joiner"], by: owner)
        // The first send of an hour opens a hash of dedupe records in its partition, which both servers may share.
        for server in [small, large] { try owner.mustSend("first", ["serverId": server]) }
        try Person.app(at: world[0]).add((0..<8).map { "small\($0)" }, to: small)
        let roster = try key("roster", large, world.redis)
        try fill(roster, to: Self.members, world.redis)
        let bytes = Int(try world.redis.command("MEMORY", "USAGE", roster, "SAMPLES", "0")) ?? 0
        #expect(try owner.call("GET", "/v1/servers/\(large)")["memberCount"] == "\(Self.members)")
        // The record of a plain member, and at most twice that with the overhead of the hash.
        #expect(bytes / Self.members <= 110, "\(bytes / Self.members) bytes of Redis a member")

        let (inSmall, inLarge) = try await betweenSweeps(world) {
          (try await costs(of: deeds(in: small), world), try await costs(of: deeds(in: large), world))
        }
        for (name, cost) in inSmall { #expect(inLarge[name] == cost, "\(name)") }
      }
    }

    /// One append tells all of a million members, and each of them learns of it whenever they connect. After
    /// retention nothing of the server is left, in its own keys or in its members' indexes.
    @Test func removingItIsOneAppend() async throws {
      let settings = ["BELFRY_LOOPS": "1", "BELFRY_LIMITS_RETENTION_MILLISECONDS": "10000"]
      try await withWorld(settings: settings) { world in
        let owner = try Person("olga", at: world[0])
        let server = try owner.createServer()
        let joined = ["first", "second", "third"]
        try Person.app(at: world[0]).add(joined, to: server)
        // The keys are looked up now, because Redis takes a second for it among a million keys.
        let settings = try key("settings", server, world.redis)
        let roster = try key("roster", server, world.redis)
        let first = try fill(roster, to: Self.removed, indexesOf: "server:\(server)", world.redis)
        #expect(Int(try world.redis.command("DBSIZE")) ?? 0 > Self.removed, "the members have indexes")
        let entered = [first, Self.removed / 2, Self.removed - 1].map { "member\($0)" }
        for member in joined + entered {
          let servers = try Person(member, at: world[0]).call("GET", "/v1/servers")
          #expect(servers.text.contains("\"\(server)\""), "\(member): \(servers)")
        }
        let live = try Person("first", at: world[0]).stream()
        try world.redis.command("CONFIG", "RESETSTAT")
        #expect(try owner.call("DELETE", "/v1/servers/\(server)").status == 204)
        #expect(try Cost.calls(world)["xadd"] == 1)
        #expect(live.wait { $0.contains { $0.type == 6 } })
        for member in joined + entered + ["olga"] {
          let types = try Person(member, at: world[0]).unread().compactMap { $0["type"] as? Int }
          #expect(types.count { $0 == 6 } == 1, "\(member)")
        }
        #expect(try owner.call("GET", "/v1/servers/\(server)").status == 404)
        try await waitUntilGone(settings, world.redis)
        #expect(try world.redis.command("KEYS", "*:server:\(server)").isEmpty)
        #expect(try world.redis.command("KEYS", "*:spaces:*").isEmpty)
      }
    }

    /// Runs work while the broker sweeps no partition, which it does not do in the first half minute after
    /// its start. If a machine takes longer, the work is done once more. All the deeds leave a server as it
    /// was.
    private func betweenSweeps<Value>(_ world: World, _ work: () async throws -> Value) async throws -> Value
    {
      for _ in 0..<10 {
        await world[0].stop()
        try await world[0].start()
        let before = try Writes(world.redis).sweeps
        let value = try await work()
        if try Writes(world.redis).sweeps == before { return value }
      }
      throw FixtureError("sweeps come between each time")
    }

    // MARK: The deeds

    private typealias Deed = (name: String, line: Line)

    /// Joining, leaving, kicking, muting, sending and paging, each by a person with the same role in the
    /// other server.
    private func deeds(in server: String) -> [Deed] {
      let path = "/v1/servers/\(server)"
      return [
        ("join", Line("joiner", "POST", path + "/applications", [:])),
        ("subscribe", Line("joiner", "PUT", path + "/subscription")),
        (
          "mute",
          Line(
            "olga", "POST", path + "/channels/{default}/mutes", ["accids": ["joiner"], "durationSeconds": 60])
        ),
        ("unmute", Line("olga", "DELETE", path + "/channels/{default}/mutes/joiner")),
        (
          "send", Line("joiner", "POST", "/v1/notifications", ["serverId": .string(server), "body": "hello"])
        ),
        ("leave", Line("joiner", "DELETE", path + "/members/joiner")),
        ("join again", Line("joiner", "POST", path + "/applications", [:])),
        ("kick", Line("olga", "DELETE", path + "/members/joiner")),
        ("ban", Line("olga", "POST", path + "/bans", ["accids": ["joiner"]])),
        ("unban", Line("olga", "DELETE", path + "/bans/joiner")),
        ("page", Line("olga", "GET", path + "/members?limit=5")),
      ]
    }

    private func costs(of deeds: [Deed], _ world: World) async throws -> [String: [String: Int]] {
      var costs: [String: [String: Int]] = [:]
      for (name, line) in deeds {
        let person = try Person(line.by, at: world[0])
        let channel = try defaultChannel(line.path, world)
        costs[name] = try Cost.calls(world) {
          let answer = try person.call(
            line.method, line.path.replacingOccurrences(of: "{default}", with: channel), json: line.body)
          #expect((200...299).contains(answer.status), "\(name): \(answer)")
          // The echo to the account's own devices is published separately from the commit, and nobody waits
          // for it. A request that the broker sends to Redis now, on its one connection, is answered after
          // it.
          #expect(try person.call("GET", "/readyz").status == 200)
        }
      }
      return costs
    }

    private func defaultChannel(_ path: String, _ world: World) throws -> String {
      guard let server = path.split(separator: "/").dropFirst(2).first.map(String.init) else { return "" }
      return try Person("olga", at: world[0]).call("GET", "/v1/servers/\(server)")["defaultChannelId"] ?? ""
    }

    // MARK: The roster

    /// Enters a number of members into the roster as the store would write them, and the space, if one is
    /// given, into the index of each. Returns the number of the first. This bypasses the broker: the test
    /// does not measure how they joined, and a thousand per call would take minutes.
    ///
    /// In the indexes it looks as if they had joined before anything else happened in their partitions, whose
    /// clocks are left out. The low ten bits of the hash that gives the partition depend only on low ten
    /// bits.
    @discardableResult
    private func fill(_ roster: String, to count: Int, indexesOf space: String = "", _ redis: RedisServer)
      throws -> Int
    {
      let first = Int(try redis.command("HLEN", roster)) ?? 0
      let script = """
        local tags = {}
        for tag in string.gmatch(ARGV[4], '%S+') do tags[#tags + 1] = tag end
        local function extend(hash, text)
          for at = 1, #text do hash = bit.bxor(hash, string.byte(text, at)) * 0x1b3 % 1024 end
          return hash
        end
        local member = extend(0x325, 'account:member')
        for i = ARGV[1], ARGV[2] do
          local account = 'member' .. i
          redis.call('HSET', KEYS[1], account, 'm 1763700000000-4096')
          if ARGV[3] ~= '' then
            local tag = tags[extend(member, tostring(i)) % #tags + 1]
            redis.call('HSET', 'belfry:{' .. tag .. '}:spaces:' .. account, ARGV[3],
              'joined 1763700000000-4097 0-0')
          end
        end
        """
      let tags = Partitions.standard.hashTags.joined(separator: " ")
      // Meanwhile the broker waits for Redis, but not for long.
      let step = 10_000
      for start in stride(from: first, to: count, by: step) {
        let last = min(start + step, count) - 1
        try redis.command("EVAL", script, "1", roster, "\(start)", "\(last)", space, tags)
      }
      return first
    }

    private func key(_ table: String, _ server: String, _ redis: RedisServer) throws -> String {
      try #require(
        try redis.command("KEYS", "*:\(table):server:\(server)").split(separator: "\n").first.map(String.init)
      )
    }

    /// The settings go with the rest of it. Beyond retention, that takes a round of the sweep or two.
    private func waitUntilGone(_ settings: String, _ redis: RedisServer) async throws {
      try await eventually("it is still there", within: .seconds(300), every: .milliseconds(200)) {
        try redis.command("EXISTS", settings) == "0"
      }
    }
  }
}
