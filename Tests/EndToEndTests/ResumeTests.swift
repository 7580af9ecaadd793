import Foundation
import TestKit
import Testing

extension EndToEnd {
  /// A consumer that is cut off again and again misses nothing and is shown nothing twice.
  @Suite struct Resume {
    @Test func cutOffTwoHundredTimesBetweenTwoBrokers() async throws {
      try await withWorld(brokers: 2) { world in
        let app = try Person.app(at: world[0])
        let owner = try Person("owner", at: world[0])
        let senders = (0..<20).map { "sender\($0)" }
        let servers = try (0..<30).map { _ in try owner.createServer() }
        for server in servers { try app.add(senders + ["reader"], to: server) }
        let reader = try Person("reader", at: world[0])
        let seed = TestEnvironment.seed
        var random = SeededGenerator(seed: seed)

        let isOver = Flag()
        let sent = Box<String>()
        let threads = DispatchGroup()
        for (number, name) in senders.enumerated() {
          let sender = try Person(name, at: world[number])
          threads.enter()
          Thread.detachNewThread {
            defer { threads.leave() }
            var count = 0
            while !isOver.isSet {
              let server = servers[(number + count * 7) % servers.count]
              let body = "\(name).\(count)"
              if (try? sender.send(body, ["serverId": server]))?.status == 201 { sent.add(body) }
              count += 1
              Thread.sleep(forTimeInterval: 0.02)
            }
          }
        }

        var seen: [EventStream.Event] = []
        var cursor: String?
        for round in 0..<200 {
          let stream = try reader.stream(after: cursor, at: world[round])
          try await Task.sleep(for: .milliseconds(Int.random(in: 0...120, using: &random)))
          let events = stream.cut().filter { $0.name == "notification" }
          seen += events
          if let last = events.last?.id { cursor = last }
        }
        isOver.set()
        threads.wait()
        for server in servers { try app.mustSend("end of \(server)", ["serverId": server]) }
        let last = try reader.stream(after: cursor)
        let ends = Set(servers.map { "end of \($0)" })
        #expect(last.wait { ends.isSubset(of: Set($0.compactMap(\.body))) }, "seed \(seed)")
        seen += last.notifications

        let ids = seen.compactMap(\.messageServerId)
        #expect(ids.count == Set(ids).count, "shown twice, seed \(seed)")
        let bodies = Set(seen.compactMap(\.body))
        let missing = Set(sent.values).subtracting(bodies)
        #expect(
          missing.isEmpty, "lost \(missing.count) of \(sent.values.count), seed \(seed): \(missing.prefix(5))"
        )
        #expect(sent.values.count > 200)
        var lastOfSpace: [String: Int64] = [:]
        for event in seen {
          let space = event.object["serverId"] as? String ?? ""
          let id = try #require(event.messageServerId.flatMap(Int64.init))
          #expect(id > lastOfSpace[space, default: 0], "out of order in \(space), seed \(seed)")
          lastOfSpace[space] = id
        }
      }
    }

    @Test func badCursorsAreRefused() async throws {
      try await withWorld { world in
        let alice = try Person("alice", at: world[0])
        for cursor in ["x", "1", "2.", "2.!!", "3.abc", "2.-1", String(repeating: "2.a", count: 9_000)] {
          let answer = try alice.call("GET", "/v1/notifications/stream", extra: ["Last-Event-ID": cursor])
          #expect((400..<500).contains(answer.status), "\(cursor.prefix(20)): \(answer)")
          let page = try alice.call(
            "GET",
            "/v1/notifications?after=\(cursor.prefix(2_000).replacingOccurrences(of: "!", with: "%21"))")
          #expect(page.status == 400, "\(cursor.prefix(20)): \(page)")
          #expect(page["code"] == "invalidField")
          #expect(page["field"] == "after")
        }
      }
    }

    @Test func aCursorOlderThanRetentionIsToldOfTheGap() async throws {
      try await withWorld(settings: ["BELFRY_LIMITS_RETENTION_MILLISECONDS": "10000"]) { world in
        let alice = try Person("alice", at: world[0])
        let seen = try alice.mustSend("seen", ["toAccids": ["alice"]])
        let cursor = try #require(try alice.call("GET", "/v1/notifications")["cursor"])
        let missed = try alice.mustSend("missed", ["toAccids": ["alice"]])
        try await eventually("it is still there", every: .milliseconds(200)) {
          try alice.call("GET", "/v1/notifications?after=\(cursor)").notifications.isEmpty
        }
        let stream = try alice.stream(after: cursor)
        #expect(stream.wait(forEvent: "gap"))
        let gap = try #require(stream.all.first { $0.name == "gap" })
        let (from, to) = (gap.object["from"] as? String ?? "", gap.object["to"] as? String ?? "")
        let (seenID, missedID) = (try #require(Int64(seen)), try #require(Int64(missed)))
        #expect(Int64(from) ?? 0 >= seenID && Int64(from) ?? 0 < missedID && Int64(to) ?? 0 >= missedID)
        // A client that comes without a cursor is promised only the entries within retention.
        let fresh = try alice.stream()
        _ = try alice.mustSend("new", ["toAccids": ["alice"]])
        #expect(fresh.wait(forEvent: "notification"))
        #expect(!fresh.all.contains { $0.name == "gap" })
      }
    }
  }
}

/// Set once, seen by all threads.
final class Flag: @unchecked Sendable {
  private let lock = NSLock()
  private var value = false

  var isSet: Bool { lock.withLock { value } }
  func set() { lock.withLock { value = true } }
}
