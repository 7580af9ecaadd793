import SimulatedRedis
import TestKit

/// Random commands. Most of them do something, and some are refused.
struct CommandGenerator {
  private var random: SeededGenerator

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  mutating func history(_ count: Int) -> [Step] {
    var steps = (0..<count).map { _ in next() }
    steps += ["h0", "h1", "h2"].flatMap { [.command("HGETALL", $0), .command("HLEN", $0)] }
    steps += ["s0", "s1", "s2"].map { .command("SMEMBERS", $0) }
    steps += ["z0", "z1", "z2"].map { .command("ZRANGE", $0, "0", "-1", "WITHSCORES") }
    steps += ["x0", "x1", "x2"].flatMap {
      [.command("XRANGE", $0, "-", "+"), .command("XINFO", "STREAM", $0)]
    }
    return steps
  }

  private mutating func next() -> Step {
    switch random.below(20) {
    case 0...2: makeKeyStep()
    case 3...6: makeHashStep()
    case 7...9: makeSetStep()
    case 10...13: makeSortedSetStep()
    case 14...18: makeStreamStep()
    default: makeOther()
    }
  }

  private mutating func makeOther() -> Step {
    switch random.below(5) {
    case 0: makeMany()
    case 1...2: makeScan()
    default: .wait(milliseconds: Int64(random.below(400)))
    }
  }

  // MARK: Words

  /// A key that mostly has a value of the kind.
  private mutating func key(_ kind: String) -> String {
    let kind = random.oneIn(25) ? random.pick(["h", "s", "z", "x", "t"]) : kind
    return kind + String(random.below(3))
  }

  private mutating func field() -> String { random.pick(["a", "b", "c", "1", "22", "f\(random.below(12))"]) }

  private mutating func text() -> String {
    switch random.below(12) {
    case 0: String(repeating: "x", count: random.pick([63, 64, 65, 66, 200]))
    case 1: ""
    case 2...5: String(random.below(2_000) - 1_000)
    default: "text \(random.below(50))"
    }
  }

  private mutating func integer() -> String {
    random.oneIn(15)
      ? random.pick(["x", "", "01", "+1", " 1", "9223372036854775807"]) : String(random.below(20) - 5)
  }

  private mutating func score() -> String {
    switch random.below(8) {
    case 0: random.pick(["0.1", "-2.5e10", "1e300", "3.0000000000000004", "inf", "-inf", "nope", "1.5"])
    default: String(random.below(12) - 3)
    }
  }

  private mutating func make(_ words: [String]) -> Step {
    // A word is missing or too many now and then.
    if words.count > 1, random.oneIn(60) { return .command(words.dropLast().map { Bytes($0.utf8) }) }
    if random.oneIn(80) { return .command((words + ["more"]).map { Bytes($0.utf8) }) }
    return .command(words.map { Bytes($0.utf8) })
  }
}

// MARK: - Kinds of commands

extension CommandGenerator {
  private mutating func makeKeyStep() -> Step {
    let (any, text, other) = (key(random.pick(["h", "s", "z", "x", "t"])), key("t"), key("t"))
    switch random.below(15) {
    case 0: return make(["SET", text, self.text()])
    case 1: return make(["SET", text, self.text(), random.pick(["PX", "EX"]), integer()])
    case 2: return make(["SET", text, self.text(), random.pick(["NX", "XX", "KEEPTTL"])])
    case 3: return make(["GET", text])
    case 4: return make(["GETDEL", text])
    case 5: return make([random.pick(["DEL", "UNLINK", "EXISTS"]), any, other])
    case 6: return make(["PEXPIRE", any, String(random.below(900) - 100)])
    case 7: return make(["PEXPIRE", any, String(random.below(900)), random.pick(["NX", "XX", "GT", "LT"])])
    case 8: return make(["PTTL", any])
    case 9: return make(["PEXPIRETIME", any])
    case 10: return make(["COPY", any, key("t")])
    case 11: return make(["RENAME", any, any.prefix(1) + "2"])
    case 12: return make(["TYPE", any])
    case 13: return make(["TIME"])
    default: return make(["PERSIST", any])
    }
  }

  private mutating func makeHashStep() -> Step {
    let key = key("h")
    switch random.below(14) {
    case 0...2: return make(["HSET", key, field(), text()])
    case 3: return make(["HSET", key, field(), text(), field(), text(), field(), text()])
    case 4: return make(["HSETNX", key, field(), text()])
    case 5: return make(["HGET", key, field()])
    case 6: return make(["HMGET", key, field(), field(), field()])
    case 7: return make([random.pick(["HGETALL", "HKEYS", "HLEN"]), key])
    case 8: return make(["HEXISTS", key, field()])
    case 9...10: return make(["HDEL", key, field(), field()])
    case 11: return make(["HINCRBY", key, field(), integer()])
    case 12: return make(["HRANDFIELD", key, String(random.below(30)), "WITHVALUES"])
    default: return make(["HRANDFIELD", key, String(random.below(8) - 3)])
    }
  }

  private mutating func makeSetStep() -> Step {
    let key = key("s")
    let member = random.oneIn(6) ? field() : String(random.below(60))
    switch random.below(7) {
    case 0...2: return make(["SADD", key, member, String(random.below(600))])
    case 3: return make(["SREM", key, member, String(random.below(60))])
    case 4: return make([random.pick(["SCARD", "SMEMBERS"]), key])
    case 5: return make(["SISMEMBER", key, member])
    default: return make(["SMISMEMBER", key, member, field()])
    }
  }

  private mutating func makeSortedSetStep() -> Step {
    let key = key("z")
    // All its members have one score, or their texts have no order.
    let texts = "l\(random.below(3))"
    let lexical = { (random: inout SeededGenerator) in random.pick(["-", "+", "[a", "(a", "[f3", "(f7", "["])
    }
    let bounds = ["-inf", "+inf", "(1", "2", "(-1", "5"]
    switch random.below(14) {
    case 0...3: return make(["ZADD", key, score(), field(), score(), field()])
    case 4: return make(["ZADD", key, random.pick(["NX", "XX", "GT", "LT", "CH"]), score(), field()])
    case 5: return make(["ZADD", key, "LT", "CH", score(), field()])
    case 6: return make([random.pick(["ZREM", "ZADD"]), texts, "0", field()])
    case 7: return make(["ZINCRBY", key, score(), field()])
    case 8: return make(["ZLEXCOUNT", texts, lexical(&random), lexical(&random)])
    case 9: return make(["ZREVRANGEBYLEX", texts, lexical(&random), lexical(&random), "LIMIT", "0", "3"])
    case 10:
      return make([
        "ZRANGE", key, random.pick(bounds), random.pick(bounds), "BYSCORE", "LIMIT", "0", integer(),
      ])
    case 11: return make(["ZRANGE", texts, lexical(&random), lexical(&random), "BYLEX", "LIMIT", "1", "2"])
    case 12: return make(["ZRANGEBYSCORE", key, random.pick(bounds), random.pick(bounds), "WITHSCORES"])
    default: return makeSortedSetQuestion(key)
    }
  }

  private mutating func makeSortedSetQuestion(_ key: String) -> Step {
    switch random.below(6) {
    case 5: make(["ZREM", key, field(), field()])
    case 0: make(["ZCARD", key])
    case 1: make(["ZSCORE", key, field()])
    case 2: make(["ZMSCORE", key, field(), field()])
    case 3: make(["ZRANGE", key, integer(), integer(), "WITHSCORES"])
    default: make(["ZRANDMEMBER", key, String(random.below(30))])
    }
  }

  private mutating func streamID() -> String {
    switch random.below(8) {
    case 0: random.pick(["-", "+", "(5-1", "5", "x", "0-0", "(18446744073709551615-18446744073709551615"])
    case 1: "1795910400\(random.below(1_000))-\(random.below(3))"
    default: "\(random.below(30))-\(random.below(4))"
    }
  }

  private mutating func makeStreamStep() -> Step {
    let key = key("x")
    let id = random.oneIn(2) ? "*" : random.pick(["5-*", streamID(), streamID()])
    switch random.below(14) {
    case 0...4: return make(["XADD", key, id, "field", text()])
    case 5:
      return make([
        "XADD", key, "*", "field", text(), field(), String(repeating: "y", count: random.below(3_000)),
      ])
    case 6:
      return make([
        "XADD", key, "MAXLEN", random.pick(["~", "="]), String(random.below(40)), "*", "f", text(),
      ])
    case 7: return make(["XADD", key, "MINID", streamID(), "*", "f", text()])
    case 8: return make(["XTRIM", key, "MAXLEN", random.pick(["~", "="]), String(random.below(30))])
    case 9: return make(["XTRIM", key, "MINID", "~", streamID(), "LIMIT", String(random.below(60))])
    case 10: return make(["XDEL", key, streamID(), streamID()])
    case 11: return make(["XLEN", key])
    case 12: return make(["XINFO", "STREAM", key])
    default:
      let name = random.pick(["XRANGE", "XREVRANGE"])
      return make([name, key, streamID(), streamID()] + (random.oneIn(2) ? ["COUNT", integer()] : []))
    }
  }

  /// Enough elements for another encoding, or for several nodes of a stream.
  private mutating func makeMany() -> Step {
    let command = random.pick([
      "redis.call('HSET', KEYS[1], 'g' .. n, n)", "redis.call('SADD', KEYS[1], 3 * n)",
      "redis.call('ZADD', KEYS[1], n % 7, 'm' .. n)", "redis.call('XADD', KEYS[1], '*', 'f', n)",
      "redis.call('XADD', KEYS[1], '*', 'field', string.rep('x', n * ARGV[2] % 90))",
      "redis.call('XADD', KEYS[1], 'MAXLEN', '~', 150, '*', 'f' .. n % 3, n)",
    ])
    let kind =
      command.contains("HSET") ? "h" : command.contains("SADD") ? "s" : command.contains("ZADD") ? "z" : "x"
    let text = "for n = 1, tonumber(ARGV[1]) do \(command) end return #ARGV"
    return make(["EVAL", text, "1", key(kind), String(random.below(600)), String(random.below(20))])
  }

  private mutating func makeScan() -> Step {
    let words = random.pick([
      ["SCAN", "MATCH", "[hx]?", "COUNT", "3"], ["SCAN"], ["HSCAN", key("h"), "COUNT", "2"],
      ["SSCAN", key("s"), "COUNT", "5"], ["SSCAN", key("s"), "MATCH", "1*"],
    ])
    return .scan(words.map { Bytes($0.utf8) })
  }
}
