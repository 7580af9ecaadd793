import BelfryModel
import BelfryRedis
import BelfryStore
import Synchronization
import TestKit
import Testing

@testable import BelfryServer

/// Redis answers, and has no room: the answer, readiness, the metrics and the log name the reason.
@Suite struct RedisConditionTests {
  private final class Lines: Sendable {
    private let noted = Mutex<[String]>([])
    var all: [String] { noted.withLock(\.self) }
    func note(_ event: String, _ facts: KeyValuePairs<String, String>) {
      let words = facts.map { "\($0)=\($1)" }
      noted.withLock { $0.append(([event] + words).joined(separator: " ")) }
    }
  }

  @Test func theBeginningAndTheEndAreReportedOnce() {
    let lines = Lines()
    let condition = RedisCondition { lines.note($0, $1) }
    let full = NodeMemory(usedBytes: 2, limitBytes: 1)
    for room in [
      RedisRoom(), RedisRoom(isDiskFull: true), RedisRoom(isDiskFull: true),
      RedisRoom(memory: [full], isDiskFull: true), RedisRoom(memory: [full]), RedisRoom(), RedisRoom(),
    ] {
      condition.note(room)
    }
    #expect(
      lines.all == [
        "redis refuses writes reason=disk", "redis refuses writes reason=memory",
        "redis takes writes again reason=disk", "redis takes writes again reason=memory",
      ])
  }

  @Test func aSettingThatMayLoseDataIsReportedOnce() {
    let lines = Lines()
    let condition = RedisCondition { lines.note($0, $1) }
    for risks: Set<DataRisk> in [[.noLog], [.noLog], [.noLog, .eviction], [.eviction], [], []] {
      condition.note(RedisRoom(risks: risks))
    }
    let (log, eviction) = (DataRisk.noLog.rawValue, DataRisk.eviction.rawValue)
    #expect(
      lines.all == [
        "redis may lose acknowledged data reason=\(log)",
        "redis may lose acknowledged data reason=\(eviction)",
        "redis no longer risks acknowledged data reason=\(log)",
        "redis no longer risks acknowledged data reason=\(eviction)",
      ])
  }

  @Test func aRedisThatHasEndedOnAFullDiskRefusesWritesUntilItAnswers() {
    let lines = Lines()
    let condition = RedisCondition { lines.note($0, $1) }
    condition.note(hasEndedOnFullDisk: true)
    // It has started again, and has written nothing yet.
    #expect(condition.note(RedisRoom()) == [.disk])
    condition.note(hasEndedOnFullDisk: false)
    #expect(condition.refusedWrites == [.disk], "nobody has heard of it since")
    #expect(condition.note(RedisRoom()) == [])
    #expect(lines.all == ["redis refuses writes reason=disk", "redis takes writes again reason=disk"])
  }

  private let almostFull = RedisRoom(memory: [NodeMemory(usedBytes: 99 << 20, limitBytes: (99 << 20) + 5)])

  @Test func aRefusedWriteBeginsItAndAFewFreeBytesDoNotEndIt() {
    let lines = Lines()
    let condition = RedisCondition { lines.note($0, $1) }
    #expect(condition.note(almostFull) == [])
    condition.note(.refused(.memory, "OOM"))
    #expect(lines.all == ["redis refuses writes reason=memory"])
    for _ in 0..<3 { #expect(condition.note(almostFull) == [.memory]) }
    #expect(condition.note(RedisRoom(memory: [NodeMemory(usedBytes: 1, limitBytes: 99 << 20)])) == [])
    #expect(lines.all.dropFirst() == ["redis takes writes again reason=memory"])
  }

  @Test func aWriteThatIsDoneEndsItUnlessOthersAreRefused() {
    let condition = RedisCondition { _, _ in }
    let start = ContinuousClock.now
    condition.note(.refused(.memory, "OOM"), now: start)
    condition.note(.done, now: start + .seconds(1))
    #expect(condition.note(almostFull) == [.memory])
    condition.note(.refused(.memory, "OOM"), now: start + .seconds(4))
    condition.note(.done, now: start + .seconds(6))
    #expect(condition.note(almostFull) == [.memory])
    condition.note(.done, now: start + .seconds(4) + MemorySigns.quietTime)
    #expect(condition.note(almostFull) == [])
  }

  @Test func aMissingRightIsToldOnceUntilALookFindsAllOfThem() {
    let lines = Lines()
    let condition = RedisCondition { lines.note($0, $1) }
    let cause = "NOPERM this user has no permissions to run the 'fcall' command"
    for _ in 0..<2 { condition.note(.refused(.rights, cause)) }
    #expect(lines.all == ["redis refuses writes reason=rights cause=\(cause)"])
    #expect(condition.note(RedisRoom()) == [])
    #expect(lines.all.dropFirst() == ["redis takes writes again reason=rights"])
  }

  private func expectRefusal(_ broker: TestBroker, _ reason: String, _ words: String) async throws {
    let gauge = "belfry_redis_writes_refused{reason=\"\(reason)\"}"
    let refused = try broker.send()
    #expect(refused.status == 503 && refused.code == "unavailable", "\(refused.body)")
    #expect(refused.json["detail"]?.text?.contains(words) == true, "\(refused.body)")
    #expect(refused.headers["retry-after"] == "5")
    // Nobody has asked for readiness: the broker looks by itself.
    try await eventually(every: .milliseconds(50)) {
      try broker.ask("GET", "/metrics").body.contains("\(gauge) 1\n")
    }
    let ready = try broker.ask("GET", "/readyz")
    #expect(ready.status == 200 && ready.json[reason]?.text == "full", "\(ready.body)")
    let page = try broker.ask("GET", "/v1/notifications", as: try broker.token("bob"))
    #expect(page.status == 200)
  }

  private func expectRoom(_ broker: TestBroker, _ reason: String) async throws {
    let gauge = "belfry_redis_writes_refused{reason=\"\(reason)\"}"
    try await eventually(every: .milliseconds(50)) {
      try broker.ask("GET", "/metrics").body.contains("\(gauge) 0\n")
    }
    #expect(try broker.ask("GET", "/readyz").json[reason] == nil)
    #expect(try broker.send().status == 201)
  }

  /// In each of its rounds, the room timer finds a record that it cannot read.
  @Test func workThatFailsIsCounted() async throws {
    var limits = Limits.unhurried
    // Otherwise the timer waits until attendees had time for a heartbeat.
    limits.heartbeatMilliseconds = 0
    try await withBroker(limits: limits) { broker in
      func failures() throws -> Int {
        let metrics = try broker.ask("GET", "/metrics").body
        let found = try #require(
          metrics.firstMatch(of: /belfry_periodic_failures_total\{work="rooms"\} (\d+)\n/))
        return Int(found.output.1) ?? 0
      }
      #expect(try failures() == 0)
      let partition = try #require(
        try broker.redis.command("KEYS", "belfry:*:partition").split(separator: "\n").first)
      let wake = String(partition.replacing("partition", with: "wake"))
      try broker.redis.command("SET", wake, "not what the timer reads")
      try await eventually(every: .milliseconds(50)) { try failures() >= 2 }
      let statistics = try broker.ask("GET", "/v1/stats", as: try broker.token("ops", .operation)).json
      #expect((statistics["workFailures"]?["rooms"]?.number ?? 0) >= 2)
    }
  }

  @Test func aFullDiskIsNamed() async throws {
    try await withBroker { broker in
      #expect(try broker.send().status == 201)
      try await broker.redis.failDisk()
      try await expectRefusal(broker, "disk", "cannot save to its disk")
      try await broker.redis.healDisk()
      try await expectRoom(broker, "disk")
    }
  }

  @Test func fullMemoryIsNamed() async throws {
    try await withBroker { broker in
      #expect(try broker.send().status == 201)
      try broker.redis.command("CONFIG", "SET", "maxmemory", "1")
      try await expectRefusal(broker, "memory", "memory is full")
      // A few free bytes are no room, until a write was done.
      let used = try #require(
        try broker.redis.command("INFO", "memory").firstMatch(of: /used_memory:(\d+)/).flatMap {
          Int($0.output.1)
        })
      try broker.redis.command("CONFIG", "SET", "maxmemory", "\(used + 600_000)")
      #expect(try broker.ask("GET", "/readyz").json["memory"]?.text == "full")
      try await eventually(every: .milliseconds(100)) {
        #expect(try broker.send().status == 201)
        return try broker.ask("GET", "/readyz").json["memory"] == nil
      }
      try broker.redis.command("CONFIG", "SET", "maxmemory", "1")
      #expect(try broker.send().status == 503)
      try broker.redis.command("CONFIG", "SET", "maxmemory", "0")
      try await expectRoom(broker, "memory")
    }
  }

  @Test func theUsedPartOfTheMemoryIsMeasuredWhereThereIsALimit() async throws {
    try await withBroker { broker in
      func share() throws -> Double? {
        _ = try broker.ask("GET", "/readyz")
        let text = try broker.ask("GET", "/metrics").body
        return text.firstMatch(of: /\nbelfry_redis_memory_used_ratio ([\d.]+)\n/).flatMap {
          Double($0.output.1)
        }
      }
      #expect(try share() == nil)
      try broker.redis.command("CONFIG", "SET", "maxmemory", "1000000000")
      let some = try #require(try share())
      #expect(some > 0 && some < 0.1)
      try broker.redis.command("CONFIG", "SET", "maxmemory", "10000000")
      #expect(try #require(try share()) > some)
      broker.broker.condition.noteNoAnswer()
      #expect(try !broker.ask("GET", "/metrics").body.contains("belfry_redis_memory_used_ratio"))
    }
  }
}

extension RedisConditionTests {
  @Test func eachOperationIsToldThatMemoryIsFullAndReadingGoesOn() async throws {
    try await withBroker { broker in
      let id = try broker.makeServer(owner: "alice", members: ["bob"])
      let (alice, app) = (try broker.token("alice"), try broker.token("app", .app))
      try broker.redis.command("CONFIG", "SET", "maxmemory", "1")
      for refused in [
        try broker.ask("POST", "/v1/servers", as: alice, #"{"name":"x"}"#),
        try broker.ask("POST", "/v1/servers/\(id)/members", as: app, #"{"accids":["carol"]}"#),
        try broker.ask("PUT", "/v1/servers/\(id)/subscription", as: alice),
        try broker.ask("DELETE", "/v1/servers/\(id)", as: alice),
      ] {
        #expect(refused.status == 503)
        #expect(refused.json["detail"]?.text?.contains("memory is full") == true, "\(refused.body)")
      }
      for path in ["/v1/servers/\(id)", "/v1/notifications/counts", "/v1/servers/\(id)/members/bob"] {
        let answer = try broker.ask("GET", path, as: alice)
        #expect(answer.status == 200, "\(path): \(answer.body)")
      }
    }
  }
}

extension TestBroker {
  fileprivate func send() throws -> Answer {
    try ask("POST", "/v1/notifications", as: try token("alice"), #"{"toAccids":["bob"],"body":"x"}"#)
  }
}
