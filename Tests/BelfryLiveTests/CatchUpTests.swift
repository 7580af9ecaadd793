import BelfryLive
import BelfryLoop
import BelfryModel
import BelfryStore
import ModelSamples
import StreamClients
import Testing

/// The cost of coming back, counted and never timed.
@Suite struct CatchUpTests {
  /// Each reading, and each text that is handed to the socket, waits for a turn of the loop, in which a busy one
  /// sends to hundreds of others: who missed thousands of notifications must not be thousands behind for long.
  @Test func thousandsThatWereMissedTakeFewTurns() async throws {
    let missed = 4_000
    let (shown, readings, turns) = try await withLoop { loop, scope in
      let memory = MemoryStore(limits: Limits())
      let store = SlowStore(memory, Chance(seed: 1), on: loop)
      let hub = Hub(
        loop: loop, scope: scope, store: store, live: SlowLiveFeed(memory, on: loop), limits: Limits())
      let runner = OperationRunner(store: memory, limits: Limits())
      let (bob, server): (AccountID, EntityID) = ("bob", 14)
      _ = try await runner.run(
        CreateServer(id: server, defaultChannel: 1_000, owner: bob, actor: Actor(account: bob), name: "s"))
      for partition in memory.partitionsToRelay() { memory.relayOutbox(of: partition) }
      var sending = Transaction(.server(server))
      let content = NotificationContent(type: Catalogue.custom.code, toType: .server)
      sending.announcements = [Announcement(content, to: Audience(.all))]
      for _ in 0..<missed { _ = memory.commit([sending]) }

      let client = Client(bob)
      defer { client.cut() }
      try client.open(hub)
      var turns = 0
      for _ in 0..<20_000 where client.received.count < missed {
        try await loop.sleep(for: .zero)
        let before = client.received.count
        // A client that takes everything that it is sent.
        try client.pull(room: 1_024 * 1_024)
        if client.received.count > before { turns += 1 }
      }
      return (client.received, store.readings, turns)
    }
    #expect(shown.count >= missed && Set(shown).count == shown.count)
    #expect(readings <= 11, "128, 256, and then 512 at a time: \(readings) readings")
    #expect(turns <= 32, "64 KiB at a time: \(turns) turns")
  }
}
