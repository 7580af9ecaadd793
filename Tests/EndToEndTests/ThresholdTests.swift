import Foundation
import Testing

extension EndToEnd {
  /// The receivers of a broadcast on either side of the threshold.
  @Suite struct Threshold {
    static let line = 2_000

    /// A server with the owner, the named accounts and enough others to have `count` members.
    static func server(
      of count: Int, with names: [String], owner: Person, app: Person
    ) throws -> String {
      let server = try owner.createServer()
      try app.add(names + (0..<count - names.count - 1).map { "filler\($0)" }, to: server)
      return server
    }

    @Test func atTheLineEverybodyHears() async throws {
      try await withWorld { world in
        let owner = try Person("owner", at: world[0])
        let app = try Person.app(at: world[0])
        let alice = try Person("alice", at: world[0])
        let server = try Self.server(of: Self.line, with: ["alice"], owner: owner, app: app)
        #expect(try app.call("GET", "/v1/servers/\(server)")["memberCount"] == "2000")
        let stream = try alice.stream()
        try owner.mustSend("for all", ["serverId": server])
        #expect(stream.wait(forBody: "for all"))
        #expect(try alice.unreadBodies().contains("for all"))
      }
    }

    @Test func aboveItOnlySubscribersNamedReceiversAndParties() async throws {
      try await withWorld { world in
        let owner = try Person("owner", at: world[0])
        let app = try Person.app(at: world[0])
        let people = try ["plain", "fan", "named"].map { try Person($0, at: world[0]) }
        let server = try Self.server(
          of: Self.line + 1, with: people.map(\.name), owner: owner, app: app)
        #expect(try people[1].call("PUT", "/v1/servers/\(server)/subscription").status == 204)
        let streams = try people.map { try $0.stream() }
        try owner.mustSend("broadcast", ["serverId": server])
        try owner.mustSend("by name", ["serverId": server, "toAccids": ["named"]])
        // The last send to each account alone shows that everything before it has come.
        for person in people { try app.mustSend("end", ["toAccids": [person.name]]) }
        for stream in streams { #expect(stream.wait(forBody: "end")) }
        expectBodies(["end"], on: streams[0])
        expectBodies(["broadcast", "end"], on: streams[1])
        expectBodies(["by name", "end"], on: streams[2])
        for (person, stream) in zip(people, streams) {
          #expect(try person.unreadBodies().sorted() == stream.bodies.sorted())
        }
      }
    }

    @Test func aSubscriberOfOneChannelDoesNotHearAnother() async throws {
      try await withWorld(settings: ["BELFRY_LIMITS_SUBSCRIPTION_THRESHOLD": "3"]) { world in
        let owner = try Person("owner", at: world[0])
        let app = try Person.app(at: world[0])
        let fan = try Person("fan", at: world[0])
        let server = try Self.server(of: 4, with: ["fan"], owner: owner, app: app)
        let one = try owner.createChannel(in: server)
        let other = try owner.createChannel(in: server)
        #expect(try fan.call("PUT", "/v1/servers/\(server)/channels/\(one)/subscription").status == 204)
        let stream = try fan.stream()
        try owner.mustSend("other channel", ["serverId": server, "channelId": other])
        try owner.mustSend("whole server", ["serverId": server])
        try owner.mustSend("one channel", ["serverId": server, "channelId": one])
        #expect(stream.wait(forBody: "one channel"))
        #expect(stream.bodies == ["one channel"])
        #expect(try fan.unreadBodies() == ["one channel"])
        #expect(try fan.call("DELETE", "/v1/servers/\(server)/channels/\(one)/subscription").status == 204)
        try owner.mustSend("no longer", ["serverId": server, "channelId": one])
        try app.mustSend("end", ["toAccids": ["fan"]])
        #expect(stream.wait(forBody: "end"))
        expectBodies(["one channel", "end"], on: stream)
      }
    }

    @Test func crossingTheLineChangesNothingAlreadySent() async throws {
      try await withWorld(settings: ["BELFRY_LIMITS_SUBSCRIPTION_THRESHOLD": "3"]) { world in
        let owner = try Person("owner", at: world[0])
        let app = try Person.app(at: world[0])
        let alice = try Person("alice", at: world[0])
        let server = try Self.server(of: 3, with: ["alice"], owner: owner, app: app)
        try owner.mustSend("while small", ["serverId": server])
        try app.add(["one more"].map { $0.replacingOccurrences(of: " ", with: "-") }, to: server)
        try owner.mustSend("while large", ["serverId": server])
        #expect(try alice.unreadBodies() == ["while small"])
        #expect(try owner.call("DELETE", "/v1/servers/\(server)/members/one-more").status == 204)
        try owner.mustSend("small again", ["serverId": server])
        #expect(try alice.unreadBodies() == ["while small", "small again"])
        let stream = try alice.stream()
        #expect(stream.wait(forBody: "small again"))
        #expect(stream.bodies == ["while small", "small again"])
      }
    }

    @Test func joiningLateAndBeingKicked() async throws {
      try await withWorld { world in
        let owner = try Person("owner", at: world[0])
        let app = try Person.app(at: world[0])
        let alice = try Person("alice", at: world[0])
        let server = try owner.createServer()
        try owner.mustSend("before", ["serverId": server])
        let stream = try alice.stream()
        try app.add(["alice"], to: server)
        try owner.mustSend("during", ["serverId": server])
        expectTypes([8, 32, 100], on: stream)
        #expect(try owner.call("DELETE", "/v1/servers/\(server)/members/alice").status == 204)
        try owner.mustSend("after", ["serverId": server])
        try app.mustSend("end", ["toAccids": ["alice"]])
        #expect(stream.wait(forBody: "end"))
        expectTypes([8, 12, 32, 32, 100, 100], on: stream)
        expectBodies(["during", "end"], on: stream)
        #expect(
          try alice.unread().compactMap { $0["type"] as? Int }.sorted() == [8, 12, 32, 32, 100, 100])
        #expect(try alice.send("as a stranger", ["serverId": server]).status == 403)
      }
    }

    // Notifications of different spaces have no order, so these wait for all of them and compare them as a
    // set.

    private func expectBodies(
      _ bodies: [String], on stream: EventStream, location: SourceLocation = #_sourceLocation
    ) {
      stream.wait { $0.compactMap(\.body).count >= bodies.count }
      #expect(stream.bodies.sorted() == bodies.sorted(), sourceLocation: location)
    }

    /// - Parameter types: the smallest first.
    private func expectTypes(
      _ types: [Int], on stream: EventStream, location: SourceLocation = #_sourceLocation
    ) {
      stream.wait { $0.compactMap(\.type).count >= types.count }
      #expect(stream.types.sorted() == types, sourceLocation: location)
    }
  }
}
