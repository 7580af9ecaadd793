import BelfryModel
import Testing

@testable import BelfryServer
@testable import BelfryStore

@Suite struct SubscriptionRouteTests {
  private func channel(_ broker: TestBroker, _ server: String, _ body: String) throws -> String {
    let made = try broker.ask(
      "POST", "/v1/servers/\(server)/channels", as: try broker.token("alice"), body)
    return try #require(made.json["channelId"]?.text)
  }

  /// True if bob's record has a subscription to the channel.
  private func subscribes(_ broker: TestBroker, _ server: String, _ channel: String) throws -> Bool {
    let table = TableAddress(.server(try #require(EntityID(server))), .roster)
    let record = try broker.redis.command("HGET", RedisLayout(.standard).table(table).text, "bob")
    let member = try #require(MemberRecord(text: record))
    return member.membership.channels[try #require(EntityID(channel))]?.subscription.current != nil
  }

  @Test func manyAtOnceAndThoseThatFail() async throws {
    try await withBroker { broker in
      let bob = try broker.token("bob")
      let (mine, other) = (
        try broker.makeServer(owner: "alice", members: ["bob"]), try broker.makeServer(owner: "alice")
      )
      let lobby = try channel(broker, mine, #"{"name":"lobby","type":"public"}"#)
      let den = try channel(broker, mine, #"{"name":"den","type":"private"}"#)
      for isSubscribed in [true, false] {
        let answer = try broker.ask(
          "POST", "/v1/subscriptions", as: bob,
          """
          {"servers":["\(mine)","\(other)"],"subscribe":\(isSubscribed),"channels":[
          {"serverId":"\(mine)","channelId":"\(lobby)"},{"serverId":"\(mine)","channelId":"\(den)"},
          {"serverId":"\(mine)","channelId":"77"},{"serverId":"\(other)","channelId":"\(lobby)"}]}
          """)
        #expect(answer.status == 200)
        let failed = (answer.json["failed"]?.elements ?? []).map { failure in
          [failure["serverId"], failure["channelId"], failure["code"]].map { $0?.text ?? "" }
        }
        #expect(
          Set(failed) == [
            [other, "", "notMember"], [mine, den, "notFound"], [mine, "77", "notFound"],
            [other, lobby, "notMember"],
          ])
        let member = try broker.ask("GET", "/v1/servers/\(mine)/members/bob", as: bob)
        #expect(member.json["subscribed"] == .bool(isSubscribed))
        #expect(try subscribes(broker, mine, lobby) == isSubscribed)
        #expect(try !subscribes(broker, mine, den))
      }
    }
  }

  @Test func allChannelsOfAServer() async throws {
    try await withBroker { broker in
      let bob = try broker.token("bob")
      let server = try broker.makeServer(owner: "alice", members: ["bob"])
      let lobby = try channel(broker, server, #"{"name":"lobby","type":"public"}"#)
      let den = try channel(broker, server, #"{"name":"den","type":"private"}"#)
      let path = "/v1/servers/\(server)/channels/subscription"
      for (method, isSubscribed) in [("PUT", true), ("PUT", true), ("DELETE", false)] {
        #expect(try broker.ask(method, path, as: bob).status == 204)
        #expect(try subscribes(broker, server, lobby) == isSubscribed)
        #expect(try !subscribes(broker, server, den))
      }
      #expect(try broker.ask("PUT", path, as: try broker.token("carol")).code == "notMember")
      let app = try broker.token("app", .app)
      #expect(try broker.ask("PUT", path, as: app).field == "Belfry-Account")
      let forCarol = try broker.ask("PUT", path, as: app, headers: [("Belfry-Account", "carol")])
      #expect(forCarol.code == "notMember")
    }
  }

  @Test func theTypesAreTheCatalogue() async throws {
    try await withBroker { broker in
      let answer = try broker.ask("GET", "/v1/types", as: try broker.token("bob"))
      #expect(
        answer.json["types"]?.elements.compactMap { $0["code"]?.number }
          == Catalogue.all.map { Int64($0.code) }.sorted())
    }
  }
}
