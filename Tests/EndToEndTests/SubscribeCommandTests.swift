import Foundation
import Testing

extension EndToEnd {
  /// `belfry subscribe` and `belfry unsubscribe`, as people type them.
  @Suite struct SubscribeCommands {
    @Test func aSubscriberHearsALargeServerUntilUnsubscribing() async throws {
      try await withWorld { world in
        let owner = try Person("owner", at: world[0])
        let alice = try Person("alice", at: world[0])
        let server = try Threshold.server(
          of: Threshold.line + 1, with: ["alice"], owner: owner, app: try Person.app(at: world[0]))
        let channel = try owner.createChannel(in: server)
        try alice.call("POST", "/v1/notifications/read", ["upTo": "9223372036854775807"])

        func hears(_ body: String) throws -> [String] {
          try owner.mustSend(body, ["serverId": server])
          try owner.mustSend("\(body), in the channel", ["serverId": server, "channelId": channel])
          return try alice.unreadBodies()
        }
        #expect(try hears("before") == [])
        let typed = try alice.type("subscribe", server, "\(server)/\(channel)")
        #expect(typed.code == 0 && typed.err.isEmpty, "\(typed)")
        #expect(
          typed.lines.map { $0.split(separator: " ").map(String.init) }
            == [[server, "subscribed"], ["\(server)/\(channel)", "subscribed"]])
        let heard = ["now", "now, in the channel"]
        #expect(try hears("now") == heard)
        #expect(try alice.type("unsubscribe", "\(server)/\(channel)").code == 0)
        #expect(try hears("later") == heard + ["later"])
        #expect(try alice.type("unsubscribe", server).out == "\(server)  unsubscribed\n")
        #expect(try hears("after") == heard + ["later"])
      }
    }

    @Test func aPlaceThatIsRefusedIsNamedAndTheOthersAreDone() async throws {
      try await withWorld { world in
        let owner = try Person("owner", at: world[0])
        let (mine, other) = (try owner.createServer(), try Person("other", at: world[0]).createServer())
        let typed = try owner.type("subscribe", "\(mine)/77", mine, other)
        #expect(typed.code == 1)
        #expect(typed.out == "\(mine)  subscribed\n")
        let said = typed.err.split(separator: "\n")
        #expect(said.contains { $0.hasPrefix("belfry: notMember: \(other): ") }, "\(typed)")
        #expect(said.contains { $0.hasPrefix("belfry: notFound: \(mine)/77: ") }, "\(typed)")
        let member = try owner.call("GET", "/v1/servers/\(mine)/members/owner").object
        #expect(member["subscribed"] as? Bool == true)

        let json = try owner.type("subscribe", mine, other, "--json")
        #expect(json.code == 1)
        let answer =
          try JSONSerialization.jsonObject(with: Data(json.out.utf8)) as? [String: [[String: String]]]
        #expect(answer?["failed"]?.map { $0["serverId"] } == [other])
        #expect(answer?["failed"]?.map { $0["code"] } == ["notMember"])

        #expect(try owner.type("subscribe", "\(mine)/1/2").code == 2)
        #expect(try owner.type("unsubscribe").code == 2)
      }
    }
  }
}
