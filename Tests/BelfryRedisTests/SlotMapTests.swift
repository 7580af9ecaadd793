import BelfryBytes
import Testing

@testable import BelfryRedis

@Suite struct SlotMapTests {
  private let asked = RedisEndpoint.Address.tcp(host: "10.0.0.1", port: 7001)

  @Test func rangesMastersAndReplicasAreRead() throws {
    let map = try SlotMap(
      .slots([
        (0, 5_460, [("10.0.0.1", 7001), ("10.0.0.4", 7004)]), (5_461, 5_461, [("10.0.0.2", 7002)]),
        (5_463, 16_383, [("10.0.0.2", 7002), ("10.0.0.5", 7005)]),
      ]), from: asked)
    #expect(map.owner(of: 0) == asked && map.owner(of: 5_460) == asked)
    #expect(map.owner(of: 5_461) == .tcp(host: "10.0.0.2", port: 7002))
    #expect(map.owner(of: 5_462) == nil, "nobody serves it")
    #expect(map.owner(of: 16_383) == .tcp(host: "10.0.0.2", port: 7002))
    #expect(map.masters.count == 2 && map.replicas.count == 2)
  }

  @Test func aNodesSlotsAreFoundOneAfterTheOther() throws {
    let (one, two) = (asked, RedisEndpoint.Address.tcp(host: "10.0.0.2", port: 7002))
    let map = try SlotMap(
      .slots([
        (3, 4, [("10.0.0.1", 7001)]), (16_383, 16_383, [("10.0.0.1", 7001)]), (5, 5, [("10.0.0.2", 7002)]),
      ]),
      from: asked)
    #expect([0, 3, 4, 16_383].map { map.slot(of: one, after: $0) } == [3, 4, 16_383, 3])
    #expect([0, 5, 16_383].map { map.slot(of: two, after: $0) } == [5, 5, 5])
    #expect(map.slot(of: .tcp(host: "10.0.0.3", port: 7003), after: 0) == nil)
  }

  @Test func everySlotHasAKeyForQuestions() {
    for slot in 0..<ClusterSlot.count { #expect(ClusterSlot.of(key: OffsetKey.name(in: slot)) == slot) }
  }

  /// A node that was never told its own address leaves it out; one that has lost another says `?`.
  @Test func aNodeWithoutAHostIsTheOneThatAnswers() throws {
    let map = try SlotMap(.slots([(0, 9, [("", 7001)]), (10, 16_383, [("?", 7002)])]), from: asked)
    #expect(map.owner(of: 9) == asked)
    #expect(map.owner(of: 10) == nil)
  }

  @Test(
    arguments: [
      RedisReply.slots([(0, 16_384, [("h", 1)])]), .slots([(-1, 3, [("h", 1)])]),
      .slots([(9, 3, [("h", 1)])]),
      .slots([(0, 3, [])]), .integer(1), .array([RedisReply.integer(1)]),
      .array([RedisReply.array([RedisReply.null, .null, .null])]),
    ] as [RedisReply])
  func whatIsNoMapIsRefused(reply: RedisReply) {
    #expect(throws: RedisError.self) { try SlotMap(reply, from: asked) }
  }

  @Test func aNodeWithoutSlotsServesNothing() throws {
    var map = try SlotMap(.slots([(0, 16_383, [("a", 1)])]), from: asked)
    map.move(7, to: .tcp(host: "b", port: 2))
    #expect(map.owner(of: 7) == .tcp(host: "b", port: 2))
    #expect(map.serving.count == 2)
    map.move(7, to: .tcp(host: "a", port: 1))
    #expect(map.masters.count == 2 && map.serving.count == 1)
  }

  /// From Redis's own documentation.
  @Test(arguments: [
    ("{user1000}.following", "user1000"), ("foo{}{bar}", "foo{}{bar}"), ("foo{{bar}}zap", "{bar"),
    ("foo{bar}{zap}", "bar"), ("", ""), ("a{b", "a{b"),
  ])
  func theTagIsHashed(key: String, tag: String) {
    #expect(ClusterSlot.of(key: key) == ClusterSlot.of(tag))
  }
}

@Suite struct RedirectionTests {
  private let asked = RedisEndpoint.Address.tcp(host: "10.0.0.1", port: 7001)

  @Test func whereACommandGoes() {
    let other = RedisEndpoint.Address.tcp(host: "10.0.0.2", port: 7002)
    #expect(Redirection("MOVED 3999 10.0.0.2:7002", from: asked) == .moved(slot: 3_999, to: other))
    #expect(Redirection("ASK 3999 10.0.0.2:7002", from: asked) == .ask(slot: 3_999, to: other))
    #expect(
      Redirection("MOVED 1 :7002", from: asked) == .moved(slot: 1, to: .tcp(host: "10.0.0.1", port: 7002)))
    #expect(
      Redirection("MOVED 1 fe80::1:7002", from: asked)
        == .moved(slot: 1, to: .tcp(host: "fe80::1", port: 7002)))
  }

  @Test(arguments: [
    "TRYAGAIN Multiple keys request during rehashing of slot", "CLUSTERDOWN Hash slot not served",
    "READONLY x",
    "LOADING Redis is loading", "MASTERDOWN x",
    // Nothing can be made of these, but that the command was not carried out.
    "MOVED", "MOVED x 10.0.0.2:7002", "MOVED 16384 10.0.0.2:7002", "MOVED -1 10.0.0.2:7002",
    "MOVED 3 10.0.0.2",
    "MOVED 3 10.0.0.2:99999", "MOVED 3 10.0.0.2:", "MOVED 3 ?:7002", "ASK 3 10.0.0.2:0",
  ])
  func whatIsToBeTriedLater(message: String) { #expect(Redirection(message, from: asked) == .later) }

  @Test(arguments: [
    "", "ERR no", "OOM command not allowed", "EXECABORT Transaction discarded", "NOSCRIPT x", "MOVEDX 1 a:1",
    "moved 1 a:1",
  ])
  func everythingElseIsAnAnswer(message: String) { #expect(Redirection(message, from: asked) == nil) }

  @Test func twoNodesThatNameEachOtherAreNotAskedForEver() {
    var budget = RedirectionBudget()
    var tries = 0
    while budget.next(.moved(slot: 1, to: asked)) != nil { tries += 1 }
    #expect(tries == RedirectionBudget.redirectionsMax)
  }
}

extension RedisReply {
  static func slots(_ ranges: [(Int64, Int64, [(String, Int64)])]) -> RedisReply {
    let replies = ranges.map { first, last, nodes in
      let parts = nodes.map { host, port in
        RedisReply.array([RedisReply.bulk(Array(host.utf8)), .integer(port), .bulk(Array("id".utf8))])
      }
      return RedisReply.array([RedisReply.integer(first), .integer(last)] + parts)
    }
    return .array(replies)
  }
}
