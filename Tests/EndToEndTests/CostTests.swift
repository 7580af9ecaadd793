import BelfryModel
import Foundation
import TestKit
import Testing

extension EndToEnd {
  /// The cost of a send, a page and a mark for Redis, counted and not timed.
  @Suite struct Cost {
    /// Calls by command since the last reset, without the test's own.
    static func calls(_ world: World) throws -> [String: Int] {
      calls(statistics: try world.redis.command("INFO", "commandstats"))
    }

    private static func calls(statistics: String) -> [String: Int] {
      var calls: [String: Int] = [:]
      for line in statistics.split(whereSeparator: \.isNewline) {
        guard line.hasPrefix("cmdstat_"), let name = line.dropFirst(8).split(separator: ":").first,
          let count = line.split(separator: "=").dropFirst().first?.split(separator: ",").first
        else { continue }
        // Brokers send these commands at times of their own, independent of sends: `xlen` asks for outboxes,
        // `exists` and `zrange` for due rooms. A send uses two of them in one millisecond of many: `info`
        // tells the Redis it is in, and `xtrim` limits the length of its log. The rest ask for revoked
        // tokens, four times a second and for each new token.
        let own = [
          "info", "config|resetstat", "ping", "time", "auth", "client", "xlen", "exists", "zrange", "xtrim",
          "xrevrange", "zmscore", "pexpire",
        ]
        if own.contains(String(name)) { continue }
        calls[String(name)] = Int(count)
      }
      return calls
    }

    /// A server in another partition than these accounts. A request is cheaper if both are in one, because
    /// nothing is handed over.
    static func serverApart(from accounts: [String], by owner: Person) throws -> String {
      let taken = Set(accounts.map { Partitions.standard.holding(key: "account:" + $0) })
      while true {
        let server = try owner.createServer()
        if !taken.contains(Partitions.standard.holding(key: "server:" + server)) { return server }
      }
    }

    @Test func aSendCostsTheSameForThreeAndForTwoThousandMembers() async throws {
      try await withWorld(settings: ["BELFRY_LOOPS": "1"]) { world in
        let owner = try Person("owner", at: world[0])
        let app = try Person.app(at: world[0])
        var counted: [[String: Int]] = []
        for members in [3, 2_000] {
          let server = try Self.serverApart(from: ["owner"], by: owner)
          try app.add((1..<members).map { "m\($0)" }, to: server)
          // The first send of an hour opens a hash of dedupe records in its partition, which the other server may share.
          try owner.mustSend("first", ["serverId": server])
          let log = try #require(
            try world.redis.command("KEYS", "*:log:server:\(server)").split(separator: "\n").first.map(
              String.init))
          let before = try #require(Int(try world.redis.command("XLEN", log)))
          try await eventually("the outbox is not emptied", within: Broker.patience, every: .milliseconds(50))
          {
            try world.redis.outboxItems() == 0
          }
          try await Task.sleep(for: .milliseconds(300))
          let names: Set = ["xadd", "fcall", "hget", "hmget", "hset", "hsetnx", "hlen", "spublish"]
          let calls = try Self.calls(world, named: names) {
            for index in 0..<20 { try owner.mustSend("n\(index)", ["serverId": server]) }
          }
          #expect(try Int(world.redis.command("XLEN", log)) == before + 20)
          #expect(calls["xadd"] == 20, "\(calls)")
          counted.append(calls)
        }
        #expect(counted[0] == counted[1])
      }
    }

    /// The whole batch is one call, and only the appends are as many as the lines.
    @Test func aBatchToOneServerIsOneCall() async throws {
      try await withWorld(settings: ["BELFRY_LOOPS": "1"]) { world in
        let app = try Person.app(at: world[0])
        let server = try Person("owner", at: world[0]).createServer()
        let wire = try Wire(port: world[0].port)
        func batch(_ name: String) throws {
          let lines = (0..<100).map {
            #"{"serverId":"\#(server)","messageClientId":"\#(name) \#($0)","body":"\#($0)"}"#
          }
          let answer = try wire.request(
            "POST", "/v1/notifications/batch",
            headers: app.headers.merging(["Content-Type": "application/x-ndjson"]) { $1 },
            body: Array(lines.joined(separator: "\n").utf8))
          #expect(
            answer.text.split(separator: "\n").count { $0.contains(#""status":201"#) } == 100, "\(answer)")
        }
        // The first batch has to read the records that it is decided on.
        try batch("first")
        try await Task.sleep(for: .milliseconds(300))
        let names: Set = ["fcall", "xadd", "hget", "hmget", "hset", "hlen", "spublish", "pubsub|shardnumsub"]
        let calls = try Self.calls(world, named: names) { try batch("second") }
        // Nobody listens, so no live message is made.
        let expected = [
          "fcall": 1, "xadd": 100, "hget": 1, "hmget": 2, "hset": 2, "hlen": 1, "pubsub|shardnumsub": 1,
        ]
        #expect(calls == expected)
      }
    }

    /// The commands with which brokers read a feed. HLEN is left out: brokers ask it of every outbox, now and
    /// then.
    static func readingCalls(_ world: World, of work: () throws -> Void) throws -> [String: Int] {
      let names: Set = [
        "hget", "hmget", "hgetall", "smembers", "smismember", "xrange", "multi", "exec", "fcall", "sadd",
        "xdel",
        "hset", "hdel", "spublish",
      ]
      return try calls(world, named: names, of: work)
    }

    /// Calls of these commands, or of all, while something is done.
    static func calls(
      _ world: World, named names: Set<String>? = nil, of work: () throws -> Void
    ) throws -> [String: Int] {
      try world.redis.command("CONFIG", "SET", "slowlog-log-slower-than", "0", "slowlog-max-len", "100000")
      // A command between the two would be subtracted from counts that do not contain it.
      try world.redis.transaction(["SLOWLOG", "RESET"], ["CONFIG", "RESETSTAT"])
      try work()
      let answer = try world.redis.transaction(["INFO", "commandstats"], ["SLOWLOG", "GET", "-1"])
      var counted = calls(statistics: answer).filter { names?.contains($0.key) ?? true }
      let other = callsAtAnyTime(slowLog: answer).merging(
        ["multi": 1, "exec": 1], uniquingKeysWith: +)
      for (name, count) in other {
        if let all = counted[name] { counted[name] = all > count ? all - count : nil }
      }
      return counted
    }

    /// The calls that brokers make at times of their own, according to the slow log, which here has every
    /// command with its keys: checks for changed webhooks and keys, for pushers, and for items in outboxes. A
    /// mark may leave an item there, which is relayed before these counts are read, or after.
    private static func callsAtAnyTime(slowLog: String) -> [String: Int] {
      let lines = slowLog.split(separator: "\n")
      var calls: [String: Int] = [:]
      for (name, key) in zip(lines, lines.dropFirst())
      where [":outbox", ":webhooks", ":keys", ":push"].contains(where: key.hasSuffix) {
        calls[name.lowercased(), default: 0] += 1
      }
      return calls
    }

    @Test func aPageCostsTheSameForFewAndForManyEntries() async throws {
      try await withWorld(settings: ["BELFRY_LOOPS": "1"]) { world in
        let app = try Person.app(at: world[0])
        let owner = try Person("owner", at: world[0])
        let reader = try Person("reader", at: world[0])
        let servers = try (0..<3).map { _ in try Self.serverApart(from: ["owner", "reader"], by: owner) }
        for server in servers { try app.add(["reader"], to: server) }
        var sent = 0
        var counted: [[String: Int]] = []
        var cursor = ""
        for each in [2, 60] {
          for server in servers {
            for _ in 0..<each { try owner.mustSend("one", ["serverId": server]) }
          }
          sent += servers.count * each
          let calls = try Self.readingCalls(world) {
            let page = try reader.call("GET", "/v1/notifications?limit=500")
            // Announcements of servers and of joining are also there.
            #expect(page.notifications.count { $0["body"] as? String == "one" } == sent)
            cursor = page["cursor"] ?? ""
          }
          #expect(calls["xrange"] == servers.count, "\(calls)")
          counted.append(calls)
        }
        #expect(counted[0] == counted[1])
        let nothing = try Self.readingCalls(world) {
          let page = try reader.call("GET", "/v1/notifications?limit=500&after=\(cursor)")
          #expect(page.status == 200 && page.notifications.isEmpty, "\(page)")
        }
        #expect(nothing["xrange"] == nil, "a log with nothing new is not read: \(nothing)")
      }
    }

    /// Three hundred members of a server above the threshold wait, and none of them is subscribed.
    @Test func aSendCostsNothingForThoseWhoWaitAndDoNotSeeIt() async throws {
      let settings = ["BELFRY_LOOPS": "1", "BELFRY_LIMITS_SUBSCRIPTION_THRESHOLD": "3"]
      try await withWorld(settings: settings) { world in
        let owner = try Person("owner", at: world[0])
        let app = try Person.app(at: world[0])
        let server = try owner.createServer()
        let names = (0..<300).map { "m\($0)" }
        try app.add(names, to: server)
        let polls = try names.map { name in
          let member = try Person(name, at: world[0])
          let cursor = try #require(member.call("GET", "/v1/notifications?limit=500")["cursor"])
          let wire = try Wire(port: world[0].port)
          try wire.writeRequest("GET", "/v1/notifications?wait=60&after=\(cursor)", headers: member.headers)
          return wire
        }
        func waitUntilNothingIsRead() async throws {
          try await eventually("the store is read all the time", within: Broker.patience) {
            try Self.readingCalls(world) { Thread.sleep(forTimeInterval: 0.3) }.isEmpty
          }
        }
        func arrived() throws -> Int {
          let metrics = try app.call("GET", "/metrics").text
          let line = metrics.split(separator: "\n").first { $0.hasPrefix("belfry_live_messages_total") }
          return try #require(line?.split(separator: " ").last.flatMap { Int($0) })
        }
        try owner.mustSend("the first", ["serverId": server])
        try await waitUntilNothingIsRead()
        let before = try arrived()
        let calls = try Self.readingCalls(world) {
          for number in 0..<3 { try owner.mustSend("\(number)", ["serverId": server]) }
          while try arrived() < before + 3 { Thread.sleep(forTimeInterval: 0.01) }
          Thread.sleep(forTimeInterval: 0.3)
        }
        for name in ["hgetall", "smembers", "smismember", "xrange"] {
          #expect(calls[name] == nil, "\(calls)")
        }
        try owner.mustSend("for one", ["serverId": server, "toAccids": ["m7"]])
        #expect(try polls[7].readAnswer().notifications.map { $0["body"] as? String } == ["for one"])
      }
    }

    @Test func markingReadCostsTheSameForFewAndForManyEntries() async throws {
      try await withWorld(settings: ["BELFRY_LOOPS": "1"]) { world in
        let owner = try Person("owner", at: world[0])
        let reader = try Person("reader", at: world[0])
        let server = try Self.serverApart(from: ["owner", "reader"], by: owner)
        try Person.app(at: world[0]).add(["reader"], to: server)
        let ids = try (0..<123).map { try owner.mustSend("\($0)", ["serverId": server]) }
        func mark(_ ids: some Collection<String>) throws -> [String: Int] {
          try Self.readingCalls(world) {
            let items = ids.map { ["messageServerId": $0] }
            let answer = try reader.call("POST", "/v1/notifications/read", ["items": items])
            #expect(answer["read"] == "\(ids.count)", "\(answer)")
          }
        }
        // The account's first mark registers it with the partition, only once.
        _ = try mark(ids[..<1])
        let few = try mark(ids[1..<3])
        let many = try mark(ids[3...])
        #expect(few == many)
        #expect(many["xrange"] == 1 && many["fcall"] == 1 && many["sadd"] == 1, "\(many)")
      }
    }
  }
}
