import BelfryModel
import Foundation
import RedisFixture
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
    /// Of the server that is removed. Each member has an index of its own there: of a million they take
    /// 300 MB of Redis, and a minute more than these.
    private static let removed = givenMembers ?? 20_000

    @Test func everythingCostsWhatItCostsInASmallOne() async throws {
      let settings = ["BELFRY_LOOPS": "1", "BELFRY_LIMITS_SUBSCRIPTION_THRESHOLD": "5"]
      try await withWorld(settings: settings) { world in
        let owner = try Person("olga", at: world[0])
        let small = try owner.createServer("small")
        let large = try owner.createServer("large")
        try Person.app(at: world[0]).add((0..<8).map { "small\($0)" }, to: small)
        let bytes = try fill(large, to: Self.members, world.redis)
        #expect(try owner.call("GET", "/v1/servers/\(large)")["memberCount"] == "\(Self.members)")
        // A plain member's record, and no more than twice that with what the hash adds.
        #expect(bytes / Self.members <= 110, "\(bytes / Self.members) bytes of Redis a member")

        let inSmall = try await costs(of: deeds(in: small), world)
        let inLarge = try await costs(of: deeds(in: large), world)
        for (name, cost) in inSmall { #expect(inLarge[name] == cost, "\(name)") }
      }
    }

    /// One append tells all of a million; whoever comes, and whenever, learns of it; and after retention
    /// nothing of the server is left, neither its own nor in its members' indexes.
    @Test func removingItIsOneAppend() async throws {
      let settings = ["BELFRY_LOOPS": "1", "BELFRY_LIMITS_RETENTION_MILLISECONDS": "10000"]
      try await withWorld(settings: settings) { world in
        let owner = try Person("olga", at: world[0])
        let server = try owner.createServer()
        let joined = ["first", "second", "third"]
        try Person.app(at: world[0]).add(joined, to: server)
        _ = try fill(server, to: Self.removed, world.redis)
        try enterIndexes(server, to: Self.removed, world.redis)
        let entered = [Self.firstEntered, Self.removed / 2, Self.removed - 1].map { "member\($0)" }
        for member in joined + entered {
          let servers = try Person(member, at: world[0]).call("GET", "/v1/servers")
          #expect(servers.text.contains("\"\(server)\""), "\(member): \(servers)")
        }
        let log = try key("log", server, world.redis)
        let before = Int(try world.redis.command("XLEN", log)) ?? 0
        let live = try Person("first", at: world[0]).stream()
        #expect(try owner.call("DELETE", "/v1/servers/\(server)").status == 204)
        #expect(Int(try world.redis.command("XLEN", log)) == before + 1)
        #expect(live.wait { $0.contains { $0.type == 6 } })
        for member in joined + entered + ["olga"] {
          let types = try Person(member, at: world[0]).unread().compactMap { $0["type"] as? Int }
          #expect(types.count { $0 == 6 } == 1, "\(member)")
        }
        #expect(try owner.call("GET", "/v1/servers/\(server)").status == 404)
        try await waitUntilGone(server, world.redis)
      }
    }

    // MARK: The deeds

    private typealias Deed = (name: String, line: Line)

    /// Joining, leaving, kicking, muting, sending and paging, each by somebody who is no different in the
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
        try world.redis.command("CONFIG", "RESETSTAT")
        let answer = try person.call(
          line.method, line.path.replacingOccurrences(of: "{default}", with: channel), json: line.body)
        #expect((200...299).contains(answer.status), "\(name): \(answer)")
        // The echo to one's own devices is said beside the commit; nobody waits for it.
        try await Task.sleep(for: .milliseconds(50))
        costs[name] = try Cost.calls(world)
      }
      return costs
    }

    private func defaultChannel(_ path: String, _ world: World) throws -> String {
      guard let server = path.split(separator: "/").dropFirst(2).first.map(String.init) else { return "" }
      return try Person("olga", at: world[0]).call("GET", "/v1/servers/\(server)")["defaultChannelId"] ?? ""
    }

    // MARK: The roster

    /// Enters so many into the roster as the store would write them, and gives the roster's bytes. Written
    /// beside the broker: what is counted is not how they came, and a thousand a call would take minutes.
    private func fill(_ server: String, to count: Int, _ redis: RedisServer) throws -> Int {
      let roster = try key("roster", server, redis)
      let present = Int(try redis.command("HLEN", roster)) ?? 0
      let script = """
        for i = ARGV[1], ARGV[2] do redis.call('HSET', KEYS[1], 'member' .. i, 'm 1763700000000-4096') end
        """
      let step = 100_000
      for start in stride(from: present, to: count, by: step) {
        _ = try redis.command(
          "EVAL", script, "1", roster, "\(start)", "\(min(start + step, count) - 1)")
      }
      return Int(try redis.command("MEMORY", "USAGE", roster, "SAMPLES", "0")) ?? 0
    }

    /// The first of those that are entered, after who created the server and who joined.
    private static let firstEntered = 4

    /// Enters the server into the indexes of those whom ``fill(_:to:_:)`` entered into its roster, as if
    /// they had joined before anything else happened in their partitions. Their partitions' clocks are left
    /// out: with these all 1,024 partitions are in use, and a round of the sweep takes four minutes.
    private func enterIndexes(_ server: String, to count: Int, _ redis: RedisServer) throws {
      let script = """
        for tag, account in string.gmatch(ARGV[2], '(%S+) (%S+)') do
          redis.call('HSET', 'belfry:{' .. tag .. '}:spaces:' .. account, ARGV[1],
            'joined 1763700000000-4096 0-0')
        end
        """
      let step = 20_000
      for start in stride(from: Self.firstEntered, to: count, by: step) {
        let accounts = (start..<min(start + step, count)).compactMap { AccountID("member\($0)") }
        let lines = accounts.map { "\(SpaceID.personal($0).partition.hashTag) \($0)" }
        _ = try redis.command("EVAL", script, "0", "server:\(server)", lines.joined(separator: "\n"))
      }
    }

    private func key(_ table: String, _ server: String, _ redis: RedisServer) throws -> String {
      try #require(
        try redis.command("KEYS", "*:\(table):server:\(server)").split(separator: "\n").first.map(String.init)
      )
    }

    private func waitUntilGone(_ server: String, _ redis: RedisServer) async throws {
      #expect(Int(try redis.command("DBSIZE")) ?? 0 > Self.removed, "the members have indexes")
      // Its settings go with the rest of it. Beyond retention, it takes a round of the sweep or two.
      let settings = try key("settings", server, redis)
      let deadline = ContinuousClock.now + .seconds(300)
      while try redis.command("EXISTS", settings) == "1" {
        try #require(ContinuousClock.now < deadline, "it is still there")
        try await Task.sleep(for: .milliseconds(200))
      }
      #expect(try redis.command("KEYS", "*:server:\(server)").isEmpty)
      #expect(try redis.command("KEYS", "*:spaces:*").isEmpty)
    }
  }
}
