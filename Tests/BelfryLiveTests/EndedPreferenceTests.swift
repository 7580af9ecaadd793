import BelfryLive
import BelfryLoop
import BelfryModel
import BelfryStore
import ModelSamples
import StreamClients
import TestKit
import Testing

/// Streams of an account whose preferences end by themselves.
@Suite struct EndedPreferenceTests {
  /// Nothing has been allotted in the account's partition since the end, so no id says that the client knows of it.
  @Test func aClientThatComesBackIsToldOnce() async throws {
    let (resets, received) = try await withLoop { loop, scope in
      let memory = MemoryStore(limits: Limits())
      let live = SlowLiveFeed(memory, on: loop)
      let hub = Hub(loop: loop, scope: scope, store: memory, live: live, limits: Limits())
      let client = Client("bob")
      defer { client.cut() }
      try client.open(hub)
      try await send(memory, "before")
      try await settle(client, loop, live) { client.received.count == 1 }
      let hour: Int64 = 3_600_000
      try await set([Preference(level: .none, until: memory.clockMilliseconds + hour)], memory)
      try await settle(client, loop, live) { client.resets == 1 }
      client.cut()
      memory.clockMilliseconds += hour + 1
      for _ in 0..<4 {
        try client.open(hub)
        try await settle(client, loop, live) { client.resets > 1 }
        client.cut()
      }
      let resets = client.resets
      // Another change of the preferences is told, too.
      try await set([Preference(types: [5], level: .none)], memory)
      try client.open(hub)
      try await settle(client, loop, live) { client.resets > resets }
      return ([resets, client.resets], client.received.count)
    }
    #expect(resets == [2, 3])
    #expect(received == 3)
  }

  /// One list may hold a hundred ends. Each would have every stream of the account show all again.
  @Test func theNextEndIsTheLastOfThoseCloseTogether() {
    let ends: [Int64] = [1_000, 5_000, 11_000, 11_001, 90_000]
    let preferences = Preferences(ends.map { Preference(level: .none, until: $0) })
    #expect(preferences.nextEnd(after: 0) == 11_000)
    #expect(preferences.nextEnd(after: 11_000) == 11_001)
    #expect(preferences.nextEnd(after: 11_001) == 90_000)
    #expect(preferences.nextEnd(after: 90_000) == nil)
  }

  private func set(_ preferences: [Preference], _ memory: MemoryStore) async throws {
    _ = try await OperationRunner(store: memory, limits: Limits()).run(
      SetPreferences(preferences, of: "bob", actor: Actor(account: "bob")))
  }

  private func send(_ memory: MemoryStore, _ body: String) async throws {
    var content = NotificationContent(type: Catalogue.custom.code, toType: .accounts)
    content.toAccids = ["bob"]
    let app = Actor(account: nil, isTrusted: true)
    for send in try SendNotification.sends(content, by: app, generatedClientId: body) {
      _ = try await OperationRunner(store: memory, limits: Limits()).run(send)
    }
  }
}
