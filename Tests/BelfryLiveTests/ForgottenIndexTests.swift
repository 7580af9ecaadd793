import BelfryFeed
import BelfryLive
import BelfryLoop
import BelfryModel
import ModelSamples
import StreamClients
import Testing

@testable import BelfryStore

/// An account is in a server's roster, and its index has lost the server.
@Suite struct ForgottenIndexTests {
  /// Notifications that were sent meanwhile are shown once the account is added again.
  @Test func explainNamesItAndAddingTheMemberAgainRepairsIt() async throws {
    let (reasons, missed, received, sent) = try await withLoop { loop, scope in
      let memory = MemoryStore(limits: Limits())
      let live = SlowLiveFeed(memory, on: loop)
      let hub = Hub(loop: loop, scope: scope, store: memory, live: live, limits: Limits())
      let runner = OperationRunner(store: memory, limits: Limits())
      let app = Actor(account: nil, isTrusted: true)
      let server = EntityID(bits: 14)
      let create = CreateServer(
        id: server, defaultChannel: EntityID(bits: 1_000), owner: "owner", actor: Actor(account: "owner"),
        name: "s")
      _ = try await runner.run(create)
      let add = AddMembers(server, actor: app, accounts: ["bob"], requestId: "r")
      _ = try await runner.run(add)
      relay(memory)
      memory.indexes["bob"] = nil
      let client = Client("bob")
      try client.open(hub)
      defer { client.cut() }
      try await settle(client, loop, live)
      var content = NotificationContent(type: Catalogue.custom.code, toType: .server)
      content.serverId = server
      content.body = "ding"
      let sends = try SendNotification.sends(content, by: app, generatedClientId: "c")
      let done = try await runner.run(try #require(sends.first))
      let sent = try #require(done.commit?.ids.first)
      try await settle(client, loop, live)
      let missed = client.sent
      var reasons = [try await hub.feed.explain(sent, account: "bob")]
      _ = try await runner.run(add)
      try await settle(client, loop, live) { !client.sent.isEmpty }
      reasons.append(try await hub.feed.explain(sent, account: "bob"))
      return (reasons, missed, client.sent, sent)
    }
    #expect(missed == [])
    #expect(received == [sent])
    #expect(reasons.map(\.visible) == [false, true])
    #expect(reasons[0].reason == "notIndexed")
    #expect(reasons[0].facts.memberSince == nil, "only the index knows when bob joined")
    #expect(reasons[0].detail.contains("add the account to the space again"))
    #expect(reasons[1].reason == "openToAll")
  }
}
