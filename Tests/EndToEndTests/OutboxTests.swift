import Foundation
import TestKit
import Testing

extension EndToEnd {
  /// A broker dies after a commit and before the other partitions have learned of it.
  @Suite struct Outbox {
    private static let invitees = 200
    /// The number of deaths with something left to tell. Killing at random moments hits such a point more
    /// often than not.
    private static let deaths = 8

    @Test func whoeverWasInvitedLearnsOfItOnce() async throws {
      try await withWorld(brokers: 2) { world in
        let app = try Person.app(at: world[1])
        var (halfTold, invited) = (0, [String]())
        for round in 0..<80 where halfTold < Self.deaths {
          let names = (0..<Self.invitees).map { "guest\(round)x\($0)" }
          invited += names
          let server = try Person("olga", at: world[1]).createServer()
          let wasWaiting = try await invite(names, to: server, through: world[0], round, world.redis)
          if wasWaiting { halfTold += 1 }
          // It may die the next time while it relays the remains of the time before.
          try await world[0].start()
        }
        #expect(halfTold == Self.deaths)
        // The other broker, or this one after its restart, relays the rest.
        try await waitUntilNothingWaits(world.redis)
        for name in invited {
          let unread = try app.call("GET", "/v1/notifications?limit=10", nil, extra: ["Belfry-Account": name])
          let types = unread.notifications.compactMap { $0["type"] as? Int }
          #expect(types == [1], "\(name) has \(types)")
        }
      }
    }

    /// Returns true if the broker died with something left to tell.
    private func invite(
      _ names: [String], to server: String, through broker: Broker, _ round: Int, _ redis: RedisServer
    ) async throws -> Bool {
      let inviter = try Person("olga", at: broker)
      let request = DispatchGroup()
      request.enter()
      Thread.detachNewThread {
        _ = try? inviter.call("POST", "/v1/servers/\(server)/invitations", ["accids": names])
        request.leave()
      }
      try await eventually("the invitation is not committed", every: .microseconds(100)) {
        try requests(in: server, redis) > 0
      }
      // The commit is done. The rest is a race, which the broker is to lose now and then at different points.
      try await Task.sleep(for: .microseconds(200 * (round % 10)))
      await broker.kill()
      request.wait()
      return try waits(in: server, redis)
    }

    private func requests(in server: String, _ redis: RedisServer) throws -> Int {
      guard let key = try redis.command("KEYS", "*:requests:server:\(server)").split(separator: "\n").first
      else { return 0 }
      return Int(try redis.command("HLEN", String(key))) ?? 0
    }

    /// True if something of this server is left to tell.
    private func waits(in server: String, _ redis: RedisServer) throws -> Bool {
      try redis.command("KEYS", "*:outbox").split(separator: "\n").contains {
        try redis.command("XRANGE", String($0), "-", "+").contains(server)
      }
    }

    private func waitUntilNothingWaits(_ redis: RedisServer) async throws {
      try await eventually("the outbox is not emptied", within: Broker.patience, every: .milliseconds(50)) {
        try redis.outboxItems() == 0
      }
    }
  }
}
