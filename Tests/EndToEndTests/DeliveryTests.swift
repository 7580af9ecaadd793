import Foundation
import Testing

extension EndToEnd {
  /// The forms of sending, across brokers, live and later.
  @Suite struct Delivery {
    @Test func theFourFormsAndAccounts() async throws {
      try await withWorld(brokers: 2) { world in
        let owner = try Person("owner", at: world[0])
        let app = try Person.app(at: world[0])
        let names = ["anna", "ben", "carl"]
        let server = try owner.createServer()
        try app.add(names, to: server)
        let channel = try owner.createChannel(in: server, type: "private", members: ["anna", "ben"])
        let streams = try names.enumerated().map { try Person($1, at: world[$0]).stream() }
        try owner.mustSend("to the server", ["serverId": server])
        try owner.mustSend("to the channel", ["serverId": server, "channelId": channel])
        try owner.mustSend("to ben and carl", ["serverId": server, "toAccids": ["ben", "carl"]])
        try owner.mustSend("to anna there", ["serverId": server, "channelId": channel, "toAccids": ["anna"]])
        try app.mustSend("to two anywhere", ["toAccids": ["anna", "carl"]])
        for name in names { try app.mustSend("end", ["toAccids": [name]]) }
        let expected = [
          ["to the server", "to the channel", "to anna there", "to two anywhere", "end"],
          ["to the server", "to the channel", "to ben and carl", "end"],
          ["to the server", "to ben and carl", "to two anywhere", "end"],
        ]
        for (index, stream) in streams.enumerated() {
          #expect(
            stream.wait { Set(expected[index]).isSubset(of: Set($0.compactMap(\.body))) },
            "\(names[index]): \(stream.bodies)")
          #expect(Set(stream.bodies) == Set(expected[index]))
          #expect(stream.bodies.count == expected[index].count)
          let later = try Person(names[index], at: world[1 - index % 2]).unreadBodies()
          #expect(Set(later) == Set(expected[index]))
        }
        let refused = try owner.send("x", ["serverId": server, "toAccids": ["anna", "nobody"]])
        #expect(refused.status == 404)
        #expect(refused["detail"]?.contains("nobody") == true)
        let outside = try owner.send("x", ["serverId": server, "channelId": channel, "toAccids": ["carl"]])
        #expect(outside.status == 404)
      }
    }

    @Test func liveOnlyReachesWhoIsThereAndIsNotKept() async throws {
      try await withWorld(brokers: 2) { world in
        let owner = try Person("owner", at: world[0])
        let server = try owner.createServer()
        let stream = try owner.stream(at: world[1])
        #expect(stream.wait { $0.contains { $0.type == 32 } })
        let fields: [String: Any] = ["serverId": server, "setting": ["persistEnable": false]]
        try owner.mustSend("ephemeral by", fields)
        #expect(stream.wait(forBody: "ephemeral by"))
        #expect(try owner.unreadBodies().isEmpty)
      }
    }

    @Test func updatesAreToldAndSeenLater() async throws {
      try await withWorld(brokers: 2) { world in
        let owner = try Person("owner", at: world[0])
        let app = try Person.app(at: world[0])
        let server = try owner.createServer()
        try app.add(["alice"], to: server)
        let alice = try Person("alice", at: world[1])
        let stream = try alice.stream()
        let id = try owner.mustSend("first version", ["serverId": server])
        #expect(stream.wait(forBody: "first version"))
        let answer = try owner.call(
          "PATCH", "/v1/notifications/\(id)", ["body": "second version", "status": 10_001])
        #expect(answer.status == 200, "\(answer)")
        #expect(stream.wait(forEvent: "updated"))
        let updated = try #require(stream.all.last { $0.name == "updated" })
        #expect(updated.body == "second version")
        #expect(updated.messageServerId == id)
        let later = try #require(try alice.unread().first { $0["messageServerId"] as? String == id })
        #expect(later["body"] as? String == "second version")
        #expect(later["status"] as? Int == 10_001)
        #expect(later["updateTime"] != nil)
        #expect(try alice.call("PATCH", "/v1/notifications/\(id)", ["body": "mine now"]).status == 403)
        #expect(try app.call("PATCH", "/v1/notifications/\(id)", ["ext": "by the back end"]).status == 200)
        #expect(try owner.call("PATCH", "/v1/notifications/12345", ["body": "x"]).status == 404)
      }
    }

    @Test func aRemovedServerTellsAllAndDrains() async throws {
      try await withWorld(settings: ["BELFRY_LIMITS_SUBSCRIPTION_THRESHOLD": "2"]) { world in
        let owner = try Person("owner", at: world[0])
        let server = try owner.createServer()
        try Person.app(at: world[0]).add(["a", "b", "c"], to: server)
        let live = try Person("a", at: world[0]).stream()
        #expect(try owner.call("DELETE", "/v1/servers/\(server)").status == 204)
        #expect(live.wait { $0.contains { $0.type == 6 } })
        #expect(try Person("b", at: world[0]).unread().contains { $0["type"] as? Int == 6 })
        #expect(try owner.call("GET", "/v1/servers/\(server)").status == 404)
        #expect(try owner.send("too late", ["serverId": server]).status == 404)
      }
    }

    @Test func pullWaitsForSomething() async throws {
      try await withWorld(brokers: 2) { world in
        let owner = try Person("owner", at: world[0])
        let server = try owner.createServer()
        let first = try owner.call("GET", "/v1/notifications?limit=500")
        let cursor = try #require(first["cursor"])
        let answers = Box<Answer>()
        let group = DispatchGroup()
        group.enter()
        Thread.detachNewThread {
          defer { group.leave() }
          if let answer = try? Person("owner", at: world[1]).call(
            "GET", "/v1/notifications?wait=15&after=\(cursor)")
          {
            answers.add(answer)
          }
        }
        try await Task.sleep(for: .milliseconds(400))
        #expect(answers.values.isEmpty)
        try owner.mustSend("at last", ["serverId": server])
        group.wait()
        #expect(answers.values.first?.notifications.compactMap { $0["body"] as? String } == ["at last"])
        let nothing = try owner.call(
          "GET", "/v1/notifications?wait=1&after=\(try #require(answers.values.first?["cursor"]))")
        #expect(nothing.status == 200)
        #expect(nothing.notifications.isEmpty)
      }
    }

    @Test func batchesFailLineByLine() async throws {
      try await withWorld { world in
        let owner = try Person("owner", at: world[0])
        let server = try owner.createServer()
        let lines = [
          #"{"serverId":"\#(server)","body":"one","messageClientId":"b1"}"#,
          #"{"serverId":"\#(server)","bodi":"two"}"#, "{broken", "[]", "",
          #"{"serverId":"\#(server)","body":"one","messageClientId":"b1"}"#,
          #"{"serverId":"1","body":"nowhere"}"#,
          #"{"serverId":"\#(server)","body":"six"}"#,
        ]
        let wire = try Wire(port: world[0].port)
        let answer = try wire.request(
          "POST", "/v1/notifications/batch",
          headers: owner.headers.merging(["Content-Type": "application/x-ndjson"]) { $1 },
          body: Array(lines.joined(separator: "\n").utf8))
        #expect(answer.status == 200, "\(answer)")
        let results = answer.text.split(separator: "\n").map {
          (try? JSONSerialization.jsonObject(with: Data($0.utf8))) as? [String: Any] ?? [:]
        }
        let statuses = results.compactMap { $0["status"] as? Int }
        #expect(Set(statuses.prefix(1) + statuses.suffix(1)) == [201], "\(answer)")
        #expect(statuses.filter { $0 == 201 || $0 == 200 }.count == 3)
        #expect(statuses.allSatisfy { $0 < 500 })
        #expect(try owner.unreadBodies() == ["one", "six"])
      }
    }

    /// Each receiver's four lists are read before anything is sent: 24,000 commands, and a connection to Redis takes 16,384 at a
    /// time.
    @Test func aBatchToSixThousandReceiversIsSent() async throws {
      try await withWorld(settings: ["BELFRY_LIMITS_SENDS_PER_SECOND_PER_ACCOUNT": "100000"]) { world in
        let owner = try Person("owner", at: world[0])
        let lines = try (0..<12).map { line in
          let receivers = (0..<500).map { "r\(line)-\($0)" }
          let fields: [String: Any] = ["toAccids": receivers, "body": "line \(line)"]
          return try JSONSerialization.data(withJSONObject: fields)
        }
        let answer = try Wire(port: world[0].port).request(
          "POST", "/v1/notifications/batch",
          headers: owner.headers.merging(["Content-Type": "application/x-ndjson"]) { $1 },
          body: Array(Data(lines.joined(separator: Data("\n".utf8)))))
        #expect(answer.text.split(separator: "\n").count { $0.contains(#""status":201"#) } == 12, "\(answer)")
        for (line, receiver) in [(0, 0), (7, 250), (11, 499)] {
          #expect(try Person("r\(line)-\(receiver)", at: world[0]).unreadBodies() == ["line \(line)"])
        }
      }
    }
  }
}
