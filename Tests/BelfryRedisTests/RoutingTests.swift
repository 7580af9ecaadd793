import BelfryBytes
import TestKit
import Testing

@testable import BelfryRedis

/// Commands find their nodes in any state of a cluster. The model cluster has slots that move at any moment,
/// wholly and half, nodes that refuse and nodes that break off.
@Suite struct RoutingTests {
  typealias Address = RedisEndpoint.Address

  @Test(arguments: 0..<300) func everyCommandIsAnsweredAtMostOnceAndInItsPlace(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var cluster = ModelCluster(nodes: 3, slots: 8)
    var known = cluster.map
    for _ in 0..<20 {
      cluster.change(&random)
      let commands = (0..<Int.random(in: 1...12, using: &random)).map { _ in cluster.command(&random) }
      var routing = RoutingStateMachine(commands, isAwaited: { _ in false }, deadline: .now + .seconds(60))
      var results: [Result<RedisReply, RedisError>]?
      var rounds = 0
      while results == nil {
        rounds += 1
        #expect(rounds <= RedirectionBudget.redirectionsMax + 1)
        if rounds > 30 { return }
        let (batches, unserved) = routing.batches(by: known)
        for unit in unserved { routing.fail(unit, RedisError(.unavailable, cause: "", place: "")) }
        for batch in batches {
          let reply = cluster.answer(batch, commands, &random)
          for case .moved(let slot, let address) in routing.take(reply, of: batch) {
            known.move(slot, to: address)
          }
        }
        if Bool.random(using: &random) { cluster.change(&random) }
        if case .finished(let all) = routing.next(now: .now) { results = all }
      }
      for (command, result) in zip(commands, results ?? []) {
        let word = command.argument(2).map { String(decoding: $0, as: UTF8.self) } ?? ""
        switch result {
        case .success(.bulk(let echo)):
          #expect(String(decoding: echo, as: UTF8.self) == word)
          #expect(cluster.carriedOut[word] == 1, "\(word)")
        case .success(.error), .failure:
          // A command whose connection broke may have been carried out, and is not repeated.
          #expect(cluster.carriedOut[word, default: 0] <= 1, "\(word)")
        case .success(let other): Issue.record("\(other)")
        }
      }
    }
  }

  @Test func aTransactionStaysTogether() {
    let commands = [
      RedisCommand("MULTI"), RedisCommand("HMGET", "{a}x", "f"), RedisCommand("HMGET", "{a}y", "f"),
      RedisCommand("EXEC"), RedisCommand("HGET", "{b}z", "f"), RedisCommand("TIME"),
    ]
    let units = RoutedUnit.units(of: commands)
    #expect(units.map(\.commands) == [0..<4, 4..<5, 5..<6])
    #expect(units.map(\.slot) == [ClusterSlot.of("a"), ClusterSlot.of("b"), nil])
  }

  /// Commands that wait for replicas have a connection of their own, on which they would overtake other
  /// commands of the slot.
  @Test func commandsOfOneSlotStayInOrder() {
    let commands = [
      RedisCommand("HGET", "{a}x", "f"), RedisCommand("HSET", "{a}x", "f", "1"),
      RedisCommand("HGET", "{b}x", "f"),
      RedisCommand("HGET", "{a}x", "f"),
    ]
    let routing = RoutingStateMachine(
      commands, isAwaited: { $0.name == "HSET" }, deadline: .now + .seconds(60))
    let batches = routing.batches(by: SlotMap(only: .tcp(host: "a", port: 1))).batches
    #expect(batches.map(\.isAwaited) == [true, false])
    #expect(batches.map { $0.units.map(\.number) } == [[0, 1, 3], [2]])
  }

  @Test func theKeyOfACommandIsFoundWhereItStands() {
    #expect(RedisCommand("FCALL", "f", "2", "{a}k", "{a}whole", "x").slot == ClusterSlot.of("a"))
    #expect(RedisCommand("FCALL_RO", "f", 1, "{a}k").slot == ClusterSlot.of("a"))
    #expect(RedisCommand("EVALSHA", "sha", "2", "{a}k").slot == ClusterSlot.of("a"))
    #expect(RedisCommand("XRANGE", "{a}k", "-", "+").slot == ClusterSlot.of("a"))
    #expect(RedisCommand("XINFO", "STREAM", "{a}k").slot == ClusterSlot.of("a"))
    #expect(RedisCommand("SPUBLISH", "{a}channel", "m").slot == ClusterSlot.of("a"))
    #expect(RedisCommand("INFO", "server").slot == nil)
    #expect(RedisCommand("FCALL", "f", 0).argument(4) == nil)
  }
}

/// The replies of a cluster's nodes according to Redis's documentation, for slots `s0`, `s1`, …, by the hash
/// tags of the keys.
private struct ModelCluster {
  struct Slot {
    var owner: Int
    var target: Int?
    /// Keys of the slot that have left for the target.
    var movedKeys: Set<String> = []
  }

  let nodes: [RedisEndpoint.Address]
  var slots: [Slot]
  var carriedOut: [String: Int] = [:]
  private var commands = 0

  init(nodes: Int, slots: Int) {
    self.nodes = (0..<nodes).map { .tcp(host: "node", port: UInt16(7_000 + $0)) }
    self.slots = (0..<slots).map { Slot(owner: $0 % nodes) }
  }

  static let tags = (0..<8).map { "s\($0)" }

  var map: SlotMap {
    var map = SlotMap(only: nodes[0])
    for (tag, slot) in zip(Self.tags, slots) { map.move(ClusterSlot.of(tag), to: nodes[slot.owner]) }
    return map
  }

  mutating func change(_ random: inout SeededGenerator) {
    let slot = Int.random(in: slots.indices, using: &random)
    guard let target = slots[slot].target else {
      slots[slot].target = (slots[slot].owner + 1) % nodes.count
      return
    }
    if Bool.random(using: &random) {
      slots[slot].movedKeys.formUnion((0..<2).map { "{\(Self.tags[slot])}\($0)" })
    } else {
      slots[slot] = Slot(owner: target)
    }
  }

  mutating func command(_ random: inout SeededGenerator) -> RedisCommand {
    commands += 1
    let tag = Self.tags[Int.random(in: slots.indices, using: &random)]
    return RedisCommand("SET", "{\(tag)}\(Int.random(in: 0..<4, using: &random))", "word\(commands)")
  }

  /// Nil: the connection breaks before the answer, perhaps after some of it was carried out.
  mutating func answer(
    _ batch: RoutedBatch, _ commands: [RedisCommand], _ random: inout SeededGenerator
  ) -> Result<RedisReplies, RedisError> {
    var replies: [RedisReply] = []
    for unit in batch.units {
      if batch.isAsking { replies.append(.status("OK")) }
      for command in commands[unit.commands] {
        replies.append(answer(command, at: batch.address, isAsking: batch.isAsking, &random))
      }
    }
    if Int.random(in: 0..<20, using: &random) == 0 {
      return .failure(RedisError(.connectionLost, cause: "gone", place: "model"))
    }
    guard case .array(let all) = RedisReply.array(replies) else {
      return .failure(RedisError(.malformedReply, cause: "", place: ""))
    }
    return .success(all)
  }

  private mutating func answer(
    _ command: RedisCommand, at address: RedisEndpoint.Address, isAsking: Bool,
    _ random: inout SeededGenerator
  ) -> RedisReply {
    let key = String(decoding: command.argument(1) ?? [], as: UTF8.self)
    let word = String(decoding: command.argument(2) ?? [], as: UTF8.self)
    guard let place = Self.tags.firstIndex(where: { key.contains("{\($0)}") }) else { return .error("ERR") }
    let slot = slots[place]
    let number = ClusterSlot.of(Self.tags[place])
    func text(_ node: Int) -> String { "node:\(7_000 + node)" }
    if Int.random(in: 0..<12, using: &random) == 0 { return .error("CLUSTERDOWN The cluster is down") }
    switch nodes.firstIndex(of: address) {
    case slot.owner:
      if let target = slot.target, slot.movedKeys.contains(key) {
        return .error("ASK \(number) \(text(target))")
      }
    case slot.target where isAsking: break
    default: return .error("MOVED \(number) \(text(slot.owner))")
    }
    carriedOut[word, default: 0] += 1
    return .bulk(Array(word.utf8))
  }
}
