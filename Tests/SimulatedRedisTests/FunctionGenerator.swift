import SimulatedRedis
import TestKit

/// Random calls of those shipped functions whose arguments are plain words. The others are called by a walk over the whole
/// store (SimulatedRedisWalkTests).
struct FunctionGenerator {
  private var random: SeededGenerator
  private static let partition = "belfry:{0.0}:partition"
  /// The time of the first entries, which later bounds are near to.
  private static let beginning: Int64 = 1_795_910_400_123

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  mutating func history(_ count: Int) -> [Step] {
    let make = Step.command("HSETNX", Self.partition, "last", "0-0")
    let steps = (0..<count).map { _ in next() }
    let ends: [Step] = ["streams", "wake", "pushers:a", "badges", "copies:push", "partition"].flatMap {
      name in
      [.command("TYPE", "belfry:{0.0}:" + name), .command("HGETALL", "belfry:{0.0}:" + name)]
    }
    let sets: [Step] = ["pushes", "retries", "corrections", "copies-due:push", "revoked"].map { name in
      .command("ZRANGE", "belfry:{0.0}:" + name, "0", "-1", "WITHSCORES")
    }
    let logs: [Step] = ["copies", "revocations", "log:server:1", "log:account:a"].map { name in
      .command("XRANGE", "belfry:{0.0}:" + name, "-", "+")
    }
    return [make] + steps + ends + sets + logs
  }

  private mutating func next() -> Step {
    switch random.below(12) {
    case 0...2: makeCommit()
    case 3...4: makeCopiesStep()
    case 5...6: makePushStep()
    case 7: makePusherStep()
    case 8: makeStreamsStep()
    case 9: makeUpkeepStep()
    case 10: makeWebhookStep()
    default: .wait(milliseconds: Int64(random.pick([0, 1, 700, 40_000, 1_200_000])))
    }
  }

  private func call(_ function: String, _ words: [String], reads: Bool = false) -> Step {
    let name = "belfry_\(function)_1"
    let all = [reads ? "FCALL_RO" : "FCALL", name, "1", Self.partition] + words
    return .command(all.map { Bytes($0.utf8) })
  }

  // MARK: Words

  private mutating func account() -> String { random.pick(["a", "b", "carla"]) }
  private mutating func device() -> String { random.pick(["phone", "pad", "*"]) }
  private mutating func space() -> String { random.pick(["server:1", "server:2", "account:a", "account:b"]) }
  private mutating func id() -> String { "\(Self.beginning + Int64(random.below(3_000)))-\(random.below(4))" }
  private mutating func decimal() -> String {
    "\((Self.beginning - 1_704_067_200_000 + Int64(random.below(3_000))) << 22 + Int64(random.below(4)))"
  }
}

// MARK: - Kinds of calls

extension FunctionGenerator {
  /// One entry or several, perhaps with the id of an earlier send.
  private mutating func makeCommit() -> Step {
    var words = ["3600000", String(10 + random.below(200)), "5", "604800000", "2014", "604800000", "1000"]
    for _ in 0...random.below(3) {
      let field = random.oneIn(3) ? random.pick(["f1", "f2", "f3"]) : ""
      words += [space(), field] + (field.isEmpty ? [] : [random.pick(["print", "other"])]) + ["0"]
      let count = 1 + random.below(random.oneIn(5) ? 60 : 3)
      words.append(String(count))
      for _ in 0..<count {
        words += [random.oneIn(6) ? "0" : "1", random.pick(["all", "?", "named +a"])]
        words.append("{\"body\":\"\(String(repeating: "x", count: random.below(300)))\"}")
      }
      words.append("-")
    }
    return call("commit", words)
  }

  private mutating func makeCopiesStep() -> Step {
    let reader = random.pick(["push", "push", "hook"])
    let owner = random.pick(["one", "other"])
    switch random.below(9) {
    case 0...1: return call("begin_copies", [reader])
    case 2: return call(random.pick(["end_copies", "hasten_copies"]), [reader])
    case 3: return call("claim_copies", [reader, owner, "30000"])
    case 4: return call("replay_copies", [reader, random.oneIn(4) ? "" : id()])
    case 5: return call("sweep_copies", [id()])
    case 6: return .command("XINFO", "STREAM", "belfry:{0.0}:copies")
    default:
      let held = random.oneIn(4) ? "" : "0 \(random.pick(["-", id()])) \(id()) \(id())"
      let milliseconds = random.pick(["0", "30000"])
      let words = [reader, owner, milliseconds, String(1 + random.below(2)), "2", "position", id()]
      return call("save_copies", words + [space(), held, random.pick(["", "0", "500"]), "7"])
    }
  }

  private mutating func makePushStep() -> Step {
    switch random.below(4) {
    case 0:
      return call(
        "save_push", ["one", "30000", "1", "2", "position", id(), "900", task(), "1795910402000", task()])
    case 1: return call("begin_badge", [account(), random.pick(["m1", "m2"]), random.pick(["0", "1"])])
    case 2: return call("note_badge", [account(), random.pick(["m1", "m2"]), random.pick(["0", "3"])])
    default:
      let due = random.pick(["900", "1795910402000"])
      let words = [String(1 + random.below(6)), String(1 + random.below(3)), task(), due]
      return call("settle_pushes", words + [random.pick(["0", "1"]), "2", "0", task(), "1000", task()])
    }
  }

  private mutating func task() -> String {
    random.oneIn(3)
      ? "badge \(account()) \(device()) 0"
      : "push \(space()) \(random.below(5)) \(account()) \(device()) \(random.below(2))"
  }

  private mutating func makePusherStep() -> Step {
    let (account, device, record) = (
      account(), random.pick(["phone", "pad", "tv"]), random.pick(["r1", "r2"])
    )
    return switch random.below(4) {
    case 0...1: call("put_pusher", [account, device, record, "2"])
    case 2: call("remove_pusher", [account, device, random.pick(["", record])])
    default: call("note_push_failure", [account, device, record, "gone"])
    }
  }

  private mutating func makeStreamsStep() -> Step {
    let (account, id) = (account(), random.pick(["s1", "s2", "s3", "s4"]))
    switch random.below(5) {
    case 0...1:
      let rule = random.pick(["onePerAccount", "onePerDevice", "any"])
      let device = random.pick(["phone", "pad", "*", "?"])
      return call(
        "open_streams",
        [
          "r\(random.below(2))", rule, random.pick(["again", "new"]), account, id, String(random.below(900)),
          device, "::1",
        ])
    case 2: return call("close_streams", [account, id])
    case 3: return call("end_streams", [account, device()])
    default:
      return random.oneIn(2)
        ? call("sweep_streams", [account, "r0"]) : call("begin_registration", ["r0", "30000"])
    }
  }

  private mutating func makeUpkeepStep() -> Step {
    switch random.below(10) {
    case 0: call("begin_history", [])
    case 1: call("begin_sweep", ["60000"])
    case 2: call("sweep_time", [], reads: true)
    case 3: call("sweep_space", [space(), id(), String(5 + random.below(100)), id()])
    case 4: call("trim_read", [space(), id()])
    case 5: call("sweep_dedupe", ["3600000"])
    case 6: call("revoke_tokens", [account(), String(random.below(5_000))])
    case 7: call("announce_revocation", [account(), "5"])
    case 8: call("first_sends", ["3600000", "f1", "print", "f2", "print"], reads: true)
    default: makeMark()
    }
  }

  private mutating func makeMark() -> Step {
    let version = String(random.below(3))
    var words = [random.pick(["a", "b"]), version, "read", "2", decimal(), decimal(), "1", decimal()]
    words += random.oneIn(2) ? ["0"] : ["1", decimal()]
    return call("mark_read", words + ["0", "1", id(), "0", "0"])
  }

  /// These functions work on a key of their own.
  private mutating func makeWebhookStep() -> Step {
    let words =
      random.oneIn(2)
      ? [
        "belfry_put_webhook_1", "1", "belfry:webhooks", random.pick(["w1", "w2", "w3"]),
        random.pick(["", "old"]), "old", "9", "2",
      ]
      : [
        "belfry_note_webhook_failure_1", "1", "belfry:webhook-health:1", String(random.below(50)), "cause",
        "10",
      ]
    return .command((["FCALL"] + words).map { Bytes($0.utf8) })
  }
}
