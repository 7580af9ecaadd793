import BelfryLive
import BelfryLoop
import BelfryModel
import BelfryStore
import ModelSamples
import StreamClients
import Testing

/// Two devices of one account on one loop share what is known of the account.
@Suite struct TwoDevicesTests {
  /// Bob is put out and let in again; that his index knows is late. Meanwhile something is sent, and is still under
  /// way when a second device comes, which knows of the new stay. The first one must not be shown it by what the
  /// second one knows, and again when it hears of the stay itself.
  @Test func whatOneLearnsTheOtherIsNotShownTwice() async throws {
    let shown = try await withLoop { loop, scope in
      let memory = MemoryStore(limits: Limits())
      let live = SlowLiveFeed(memory, on: loop)
      let hub = Hub(loop: loop, scope: scope, store: memory, live: live, limits: Limits())
      let runner = OperationRunner(store: memory, limits: Limits())
      let bob: AccountID = "bob"
      let app = Actor(account: nil, isTrusted: true)
      let server = EntityID(bits: 14)
      let owner: AccountID = "owner"
      _ = try await runner.run(
        CreateServer(
          id: server, defaultChannel: EntityID(bits: 1_000), owner: owner, actor: Actor(account: owner),
          name: "s"))
      _ = try await runner.run(AddMembers(server, actor: app, accounts: [bob], requestId: "r"))
      relay(memory)
      let (first, second) = (Client(bob), Client(bob))
      try first.open(hub)
      try await settle(first, loop, live)
      // Nobody relays this for now.
      let store = SlowStore(memory, Chance(seed: 1), on: loop)
      store.relayFailurePercent = 100
      let late = OperationRunner(store: store, limits: Limits())
      _ = try await late.run(KickMembers(server, actor: app, accounts: [bob]))
      _ = try await late.run(AddMembers(server, actor: app, accounts: [bob], requestId: "r2"))
      try await settle(first, loop, live)
      var content = NotificationContent(type: Catalogue.custom.code, toType: .server)
      content.serverId = server
      content.body = "ding"
      for send in try SendNotification.sends(content, by: app, generatedClientId: "c") {
        _ = try await late.run(send)
      }
      relay(memory)
      try second.open(hub)
      try await settle(second, loop)
      live.arrive(atMost: 1)
      try await loop.sleep(for: .milliseconds(5))
      try first.pull(room: 8_192)
      try await settle(first, loop, live) { !first.received.isEmpty }
      defer { for client in [first, second] { client.cut() } }
      return first.received
    }
    #expect(shown.count == Set(shown).count, "\(shown)")
    #expect(!shown.isEmpty)
  }

  /// A preference ends, and before its timer runs, a second device comes. The timer is made again only for preferences that
  /// are to end, so the first device has to be told now.
  @Test func theFirstIsToldOfAnEndThatTheSecondNotices() async throws {
    let shown = try await withLoop { loop, scope in
      let memory = MemoryStore(limits: Limits())
      let live = SlowLiveFeed(memory, on: loop)
      let hub = Hub(loop: loop, scope: scope, store: memory, live: live, limits: Limits())
      let runner = OperationRunner(store: memory, limits: Limits())
      let hour: Int64 = 3_600_000
      let silence = Preference(level: .none, until: memory.clockMilliseconds + hour)
      _ = try await runner.run(SetPreferences([silence], of: "bob", actor: Actor(account: "bob")))
      let (first, second) = (Client("bob"), Client("bob"))
      defer { for client in [first, second] { client.cut() } }
      try first.open(hub)
      try await settle(first, loop, live)
      var content = NotificationContent(type: Catalogue.custom.code, toType: .accounts)
      content.toAccids = ["bob"]
      let app = Actor(account: nil, isTrusted: true)
      for send in try SendNotification.sends(content, by: app, generatedClientId: "c") {
        _ = try await runner.run(send)
      }
      try await settle(first, loop, live)
      let muted = first.received
      memory.clockMilliseconds += hour + 1
      try second.open(hub)
      try await settle(second, loop, live) { !second.received.isEmpty }
      try await settle(first, loop, live) { !first.received.isEmpty }
      return (muted.count, first.received.count, second.received.count)
    }
    #expect(shown == (0, 1, 1))
  }
}

func relay(_ memory: MemoryStore) {
  for partition in memory.partitionsToRelay() { memory.relayOutbox(of: partition) }
}

/// Long enough for a catch-up from memory, and, where there is something to wait for, as long as that takes.
func settle(
  _ client: Client, _ loop: EventLoop, _ live: SlowLiveFeed? = nil, until isDone: () -> Bool = { true }
) async throws {
  for round in 0..<5_000 where round < 50 || !isDone() {
    live?.arrive(atMost: .max)
    try await loop.sleep(for: .milliseconds(1))
    try client.pull(room: 8_192)
  }
}
