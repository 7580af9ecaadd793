import Foundation
import Glibc
import TestKit
import Testing

extension EndToEnd {
  /// A repeated send is one send.
  @Suite struct Dedupe {
    @Test func fiftyAtOnceOverEightConnectionsToTwoBrokers() async throws {
      try await withWorld(brokers: 2) { world in
        let owner = try Person("owner", at: world[0])
        let server = try owner.createServer()
        let stream = try owner.stream(at: world[1])
        let answers = Box<Answer>()
        concurrently(8) { connection in
          guard let sender = try? Person("owner", at: world[connection]) else { return }
          for index in 0..<50 where index % 8 == connection {
            if let answer = try? sender.send("once", ["serverId": server, "messageClientId": "the-one"]) {
              answers.add(answer)
            }
          }
        }
        #expect(answers.values.count == 50)
        #expect(answers.values.filter { $0.status == 201 && !$0.isDuplicate }.count == 1)
        #expect(answers.values.filter { $0.status == 200 && $0.isDuplicate }.count == 49)
        #expect(Set(answers.values.compactMap { $0["messageServerId"] }).count == 1)
        try owner.mustSend("end", ["serverId": server])
        #expect(stream.wait(forBody: "end"))
        #expect(stream.bodies == ["once", "end"])
        #expect(try owner.unreadBodies() == ["once", "end"])
      }
    }

    @Test func otherContentIsRefused() async throws {
      try await withWorld { world in
        let owner = try Person("owner", at: world[0])
        let server = try owner.createServer()
        let fields: [String: Any] = ["serverId": server, "messageClientId": "x"]
        try owner.mustSend("one thing", fields)
        let other = try owner.send("another", fields)
        #expect(other.status == 409)
        #expect(other["code"] == "duplicateContent")
        // The id belongs to the sender: somebody else, and another space, may use the same.
        try Person.app(at: world[0]).add(["alice"], to: server)
        try Person("alice", at: world[0]).mustSend("another", fields)
        try owner.mustSend("another", ["serverId": try owner.createServer(), "messageClientId": "x"])
      }
    }

    @Test func resendSendsIfTheFirstTryNeverArrived() async throws {
      try await withWorld { world in
        let owner = try Person("owner", at: world[0])
        let server = try owner.createServer()
        let json: [String: Any] = ["serverId": server, "body": "late", "messageClientId": "r"]
        let first = try owner.call("POST", "/v1/notifications/resend", json)
        #expect(first.status == 201)
        let second = try owner.call("POST", "/v1/notifications/resend", json)
        #expect(second.status == 200)
        #expect(second.isDuplicate)
        #expect(second["messageServerId"] == first["messageServerId"])
        let nameless = try owner.call(
          "POST", "/v1/notifications/resend", ["serverId": server, "body": "late"])
        #expect(nameless.status == 400)
        #expect(nameless["field"] == "messageClientId")
      }
    }

    /// The broker is killed while sends are under way. After all of them are sent again, exactly one of each
    /// exists.
    @Test func aResendAfterAKillLeavesExactlyOne() async throws {
      try await withWorld { world in
        let owner = try Person("owner", at: world[0])
        let server = try owner.createServer()
        let attempted = Box<Int>()
        let senders = DispatchGroup()
        for connection in 0..<4 {
          senders.enter()
          let sender = try Person("owner", at: world[0])
          Thread.detachNewThread {
            defer { senders.leave() }
            for index in 0..<10_000 where index % 4 == connection {
              attempted.add(index)
              let fields: [String: Any] = ["serverId": server, "messageClientId": "k\(index)"]
              guard let answer = try? sender.send("n\(index)", fields), answer.status < 300 else { return }
            }
          }
        }
        try await eventually { attempted.values.count > 200 }
        await world[0].kill()
        senders.wait()
        try await world[0].start()
        for index in attempted.values {
          let json: [String: Any] = ["serverId": server, "messageClientId": "k\(index)", "body": "n\(index)"]
          let answer = try owner.call("POST", "/v1/notifications/resend", json)
          #expect(answer.status == 200 || answer.status == 201, "\(answer)")
        }
        let bodies = try owner.unreadBodies()
        #expect(bodies.count == attempted.values.count)
        #expect(Set(bodies) == Set(attempted.values.map { "n\($0)" }))
      }
    }
  }
}
