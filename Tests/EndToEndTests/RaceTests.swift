import BelfryModel
import Foundation
import Testing

extension EndToEnd {
  /// Two contradictory operations at the same moment, through two brokers. The outcome is that of one of the
  /// two orders, and all reports of it agree.
  ///
  /// `BELFRY_TEST_RACES` sets the rounds of each; all four together are a thousand by default.
  @Suite struct Races {
    private static let rounds =
      ProcessInfo.processInfo.environment["BELFRY_TEST_RACES"].flatMap { Int($0) } ?? 250

    /// The answers of the two operations. Each went through its own broker.
    private func race(
      _ first: @escaping @Sendable () throws -> Answer, _ second: @escaping @Sendable () throws -> Answer
    )
      throws -> (Int, Int)
    {
      let firsts = Box<Int>()
      let seconds = Box<Int>()
      concurrently(2) { index in
        let answer = try? index == 0 ? first() : second()
        (index == 0 ? firsts : seconds).add(answer?.status ?? -1)
      }
      return (try #require(firsts.values.first), try #require(seconds.values.first))
    }

    private func isDone(_ status: Int) -> Bool { (200...299).contains(status) }

    private func names(_ prefix: String) -> [String] { (0..<Self.rounds).map { "\(prefix)\($0)" } }

    @Test func kickAndPromote() async throws {
      try await withWorld(brokers: 2) { world in
        let (owner, again) = (try Person("olga", at: world[0]), try Person("olga", at: world[1]))
        let server = try owner.createServer()
        let targets = names("target")
        try Person.app(at: world[0]).add(targets, to: server)
        var promoted: Set<String> = []
        for target in targets {
          let (kick, promotion) = try race(
            { try owner.call("DELETE", "/v1/servers/\(server)/members/\(target)") },
            { try again.call("PUT", "/v1/servers/\(server)/admins/\(target)") })
          try #require(isDone(kick), "kicking \(target): \(kick)")
          try #require(isDone(promotion) || promotion == 404, "promoting \(target): \(promotion)")
          if isDone(promotion) { promoted.insert(target) }
        }
        #expect(try owner.call("GET", "/v1/servers/\(server)")["memberCount"] == "1")
        let unread = try owner.unread()
        for target in targets {
          let told = unread.filter { mentions($0, target) }
          let types = told.compactMap { $0["type"] as? Int }
          #expect(types.count { $0 == 12 } == 1, "\(target) is told to be out \(types)")
          #expect(types.count { $0 == 14 } == (promoted.contains(target) ? 1 : 0), "\(target): \(types)")
        }
        // No admin is left that the roster does not know. Otherwise there would be no room for these.
        let others = names("other")
        try Person.app(at: world[0]).add(Array(others.prefix(100)), to: server)
        for other in others.prefix(100) {
          #expect(isDone(try owner.call("PUT", "/v1/servers/\(server)/admins/\(other)").status))
        }
      }
    }

    @Test func twoAcceptances() async throws {
      try await withWorld(brokers: 2) { world in
        let owner = try Person("olga", at: world[0])
        let server = try owner.createServer()
        let invitees = names("guest")
        for invitee in invitees {
          let invitation = try owner.call(
            "POST", "/v1/servers/\(server)/invitations", ["accids": [invitee]])
          try #require(isDone(invitation.status), "\(invitation)")
          let (phone, laptop) = (try Person(invitee, at: world[0]), try Person(invitee, at: world[1]))
          let id = AudienceScenario.requestID("invitation", invitee, server: server)
          let accept = "/v1/servers/\(server)/invitations/\(id)/accept"
          let (first, second) = try race(
            { try phone.call("POST", accept, [:]) }, { try laptop.call("POST", accept, [:]) })
          #expect([first, second].count(where: isDone) == 1, "\(invitee): \(first) and \(second)")
          #expect([first, second].contains { $0 == 404 || $0 == 409 }, "\(invitee): \(first) and \(second)")
        }
        #expect(try owner.call("GET", "/v1/servers/\(server)")["memberCount"] == "\(invitees.count + 1)")
        let accepted = try owner.unread().filter { $0["type"] as? Int == 9 }
        #expect(accepted.count == invitees.count)
        #expect(Set(accepted.compactMap { $0["fromAccount"] as? String }) == Set(invitees))
      }
    }

    @Test func leaveAndHandOver() async throws {
      try await withWorld(brokers: 2) { world in
        let (owner, app) = (try Person("olga", at: world[0]), try Person.app(at: world[0]))
        let server = try owner.createServer()
        let heirs = names("heir")
        try app.add(heirs, to: server)
        var stayed = 1
        for heir in heirs {
          let person = try Person(heir, at: world[1])
          let (leave, hand) = try race(
            { try person.call("DELETE", "/v1/servers/\(server)/members/\(heir)") },
            { try owner.call("PUT", "/v1/servers/\(server)/owner", ["accid": heir]) })
          let isLeft = isDone(leave) && hand == 404
          let isOwner = leave == 403 && isDone(hand)
          try #require(isLeft || isOwner, "\(heir): leaving \(leave), handing over \(hand)")
          #expect(try app.call("GET", "/v1/servers/\(server)")["owner"] == (isOwner ? heir : "olga"))
          if isOwner {
            stayed += 1
            let back = try person.call("PUT", "/v1/servers/\(server)/owner", ["accid": "olga"])
            try #require(isDone(back.status), "\(back)")
          }
        }
        #expect(try owner.call("GET", "/v1/servers/\(server)")["memberCount"] == "\(stayed)")
      }
    }

    @Test func theLastPlace() async throws {
      try await withWorld(brokers: 2) { world in
        let owner = try Person("olga", at: world[0])
        let group = try #require(
          try owner.call(
            "POST", "/v1/groups", ["name": "Two", "style": "publicOpen", "maxMembers": 2])["groupId"])
        for round in 0..<Self.rounds {
          // An account may join a group only a limited number of times within retention.
          let some = round / Intervals.limit
          let (left, right) = (
            try Person("left\(some)", at: world[0]), try Person("right\(some)", at: world[1])
          )
          let (first, second) = try race(
            { try left.call("POST", "/v1/groups/\(group)/applications", [:]) },
            { try right.call("POST", "/v1/groups/\(group)/applications", [:]) })
          try #require([first, second].count(where: isDone) == 1, "round \(round): \(first) and \(second)")
          #expect(try owner.call("GET", "/v1/groups/\(group)")["memberCount"] == "2")
          let winner = isDone(first) ? left : right
          let gone = try winner.call("DELETE", "/v1/groups/\(group)/members/\(winner.name)")
          try #require(isDone(gone.status), "\(gone)")
        }
        let types = try owner.unread().compactMap { $0["type"] as? Int }
        #expect(types.count { $0 == 308 } == Self.rounds)
        #expect(types.count { $0 == 309 } == Self.rounds)
      }
    }

    /// True if the event is about the account.
    private func mentions(_ notification: [String: Any], _ account: String) -> Bool {
      let attach = notification["attach"] as? [String: Any] ?? [:]
      let member = attach["memberInfo"] as? [String: Any]
      return member?["accid"] as? String == account
        || (attach["kickedAccids"] as? [String])?.contains(account) == true
    }
  }
}
