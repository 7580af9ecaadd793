import CFunctions
import TestKit
import Testing

@testable import SimulatedRedis

/// Belfry's own functions do the same in both, with the same Lua.
@Suite struct FunctionTests {
  private static let stepsPerHistory = 120
  private static let seeds =
    TestEnvironment.seed..<TestEnvironment.seed
    + UInt64(max(TestEnvironment.steps(or: 600) / stepsPerHistory, 1))

  // SAFETY: the text never changes, and ends with a zero byte.
  private static let functions = unsafe String(cString: redis_functions())

  /// The library as brokers load it, under a version of its own.
  private static let library = Bytes(
    "#!lua name=belfry_tests\nlocal VERSION = 1\n\(functions)".utf8)

  @Test func functionsDoTheSame() async throws {
    try await withComparison { comparison in
      comparison.beginning = [.command([Bytes("FUNCTION".utf8), Bytes("LOAD".utf8), Self.library])]
      for seed in Self.seeds {
        var generator = FunctionGenerator(seed: seed)
        let difference = try comparison.difference(generator.history(Self.stepsPerHistory))
        #expect(difference == nil, "seed \(seed): \(difference?.description ?? "")")
        if difference != nil { return }
        checkReplay(of: comparison.simulated, "seed \(seed)")
      }
      // Calls that are all refused would say nothing.
      #expect(
        comparison.counts[true, default: 0] * 10 < comparison.counts[false, default: 0],
        "\(comparison.counts)")
    }
  }

  /// With full memory, brokers call the same functions in a script (FullMemoryScript).
  @Test func functionsRunInAScript() async throws {
    let script = """
      #!lua flags=allow-oom
      local collected = {}
      local function collect(registered) collected[registered.function_name] = registered.callback end
      local redis = setmetatable({ register_function = collect }, { __index = redis })
      local function register_all()
      local VERSION = 1
      \(Self.functions)
      end
      register_all()
      local wanted = collected[table.remove(ARGV)]
      if not wanted then return redis.error_reply('OOM this is not done while memory is full') end
      return wanted(KEYS, ARGV)
      """
    let name = String(decoding: SHA1.hexadecimal(Bytes(script.utf8)), as: UTF8.self)
    func call(_ words: String...) -> Step {
      .command(
        ["EVALSHA", name, "1", "belfry:{0.0}:partition"].map { Bytes($0.utf8) } + words.map { Bytes($0.utf8) }
      )
    }
    try await withComparison { comparison in
      try comparison.check([
        .command("SCRIPT", "LOAD", script), call("belfry_begin_history_1"),
        .command("HSETNX", "belfry:{0.0}:partition", "last", "0-0"), call("belfry_begin_history_1"),
        call("a", "phone", "record", "2", "belfry_put_pusher_1"), call("a", "m", "1", "belfry_begin_badge_1"),
        call("1-1", "belfry_sweep_copies_1"), call("a", "5", "belfry_announce_revocation_1"), call("nothing"),
        .command("HGETALL", "belfry:{0.0}:partition"),
      ])
    }
  }
}
