import Foundation
import TestKit
import Testing

extension EndToEnd {
  /// Each entry is counted as read once, even if several devices mark it at the same time.
  @Suite struct MarkTogether {
    @Test(arguments: [30, 5_000]) func eachIsCountedOnce(count: Int) async throws {
      try await withWorld(brokers: 2) { world in
        let owner = try Person("owner", at: world[0])
        let server = try owner.createServer()
        try Person.app(at: world[0]).add(["alice"], to: server)
        let alice = try Person("alice", at: world[0])
        let before = try alice.unread().compactMap { $0["messageServerId"] as? String }
        if let last = before.last { _ = try alice.call("POST", "/v1/notifications/read", ["upTo": last]) }
        let ids = Box<String>()
        concurrently(4) { number in
          guard let sender = try? Person("owner", at: world[number]) else { return }
          for index in 0..<(count / 4 + (number < count % 4 ? 1 : 0)) {
            if let id = try? sender.mustSend("\(number).\(index)", ["serverId": server]) { ids.add(id) }
          }
        }
        #expect(ids.values.count == count)
        let last = try #require(ids.values.max { (Int64($0) ?? 0) < (Int64($1) ?? 0) })
        let some = Array(ids.values.prefix(20))

        let counts = Box<Int>()
        // There are more devices than retries of a mark.
        concurrently(24) { number in
          guard let alice = try? Person("alice", device: "d\(number)", at: world[number]) else { return }
          let body: [String: Any] =
            number % 4 == 0
            ? ["items": some.map { ["messageServerId": $0, "type": 100] as [String: Any] }] : ["upTo": last]
          let answer = try? alice.call("POST", "/v1/notifications/read", body)
          guard answer?.status == 200, let text = answer?["read"], let count = Int(text) else {
            Issue.record("\(String(describing: answer))")
            return
          }
          counts.add(count)
        }
        #expect(counts.values.reduce(0, +) == count)
        #expect(try alice.unread().isEmpty)
      }
    }
  }
}
