import SimulatedRedis
import TestKit
import Testing

/// Scripts, functions and transactions: values change between Lua and Redis, and errors are told, as by a real Redis.
@Suite struct ScriptTests {
  @Test func scriptsAndTransactionsAreAnsweredAsByRedis() async throws {
    try await withComparison { comparison in
      for (name, steps) in [
        ("values", Self.values), ("errors", Self.errors), ("functions", Self.functions),
        ("transactions", Self.transactions),
      ] {
        let difference = try comparison.difference(steps)
        #expect(difference == nil, "\(name): \(difference?.description ?? "")")
      }
    }
  }

  private static func script(_ text: String, _ words: String...) -> Step {
    .command((["EVAL", text, "1", "key"] + words).map { Bytes($0.utf8) })
  }

  /// From Lua to Redis and back.
  private static let values: [Step] = [
    script("return 3.99"), script("return -3.99"), script("return 1e300"), script("return 0 / 0"),
    script("return 'text'"), script("return true"),
    script("return false"), script("return nil"), script("return {1, 2, 'three', {4}, nil, 5}"),
    script("return {ok = 'fine'}"), script("return {err = 'BAD luck'}"), script("return {err = 'bad'}"),
    script("return redis.error_reply('BAD luck')"), script("return redis.error_reply('bad')"),
    script("return redis.error_reply('-BAD luck')"), script("return redis.status_reply('fine')"),
    script("return redis.call('SET', KEYS[1], 10)"), script("return redis.call('GET', KEYS[1])"),
    script("return redis.call('SET', KEYS[1], 0.1)"), script("return redis.call('GET', KEYS[1])"),
    script("return redis.call('SET', KEYS[1], 1e20)"), script("return redis.call('GET', KEYS[1])"),
    script("return redis.call('SET', KEYS[1], 12345678901234567)"),
    script("return redis.call('GET', KEYS[1])"),
    script("return redis.call('GET', 'none') == false"), script("return type(redis.call('TIME'))"),
    script("return redis.call('SET', KEYS[1], 'x').ok"), script("return #ARGV .. ARGV[2]", "a", "b"),
    script("return redis.call('ZADD', 'z', 1.5, 'a', 2, 'b')"),
    script("return redis.call('ZSCORE', 'z', 'a')"),
    script("return redis.call('ZRANGE', 'z', 0, -1, 'WITHSCORES')"), script("return math.floor(2^53)"),
    script("return {unpack({1, 2, 3}, 2)}"), script("return string.format('%d-%s', 7, 'a')"),
    script("local n = {} for k in pairs({b = 1, a = 2, c = 3, dd = 4}) do n[#n + 1] = k end return n"),
    .command("SCRIPT", "LOAD", "return 1"),
    .command("EVALSHA", "e0e1f9fabfc9d4800c877a703b823ac0578ff8db", "0"),
    .command("EVALSHA", "E0E1F9FABFC9D4800C877A703B823AC0578FF8DB", "0"),
    .command("EVALSHA", "0000000000000000000000000000000000000000", "0"), .command("GET", "key"),
  ]

  private static let errors: [Step] = [
    .command("HSET", "hash", "a", "1"), script("return redis.call('GET', 'hash')"),
    script("\nlocal x = 1\nreturn redis.call('GET', 'hash')"),
    script("return redis.pcall('GET', 'hash').err"),
    script("return redis.pcall('GET', 'hash')"),
    script("local done, problem = pcall(redis.call, 'GET', 'hash') return problem.err"),
    script("error('words')"), script("error('words', 0)"), script("error({err = 'BAD words'})"),
    script("local done, problem = pcall(error, 'x') return problem"), script("return nothing"),
    script("nothing = 1"), script("return redis.call('NONE')"), script("return redis.call('GET')"),
    script("return redis.call()"), script("return redis.call({})"), script("return redis.call('MULTI')"),
    script("return redis.call('SSUBSCRIBE', 'a')"), script("return 1 +"),
    script("local function inner() return redis.call('GET', 'hash') end\nlocal x = inner()\nreturn x"),
    script("local t = nil\nreturn t.field"),
    .command("EVAL", "return 1"), .command("EVAL", "return 1", "x"), .command("EVAL", "return 1", "2", "a"),
    .command("EVAL", "return 1", "-1"),
    .command("EVAL", "#!lua flags=no-writes\nreturn redis.call('SET', 'a', 'b')", "0"),
    .command("EVAL", "#!lua flags=allow-oom\n\nreturn redis.call('GET', 'hash')", "0"),
    .command("FCALL", "none", "0"), .command("GET", "a", "b"), .command("NONE", "a", "b c"),
  ]

  private static let library = """
    #!lua name=tests
    local count = 0
    local function read(keys, arguments) return redis.call('GET', keys[1]) end
    local function write(keys, arguments)
      count = count + 1
      redis.call('SET', keys[1], arguments[1], 'PX', 1000)
      redis.call('HSET', 'hash', 'count', count)
      return {count, keys, arguments}
    end
    local function fail(keys, arguments)
      redis.call('SET', keys[1], 'half done')
      error('belfry: no', tonumber(arguments[1]))
    end
    redis.register_function('read_loosely', read)
    redis.register_function({ function_name = 'read', callback = read, flags = { 'no-writes' } })
    redis.register_function({ function_name = 'write', callback = write, flags = { 'allow-oom' } })
    redis.register_function('fail', fail)
    redis.register_function({
      function_name = 'write_reading', callback = write, flags = { 'no-writes' } })
    """

  private static let functions: [Step] = [
    .command("FUNCTION", "FLUSH"), .command("FUNCTION", "LOAD", library),
    .command("FUNCTION", "LOAD", library),
    .command("FUNCTION", "LOAD", "REPLACE", library),
    .command("FUNCTION", "LIST", "LIBRARYNAME", "t*", "WITHCODE"),
    .command("FUNCTION", "LIST", "LIBRARYNAME", "x"), .command("FCALL", "write", "1", "a", "text", "more"),
    .command("FCALL", "write", "1", "a", "text"), .command("FCALL", "read", "1", "a"),
    .command("FCALL_RO", "read", "1", "a"), .command("FCALL_RO", "write", "1", "a", "b"),
    .command("FCALL_RO", "read_loosely", "1", "a"), .command("FCALL", "write_reading", "1", "a", "b"),
    .command("FCALL", "fail", "1", "a", "0"), .command("FCALL", "fail", "1", "a", "1"),
    .command("FCALL", "fail", "1", "a"),
    .command("GET", "a"), .command("FCALL", "read", "1", "hash"), .command("FCALL", "read", "2", "hash"),
    .command("FCALL", "read", "x", "hash"), .command("FCALL", "read", "-1"), .wait(milliseconds: 999),
    .command("FCALL", "write", "1", "b", "x"), .command("PTTL", "b"), .wait(milliseconds: 1_000),
    .command("GET", "b"), .wait(milliseconds: 1), .command("GET", "b"), .command("HGETALL", "hash"),
    .command("FUNCTION", "LOAD", "return 1"), .command("FUNCTION", "LOAD", "#!lua\nreturn 1"),
    .command("FUNCTION", "LOAD", "#!lua name=x\nreturn 1"),
    .command("FUNCTION", "LOAD", "#!lua name=x\nreturn +"),
    .command("FUNCTION", "LOAD", "#!lua name=x\nredis.call('GET', 'a')"),
    .command("FUNCTION", "LOAD", "#!js name=x\nreturn 1"), .command("FUNCTION", "DELETE", "tests"),
    .command("FUNCTION", "DELETE", "tests"), .command("FCALL", "read", "1", "a"),
    .command("FUNCTION", "LOAD", library),
    .command("FCALL", "write", "1", "a", "text"), .command("FUNCTION", "FLUSH"),
  ]

  private static let transactions: [Step] = [
    .command("MULTI"), .command("SET", "a", "1"), .command("HGET", "a", "b"), .command("GET", "a"),
    .command("EXEC"),
    .command("MULTI"), .command("MULTI"), .command("EXEC"), .command("MULTI"), .command("NONE"),
    .command("SET", "a", "2"),
    .command("EXEC"), .command("GET", "a"), .command("EXEC"), .command("DISCARD"), .command("MULTI"),
    .command("SET", "a", "3"), .command("DISCARD"), .command("GET", "a"), .command("MULTI"), .command("EXEC"),
    .command("MULTI"), .command("GET"), .command("EXEC"), .command("MULTI"),
    .command("EVAL", "return redis.call('SET', KEYS[1], 'x')", "1", "b"), .command("WAIT", "1", "10"),
    .command("EXEC"),
    .command("PING"), .command("PING", "a"), .command("PING", "a", "b"), .command("SELECT", "0"),
    .command("SELECT", "x"),
    .command("WAIT", "0", "10"), .command("ASKING"), .command("CLUSTER", "INFO"),
    .command("SPUBLISH", "a", "b"),
    .command("PUBSUB", "SHARDNUMSUB", "a", "b"), .command("AUTH", "x"), .command("TIME"),
  ]
}
