import SimulatedRedis
import TestKit
import Testing

/// A Redis that is full, a replica, or behind a password refuses with the words of a real one.
@Suite struct RefusalTests {
  @Test func aFullRedisRefuses() async throws {
    try await withComparison { comparison in
      comparison.prepare = { real, simulated in
        _ = try real(["CONFIG", "SET", "maxmemory", "0"])
        for words in Self.preparation { _ = try real(words) }
        Self.prepare(simulated)
        _ = try real(["CONFIG", "SET", "maxmemory", "1"])
        simulated.memoryLimit = -1
      }
      try comparison.check(Self.attempts)
    }
  }

  @Test func aRedisThatCannotSaveRefuses() async throws {
    try await withComparison { comparison in
      for words in Self.preparation { try comparison.server.command(words) }
      try await comparison.server.failDisk()
      comparison.prepare = { _, simulated in
        Self.prepare(simulated)
        simulated.diskFailure = .snapshot
      }
      try comparison.check(Self.attempts)
    }
  }

  private static let preparation = [
    ["FUNCTION", "LOAD", library], ["SET", "k", "x"], ["SCRIPT", "LOAD", "return 1"],
  ]

  private static func prepare(_ simulated: SimulatedRedis) {
    var client = SimulatedClient(id: 9)
    for words in preparation { _ = simulated.execute(words.map { Bytes($0.utf8) }, on: &client, at: 1) }
  }

  private static let library = """
    #!lua name=tests
    local function write(keys, arguments) return redis.call('SET', keys[1], 'x') end
    redis.register_function({ function_name = 'write', callback = write })
    redis.register_function({ function_name = 'free', callback = write, flags = { 'allow-oom' } })
    redis.register_function({ function_name = 'read', callback = write, flags = { 'no-writes' } })
    """

  @Test func aReplicaRefuses() async throws {
    try await withComparison { comparison in
      comparison.prepare = { real, simulated in
        _ = try real(["REPLICAOF", "127.0.0.1", "1"])
        simulated.master = MasterLink(host: "127.0.0.1", port: 1)
      }
      comparison.finish = { real in _ = try real(["REPLICAOF", "NO", "ONE"]) }
      try comparison.check(Self.attempts)
    }
  }

  /// One that must not serve old data.
  @Test func aReplicaWithoutItsMasterRefuses() async throws {
    try await withComparison(["replica-serve-stale-data": "no"]) { comparison in
      comparison.prepare = { real, simulated in
        _ = try real(["REPLICAOF", "127.0.0.1", "1"])
        simulated.master = MasterLink(host: "127.0.0.1", port: 1)
        simulated.master?.isUp = false
      }
      comparison.finish = { real in _ = try real(["REPLICAOF", "NO", "ONE"]) }
      try comparison.check(Self.attempts)
    }
  }

  @Test func aPasswordIsAskedFor() async throws {
    var options = RedisServer.Options()
    (options.listensOnTCP, options.password) = (true, "secret")
    try await withRedisServer(options) { server in
      let real = try RealRedis(server)
      var settings = SimulatedRedis.Options()
      settings.password = "secret"
      let simulated = SimulatedRedis(settings)
      var client = SimulatedClient(id: 1)
      for words in [
        ["PING"], ["GET", "a"], ["MULTI"], ["NONE"], ["GET"], ["AUTH", "x"], ["AUTH", "a", "secret"],
        ["PING"],
        ["AUTH", "default", "secret"], ["PING"], ["AUTH", "secret"], ["GET", "a"],
      ] {
        let command = words.map { Bytes($0.utf8) }
        let expected = try real.ask(command)
        #expect(simulated.execute(command, on: &client, at: 1).replies == [expected], "\(words)")
      }
    }
  }

  private static let attempts: [Step] = [
    .command("GET", "k"), .command("SET", "k", "y"), .command("HSET", "h", "a", "b"),
    .command("XADD", "x", "*", "a", "b"),
    .command("DEL", "k"), .command("PEXPIRE", "k", "10"), .command("FCALL", "write", "1", "k"),
    .command("FCALL", "free", "1", "k"), .command("FCALL", "read", "1", "k"),
    .command("FCALL_RO", "read", "1", "k"),
    .command("FCALL", "none", "1", "k"), .command("EVAL", "return redis.call('SET', KEYS[1], 'z')", "1", "k"),
    .command("EVAL", "return redis.call('GET', KEYS[1])", "1", "k"),
    .command("EVAL", "#!lua\nreturn redis.call('GET', KEYS[1])", "1", "k"),
    .command("EVAL", "#!lua flags=allow-oom\nreturn redis.call('SET', KEYS[1], 'z')", "1", "k"),
    .command("EVAL", "#!lua flags=no-writes\nreturn redis.call('GET', KEYS[1])", "1", "k"),
    .command("SCRIPT", "LOAD", "return 2"), .command("FUNCTION", "LOAD", "REPLACE", "#!lua name=x\nreturn 1"),
    .command("FUNCTION", "LIST", "LIBRARYNAME", "tests"), .command("MULTI"), .command("GET", "k"),
    .command("EXEC"),
    .command("MULTI"), .command("SET", "k", "y"), .command("EXEC"), .command("PING"),
    .command("SPUBLISH", "a", "b"),
    .command("WAIT", "0", "1"), .command("TIME"), .command("GET", "k"),
  ]
}
