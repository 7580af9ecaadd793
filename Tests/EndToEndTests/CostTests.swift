import Foundation
import Testing

extension EndToEnd {
  /// What a send costs Redis, counted, not timed.
  @Suite struct Cost {
    /// Calls by command since the last reset, the test's own questions aside.
    static func calls(_ world: World) throws -> [String: Int] {
      var calls: [String: Int] = [:]
      for line in try world.redis.command("INFO", "commandstats").split(whereSeparator: \.isNewline) {
        guard line.hasPrefix("cmdstat_"), let name = line.dropFirst(8).split(separator: ":").first,
          let count = line.split(separator: "=").dropFirst().first?.split(separator: ",").first
        else { continue }
        // What the brokers do by themselves, now and then, has nothing to do with sends.
        if ["info", "config|resetstat", "ping", "time", "auth", "client"].contains(String(name)) { continue }
        calls[String(name)] = Int(count)
      }
      return calls
    }

    @Test func aSendCostsTheSameForThreeAndForTwoThousandMembers() async throws {
      try await withWorld(settings: ["BELFRY_LOOPS": "1"]) { world in
        let owner = try Person("owner", at: world[0])
        let app = try Person.app(at: world[0])
        var counted: [[String: Int]] = []
        for members in [3, 2_000] {
          let server = try owner.createServer()
          try app.add((1..<members).map { "m\($0)" }, to: server)
          let log = try #require(
            try world.redis.command("KEYS", "*:log:server:\(server)").split(separator: "\n").first.map(
              String.init))
          let before = try #require(Int(try world.redis.command("XLEN", log)))
          try await Task.sleep(for: .milliseconds(300))
          try world.redis.command("CONFIG", "RESETSTAT")
          for index in 0..<20 { try owner.mustSend("n\(index)", ["serverId": server]) }
          let calls = try Self.calls(world)
          #expect(try Int(world.redis.command("XLEN", log)) == before + 20)
          #expect(calls["xadd"] == 20, "\(calls)")
          counted.append(
            calls.filter {
              ["xadd", "fcall", "hget", "hmget", "hset", "hsetnx", "hlen", "spublish"].contains($0.key)
            })
        }
        #expect(counted[0] == counted[1])
      }
    }
  }
}
