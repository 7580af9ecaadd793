import Foundation
import TestKit
import Testing

extension EndToEnd {
  /// The unread counts are the same as those of all pages, and streams are told when they change.
  @Suite struct Counts {
    @Test func countsAreThoseOfTheFeed() async throws {
      try await withWorld(brokers: 2) { world in
        let app = try Person.app(at: world[0])
        let owner = try Person("owner", at: world[0])
        let alice = try Person("alice", at: world[1])
        let server = try owner.createServer()
        try app.add(["alice"], to: server)
        let stream = try alice.stream(query: "?counts=1")
        let plain = try alice.stream()
        func told() -> Counted? { stream.all.last { $0.name == "counts" }.map { Counted($0.object) } }
        func expectTold() throws {
          let wanted = Counted(try alice.unread())
          let answer = try alice.call("GET", "/v1/notifications/counts")
          #expect(Counted(answer.object) == wanted)
          #expect(stream.wait { _ in true })
          try #require(
            stream.wait { $0.last { $0.name == "counts" }.map { Counted($0.object) } == wanted })
        }

        try expectTold()
        let ids = try (0..<7).map { try owner.mustSend("n\($0)", ["serverId": server]) }
        try app.mustSend("for alice", ["toAccids": ["alice"]])
        try app.mustSend("for two", ["toAccids": ["alice", "bob"]])
        try app.mustSend("silent", ["toAccids": ["alice"], "setting": ["needBadge": false]])
        try app.mustSend("not for alice", ["toAccids": ["bob"]])
        try expectTold()
        // Seven sends, and two announcements: alice was added, and alice has joined.
        #expect(told()?.spaces["server:\(server)"] == 9)
        #expect(told()?.spaces["account:alice"] == 2)
        #expect(told().map { $0.unread - $0.badge } == 1)
        let marked: [String: Any] = ["items": ids[2..<4].map { ["messageServerId": $0] }]
        try #require(alice.call("POST", "/v1/notifications/read", marked)["read"] == "2")
        try expectTold()
        try app.call("DELETE", "/v1/servers/\(server)/members/alice")
        try owner.mustSend("too late", ["serverId": server])
        try expectTold()
        try alice.call("POST", "/v1/notifications/read", ["upTo": "9223372036854775807"])
        try expectTold()
        #expect(told()?.unread == 0)
        #expect(!plain.all.contains { $0.name == "counts" })
      }
    }
  }
}

/// An answer with counts, or the counts of a feed.
private struct Counted: Equatable {
  var unread = 0
  var badge = 0
  var spaces: [String: Int] = [:]
  var types: [Int: Int] = [:]

  init(_ counts: [String: Any]) {
    unread = counts["unread"] as? Int ?? -1
    badge = counts["badge"] as? Int ?? -1
    for one in counts["spaces"] as? [[String: Any]] ?? [] {
      spaces[one["space"] as? String ?? ""] = one["unread"] as? Int
    }
    for one in counts["types"] as? [[String: Any]] ?? [] {
      types[one["type"] as? Int ?? -1] = one["unread"] as? Int
    }
  }

  init(_ feed: [[String: Any]]) {
    unread = feed.count
    for one in feed {
      if (one["setting"] as? [String: Any])?["needBadge"] as? Bool == true { badge += 1 }
      let named = (one["toAccids"] as? [String])?.count ?? 0
      let space: String =
        if let server = one["serverId"] as? String { "server:\(server)" } else if named == 1 {
          "account:alice"
        } else {
          "direct"
        }
      spaces[space, default: 0] += 1
      types[one["type"] as? Int ?? -1, default: 0] += 1
    }
  }

  /// The name of a direct message's space is random, so it is left out.
  static func == (left: Counted, right: Counted) -> Bool {
    func plain(_ spaces: [String: Int]) -> [String: Int] {
      Dictionary(
        spaces.map { ($0.key.hasPrefix("direct") ? "direct" : $0.key, $0.value) }, uniquingKeysWith: +)
    }
    return left.unread == right.unread && left.badge == right.badge
      && plain(left.spaces) == plain(right.spaces)
      && left.types == right.types
  }
}
