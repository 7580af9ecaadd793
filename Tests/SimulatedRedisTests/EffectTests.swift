import Testing

@testable import SimulatedRedis

/// The log of effects can be cut, lag, and make another process.
@Suite struct EffectTests {
  private static func play(_ commands: [[String]], at time: Int64 = 5_000_000) -> SimulatedRedis {
    let redis = SimulatedRedis()
    var client = SimulatedClient(id: 1)
    for words in commands { _ = redis.execute(words.map { Bytes($0.utf8) }, on: &client, at: time) }
    return redis
  }

  private static func texts(_ redis: SimulatedRedis) -> [[String]] {
    redis.log.effects.map { effect in
      effect.writes.map { write in
        write.arguments.map { String(decoding: $0, as: UTF8.self) }.joined(separator: " ")
      }
    }
  }

  @Test func timesAndChoicesAreMadeAbsolute() {
    let redis = Self.play([
      ["SET", "a", "x", "PX", "100"], ["PEXPIRE", "a", "200"], ["XADD", "x", "*", "f", "t"], ["GETDEL", "a"],
      ["XADD", "x", "MAXLEN", "~", "1", "*", "f", "t"], ["HGET", "h", "a"], ["HDEL", "h", "a"],
      ["SADD", "s", "1"],
      ["SADD", "s", "1"], ["SPUBLISH", "c", "m"],
    ])
    #expect(
      Self.texts(redis) == [
        ["SET a x PXAT 5100"], ["PEXPIREAT a 5200"], ["XADD x 5000-0 f t"], ["DEL a"],
        ["XADD x MAXLEN = 2 5000-1 f t"], ["SADD s 1"], ["SPUBLISH c m"],
      ])
  }

  @Test func aScriptIsOneEffectAndMayLeaveTheFileOut() {
    let redis = Self.play([
      ["EVAL", "redis.call('SET', 'a', 1) redis.call('GET', 'a') redis.call('SET', 'b', 2)", "0"],
      ["EVAL", "redis.set_repl(redis.REPL_REPLICA) return redis.call('SET', 'c', '', 'PX', 60000)", "0"],
      ["MULTI"], ["SET", "d", "1"], ["SET", "e", "1"], ["EXEC"],
    ])
    #expect(Self.texts(redis) == [["SET a 1", "SET b 2"], ["SET c  PXAT 65000"], ["SET d 1", "SET e 1"]])
    let restarted = SimulatedRedis(replaying: redis.log.effects)
    #expect(restarted.database.keys.keys.contains(Bytes("c".utf8)) == false)
    #expect(restarted.database.keys.count == 4)
    let replica = SimulatedRedis()
    for effect in redis.log.effects { replica.apply(effect) }
    #expect(replica.database == redis.database)
    #expect(replica.log.offset == redis.log.offset)
  }

  @Test func aCrashLosesTheTail() {
    let redis = Self.play([["SET", "a", "1"], ["SET", "b", "1"]])
    let restarted = SimulatedRedis(replaying: redis.log.effects.dropLast())
    #expect(restarted.database.keys.count == 1)
  }

  @Test func aReplicaKeepsWhatHasExpiredUntilItIsTold() {
    let master = Self.play([["SET", "a", "1", "PX", "100"]])
    let replica = SimulatedRedis(restoring: master.snapshot)
    replica.master = MasterLink(host: "m", port: 1)
    var client = SimulatedClient(id: 1)
    let get = [Bytes("GET".utf8), Bytes("a".utf8)]
    #expect(replica.execute(get, on: &client, at: 6_000_000).replies == [.null])
    #expect(replica.database.keys.count == 1)
    #expect(master.execute(get, on: &client, at: 6_000_000).replies == [.null])
    #expect(Self.texts(master).last == ["DEL a"])
    if let last = master.log.effects.last { replica.apply(last) }
    #expect(replica.database.keys.isEmpty)
  }

  @Test func keysExpireWithoutBeingAskedFor() {
    let redis = Self.play([["SET", "a", "1", "PX", "100"], ["SET", "b", "1"]])
    redis.removeExpired(at: 5_100_000)
    #expect(redis.database.keys.count == 2)
    redis.removeExpired(at: 5_101_000)
    #expect(redis.database.keys.count == 1)
    #expect(Self.texts(redis).last == ["DEL a"])
    redis.forgetEffects(through: redis.log.offset)
    #expect(redis.log.effects.isEmpty)
  }

  @Test func aChannelMovesAwayWithItsSlot() {
    let redis = SimulatedRedis()
    var (client, other) = (SimulatedClient(id: 3), SimulatedClient(id: 4))
    for channel in ["a", "b"] {
      _ = redis.execute(["SSUBSCRIBE", channel].map { Bytes($0.utf8) }, on: &client, at: 1)
    }
    let nodes = (0...1).map { ClusterView.Node(id: "\($0)", host: "10.0.0.\($0)", port: 6_379) }
    // The slot of `a` is in the second half, and that of `b` in the first one.
    let view = ClusterView(nodes: nodes, own: 0, owners: (0..<16_384).map { $0 / 8_192 })
    let message = SimulatedReply.array([
      .bulk(Bytes("sunsubscribe".utf8)), .bulk(Bytes("a".utf8)), .integer(1),
    ])
    #expect(redis.joinCluster(view) == [Push(client: 3, message: message)])
    let published = redis.execute(["SPUBLISH", "b", "m"].map { Bytes($0.utf8) }, on: &other, at: 1)
    #expect(published.messages.flatMap { redis.passMessage($0) } == published.pushes)
    #expect(published.pushes.count == 1 && redis.log.effects.isEmpty)
    client.forget(Bytes("a".utf8))
    #expect(client.channels == [Bytes("b".utf8)])
  }

  @Test func waitAsksForReplicas() {
    let redis = SimulatedRedis()
    var client = SimulatedClient(id: 1)
    let wait = ["WAIT", "1", "300"].map { Bytes($0.utf8) }
    _ = redis.execute(["SET", "a", "1"].map { Bytes($0.utf8) }, on: &client, at: 1)
    let outcome = redis.execute(wait, on: &client, at: 1)
    #expect(outcome.replies.isEmpty)
    #expect(outcome.wait == ReplicationQuestion(offset: redis.log.offset, replicas: 1, milliseconds: 300))
    redis.confirmedOffsets[2] = redis.log.offset - 1
    #expect(redis.countReplicas(at: redis.log.offset) == 0)
    redis.confirmedOffsets[2] = redis.log.offset
    #expect(redis.execute(wait, on: &client, at: 1).replies == [.integer(1)])
  }

  @Test func twoRunsHaveTheSameBytes() {
    func run() -> Bytes {
      let redis = SimulatedRedis()
      var client = SimulatedClient(id: 1)
      var output = Bytes()
      for number in 0..<200 {
        let words = ["HSET", "h", "field \(number &* 7_919)", String(repeating: "x", count: number)]
        for command in [words, ["HGETALL", "h"], ["HSCAN", "h", "0"], ["HRANDFIELD", "h", "3"]] {
          for reply in redis.execute(command.map { Bytes($0.utf8) }, on: &client, at: 1).replies {
            reply.encode(into: &output)
          }
        }
      }
      return output
    }
    #expect(run() == run())
  }
}
