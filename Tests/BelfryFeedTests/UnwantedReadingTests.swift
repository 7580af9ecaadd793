import BelfryFeed
import BelfryModel
import BelfryStore
import TestKit
import Testing

/// Work for a client that has gone ends, however much there would be to read.
@Suite struct UnwantedReadingTests {
  private static let bob: AccountID = "bob"

  @Test func aPageAndACountThatNobodyWaitsForEnd() async throws {
    try await withRedisServer { redis in
      try await withReader(of: redis.url) { reader, store in
        try await Self.send(1, by: store)
        let page = await #expect(throws: Refusal.self) {
          try await reader.page(for: Self.bob, after: nil, limit: 10, while: { false })
        }
        #expect(page?.code == .unavailable)
        let wanted = try await reader.page(for: Self.bob, after: nil, limit: 10)
        #expect(wanted.notifications.count == 1)
      }
    }
  }

  /// An account that sees nothing of what is there has to pay for it, too.
  @Test func aPageTellsHowMuchWasReadForIt() async throws {
    try await withRedisServer { redis in
      try await withReader(of: redis.url) { reader, store in
        try await Self.send(3, by: store)
        #expect(try await reader.page(for: Self.bob, after: nil, limit: 10).entriesRead == 3)
      }
    }
  }

  private static func send(_ count: Int, by store: RedisStore) async throws {
    var content = NotificationContent(type: Catalogue.custom.code, toType: .accounts)
    content.toAccids = [bob]
    let app = Actor(account: nil, isTrusted: true)
    for number in 0..<count {
      for send in try SendNotification.sends(content, by: app, generatedClientId: "m\(number)") {
        _ = try await OperationRunner(store: store, limits: Limits()).run(send)
      }
    }
  }
}
