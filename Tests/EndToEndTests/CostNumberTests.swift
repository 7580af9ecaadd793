import BelfryModel
import Foundation
import TestKit
import Testing

extension EndToEnd.Cost {
  private static let reading: Set = [
    "hget", "hmget", "hgetall", "smembers", "smismember", "xrange", "hlen", "sadd", "hsetnx", "hset", "hdel",
    "xdel",
    "xadd", "fcall", "spublish", "publish",
  ]

  /// The commands of one request, in whole numbers, from a number of equal requests.
  private static func callsOfEach(
    of count: Int, _ world: World, _ work: () throws -> Void,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> [String: Int] {
    let calls = try calls(world, named: reading, of: work)
    #expect(
      calls.values.allSatisfy { $0.isMultiple(of: count) }, "\(calls) in \(count) requests",
      sourceLocation: sourceLocation)
    return calls.mapValues { $0 / count }
  }

  private static func settle(_ world: World) async throws {
    try await eventually("the outbox is not emptied", within: Broker.patience) {
      try world.redis.outboxItems() == 0
    }
  }

  /// A server in another partition than the account. If both are in one partition, one command reads both.
  private static func serverApart(from account: String, by owner: Person) throws -> String {
    while true {
      let server = try owner.createServer()
      let partitions = ["account:\(account)", "server:\(server)"].map { Partitions.standard.holding(key: $0) }
      if partitions[0] != partitions[1] { return server }
    }
  }

  /// Published messages carry a notification to streams, and nobody asks Redis for it. So forty streams cost
  /// no more than two.
  @Test func aSendToManyStreamsCostsAsToFew() async throws {
    try await withWorld(settings: ["BELFRY_LOOPS": "1"]) { world in
      let app = try Person.app(at: world[0])
      let owner = try Person("owner", at: world[0])
      let server = try owner.createServer()
      let members = try (0..<20).map { try Person("m\($0)", at: world[0]) }
      try app.add(members.map(\.name), to: server)
      var streams: [EventStream] = []
      var counted: [[String: Int]] = []
      for more in [members[..<1], members[1...]] {
        for member in more { streams += [try member.stream(), try member.stream()] }
        for member in more {
          try await eventually("its streams are not registered", within: Broker.patience) {
            (try member.call("GET", "/v1/account/streams").object["streams"] as? [Any])?.count == 2
          }
        }
        try owner.mustSend("warm \(streams.count)", ["serverId": server])
        for stream in streams { #expect(stream.wait(forBody: "warm \(streams.count)")) }
        try await Self.settle(world)
        counted.append(
          try Self.callsOfEach(of: 20, world) {
            for index in 0..<20 { try owner.mustSend("\(streams.count) \(index)", ["serverId": server]) }
            for stream in streams { #expect(stream.wait(forBody: "\(streams.count) 19")) }
          })
      }
      // One of them stores the id that the broker gives to a send without one.
      let expected = [
        "fcall": 1, "xadd": 1, "spublish": 1, "hget": 2, "hmget": 1, "hset": 1, "hlen": 1, "hsetnx": 1,
      ]
      #expect(counted == [expected, expected])
    }
  }

  @Test func aPageOfOneServer() async throws {
    try await withWorld(settings: ["BELFRY_LOOPS": "1"]) { world in
      let owner = try Person("owner", at: world[0])
      let reader = try Person("reader", at: world[0])
      let server = try Self.serverApart(from: "reader", by: owner)
      try Person.app(at: world[0]).add(["reader"], to: server)
      for index in 0..<30 { try owner.mustSend("\(index)", ["serverId": server]) }
      try await Self.settle(world)
      let calls = try Self.callsOfEach(of: 10, world) {
        for _ in 0..<10 {
          let page = try reader.call("GET", "/v1/notifications?limit=500")
          #expect(page.notifications.count { $0["body"] != nil } >= 30, "\(page)")
        }
      }
      #expect(
        calls == ["xrange": 1, "hmget": 3, "hgetall": 2, "hget": 2, "hlen": 1])
    }
  }

  @Test func aMarkInOneServer() async throws {
    try await withWorld(settings: ["BELFRY_LOOPS": "1"]) { world in
      let owner = try Person("owner", at: world[0])
      let reader = try Person("reader", at: world[0])
      let server = try Self.serverApart(from: "reader", by: owner)
      try Person.app(at: world[0]).add(["reader"], to: server)
      let ids = try (0..<42).map { try owner.mustSend("\($0)", ["serverId": server]) }
      func mark(_ ids: some Collection<String>) throws {
        let items = ids.map { ["messageServerId": $0] }
        let answer = try reader.call("POST", "/v1/notifications/read", ["items": items])
        #expect(answer["read"] == "\(ids.count)", "\(answer)")
      }
      // The account's first mark registers it with the partition, only once.
      try mark(ids[..<2])
      try await Self.settle(world)
      let calls = try Self.callsOfEach(of: 10, world) {
        for first in stride(from: 2, to: 42, by: 4) { try mark(ids[first..<first + 4]) }
      }
      let expected = [
        "fcall": 1, "xrange": 1, "hmget": 2, "hgetall": 1, "hget": 3, "hlen": 1, "smismember": 1, "sadd": 1,
        "spublish": 1,
      ]
      #expect(calls == expected)
    }
  }
}
