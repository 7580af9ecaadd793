import BelfryLoop
import TestKit
import Testing

@testable import BelfryRedis

@Suite struct SubscriberFailureTests {
  @Test func afterARestartEverythingWantedIsSubscribedAgain() async throws {
    try await withServerAndClient(.init(), .patient) { server, client in
      let channels = (0..<100).map { "channel-\($0)" }
      try await subscribe(client, to: channels + ["dropped"])
      await client.run { $0.subscriber.unsubscribe("dropped") }
      for round in 1...2 {
        await server.kill()
        #expect(await client.eventually { $0.subscriberStates.count == 2 * round })
        try await server.start()
        #expect(await client.eventually { $0.subscriberStates.count == 2 * round + 1 })
        // At the moment it says so, all of it is subscribed.
        let subscribed = try server.command("PUBSUB", "SHARDCHANNELS").split(separator: "\n").map(String.init)
        #expect(subscribed.sorted() == channels.sorted())
      }
      let kinds = await client.subscriberStates.map { $0 == .connected }
      #expect(kinds == [true, false, true, false, true])
      try server.command("SPUBLISH", "channel-7", "hello")
      #expect(await client.eventually { $0.messages.count == 1 })
    }
  }

  @Test func silenceIsALoss() async throws {
    var limits = RedisLimits.patient
    limits.heartbeatInterval = .milliseconds(200)
    limits.setUpTimeout = .milliseconds(500)
    try await withServerAndClient(.init(), limits) { server, client in
      try await client.subscribe("channel")
      let heard = try #require(await client.run { $0.subscriber.lastHeard })
      // Nothing is published, yet it is heard again: PING is answered.
      #expect(await client.eventually { ($0.subscriber.lastHeard ?? heard) > heard })

      // On a busy machine there may have been a loss before. From here on nothing can be heard.
      server.pause()
      #expect(
        await client.eventually {
          if case .lost(let error) = $0.subscriberStates.last { error.code == .timedOut } else { false }
        },
        "silence was not noticed")
      // The kernel accepts new connections for the frozen server, but that is no sign of life.
      let (lastHeard, states) = await client.run { ($0.subscriber.lastHeard, $0.subscriberStates.count) }
      try await Task.sleep(for: .milliseconds(700))
      #expect(await client.run { $0.subscriber.lastHeard } == lastHeard)
      #expect(await client.subscriberStates.count == states)
      server.resume()
      #expect(await client.eventually { $0.subscriberStates.count > states })
      #expect(await client.subscriberStates[states] == .connected)
      try await eventually { try server.command("PUBSUB", "SHARDCHANNELS") == "channel" }
    }
  }

  @Test func aSubscriptionThatFailedIsNotRemembered() async throws {
    try await withRedisServer { server in
      await server.stop()
      try await withClient(of: server.url) { client in
        let error = await #expect(throws: RedisError.self) { try await client.subscribe("channel") }
        #expect(error?.code == .unavailable)
        try await server.start()
        #expect(await client.eventually { $0.subscriberStates == [.connected] })
        #expect(try server.command("PUBSUB", "SHARDCHANNELS") == "")
        try await client.subscribe("channel")
        #expect(try server.command("PUBSUB", "SHARDCHANNELS") == "channel")
      }
    }
  }

  @Test func aSubscriptionThatIsNotConfirmedTimesOut() async throws {
    var limits = RedisLimits.patient
    limits.commandTimeout = .milliseconds(300)
    try await withServerAndClient(.init(), limits) { server, client in
      #expect(await client.eventually { $0.subscriberStates == [.connected] })
      server.pause()
      let error = await #expect(throws: RedisError.self) { try await client.subscribe("channel") }
      #expect(error?.code == .timedOut)
      server.resume()
      try await withClient(of: server.url, .patient) { publisher in
        // The late confirmation is undone, and the connection was kept.
        #expect(await publisher.eventually { _ in (try? server.command("PUBSUB", "SHARDCHANNELS")) == "" })
      }
      try await client.subscribe("channel")
      #expect(await client.subscriberStates == [.connected])
    }
  }

  @Test func everyCallEndsWhenTheServerIsKilled() async throws {
    try await withServerAndClient { server, client in
      #expect(await client.eventually { $0.subscriberStates == [.connected] })
      server.pause()
      let codes = await withTaskGroup(of: RedisError.Code?.self) { group in
        for number in 0..<100 {
          group.addTask {
            do {
              try await client.subscribe("channel-\(number)")
              return nil
            } catch {
              return (error as? RedisError)?.code
            }
          }
        }
        group.addTask {
          _ = await client.eventually { $0.subscriber.channelCount == 100 }
          await server.kill()
          return nil
        }
        return await group.reduce(into: []) { $0.append($1) }
      }
      let failed = codes.compactMap(\.self)
      #expect(failed.count == 100)
      #expect(Set(failed).isSubset(of: [.connectionLost, .timedOut]))
      #expect(await client.run { $0.subscriber.channelCount } == 0)
    }
  }
}
