import BelfryFeed
import BelfryLive
import BelfryModel
import BelfryStore
import ModelSamples
import Testing

/// How much is unread, as clients are told.
@Suite struct CountsTests {
  private static let app = Actor(account: nil, isTrusted: true)

  @Test func beyondTheCapThereIsMore() {
    var counts = UnreadCounts(limit: 3)
    for type in [100, 5, 100] { counts.add(type, in: .server(7)) }
    #expect(!counts.isCapped)
    counts.add(100, in: .server(7))
    #expect(counts.isCapped && counts.unread == 3)
    #expect(
      String(decoding: counts.json, as: UTF8.self)
        == #"{"unread":3,"spaces":[{"space":"server:7","unread":3}],"#
        + #""types":[{"type":5,"unread":1},{"type":100,"unread":2}],"isCapped":true}"#)
  }

  /// What arrives is added from the rings: nothing is read again for it.
  @Test func whatArrivesIsCountedWithoutReading() async throws {
    let (told, scans) = try await withLoop { loop, scope in
      let memory = MemoryStore(limits: Limits())
      let live = SlowLiveFeed(memory)
      let hub = Hub(loop: loop, scope: scope, store: memory, live: live, limits: Limits())
      hub.countsInterval = .milliseconds(1)
      let client = Client("bob", wantsCounts: true)
      try client.open(hub)
      defer { client.cut() }
      func untilTold(_ unread: Int64) async throws {
        for _ in 0..<2_000 where client.counts?["unread"] != .integer(unread) {
          live.arrive(atMost: 100)
          try client.pull(room: 8_192)
          try await loop.sleep(for: .milliseconds(1))
        }
      }
      try await untilTold(0)
      let before = hub.statistics.scans
      for number in 0..<5 {
        var content = NotificationContent(type: Catalogue.custom.code, toType: .accounts)
        content.toAccids = ["bob"]
        for send in try SendNotification.sends(content, by: Self.app, generatedClientId: "c\(number)") {
          _ = try await OperationRunner(store: memory, limits: Limits()).run(send)
        }
        try await untilTold(Int64(number) + 1)
      }
      return (client.counts, hub.statistics.scans - before)
    }
    #expect(told?["unread"] == 5)
    #expect(scans == 0)
  }
}
