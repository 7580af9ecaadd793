import BelfryLoop
import TestKit
import Testing

@testable import BelfryRedis

@Suite struct RedisSubscriberTests {
  @Test func messagesOfSubscribedChannelsArriveInOrder() async throws {
    try await withServerAndClient(.init(), .patient) { server, client in
      try await client.subscribe("one")
      for number in 0..<100 {
        #expect(try server.command("SPUBLISH", "one", "\(number)") == "1")
        try server.command("SPUBLISH", "other", "\(number)")
      }
      #expect(await client.eventually { $0.messages.count == 100 })
      let expected = (0..<100).map { Client.Message(channel: "one", payload: Array("\($0)".utf8)) }
      #expect(await client.messages == expected)
    }
  }

  @Test func payloadsMayBeLargeAndHoldAnyBytes() async throws {
    try await withServerAndClient(.init(), .patient) { _, client in
      try await client.subscribe("bytes")
      let everything = (0...255).map { UInt8($0) }
      let payloads = [everything, [], Array("\r\n*1\r\n".utf8), [UInt8](repeating: 7, count: 1 << 20)]
      for payload in payloads {
        _ = try await client.send(RedisCommand("SPUBLISH", "bytes", payload))
      }
      #expect(await client.eventually { $0.messages.count == payloads.count })
      #expect(await client.messages.map(\.payload) == payloads)
    }
  }

  @Test func manySubscriptionsAreUnderWayAtOnce() async throws {
    try await withServerAndClient(.init(), .patient) { server, client in
      try await subscribe(client, to: (0..<1_000).map { "channel-\($0)" })
      #expect(try server.command("PUBSUB", "SHARDCHANNELS").split(separator: "\n").count == 1_000)
      #expect(await client.run { $0.subscriber.channelCount } == 1_000)
    }
  }

  @Test func nothingArrivesAfterUnsubscribing() async throws {
    try await withServerAndClient(.init(), .patient) { server, client in
      try await client.subscribe("kept")
      try await client.subscribe("dropped")
      await client.run { $0.subscriber.unsubscribe("dropped") }
      try server.command("SPUBLISH", "dropped", "unwanted")
      try server.command("SPUBLISH", "kept", "wanted")
      #expect(await client.eventually { !$0.messages.isEmpty })
      #expect(await client.messages.map(\.channel) == ["kept"])
      #expect(await client.eventually { _ in (try? server.command("PUBSUB", "SHARDCHANNELS")) == "kept" })
    }
  }

  @Test func aChannelCanBeDroppedAndTakenUpAgain() async throws {
    try await withServerAndClient(.init(), .patient) { server, client in
      for _ in 0..<50 {
        try await client.subscribe("channel")
        await client.run { $0.subscriber.unsubscribe("channel") }
      }
      try await client.subscribe("channel")
      #expect(try server.command("SPUBLISH", "channel", "hello") == "1")
      #expect(await client.eventually { $0.messages.count == 1 })
    }
  }

  @Test func unsubscribingEndsAWaitForConfirmation() async throws {
    try await withServerAndClient(.init(), .patient) { server, client in
      try await client.subscribe("first")
      server.pause()
      defer { server.resume() }
      async let outcome: RedisError? = client.run { client throws(Never) in
        do throws(RedisError) {
          try await client.subscriber.subscribe("channel")
          return nil
        } catch {
          return error
        }
      }
      #expect(await client.eventually { $0.subscriber.channelCount == 2 })
      await client.run { $0.subscriber.unsubscribe("channel") }
      #expect(await outcome?.code == .unsubscribed)
    }
  }

  @Test func whatRedisRefusesFailsAlone() async throws {
    try await withServerAndClient(.init(), .patient) { server, client in
      #expect(await client.eventually { $0.subscriberStates == [.connected] })
      try server.command("ACL", "SETUSER", "default", "resetchannels", "&open*")
      await #expect(throws: RedisError.self) { try await client.subscribe("closed") }
      try await client.subscribe("open-1")
      #expect(try server.command("PUBSUB", "SHARDCHANNELS") == "open-1")
      #expect(await client.run { $0.subscriber.channelCount } == 1)
    }
  }

  @Test func channelsBeyondTheLimitAreRefused() async throws {
    var limits = RedisLimits.patient
    limits.channelsMax = 3
    try await withServerAndClient(.init(), limits) { _, client in
      try await subscribe(client, to: ["1", "2", "3"])
      let error = await #expect(throws: RedisError.self) { try await client.subscribe("4") }
      #expect(error?.code == .overloaded)
      await client.run { $0.subscriber.unsubscribe("1") }
      try await client.subscribe("4")
    }
  }
}

func subscribe(_ client: Client, to channels: [String]) async throws {
  try await withThrowingTaskGroup { group in
    for channel in channels {
      group.addTask { try await client.subscribe(channel) }
    }
    try await group.waitForAll()
  }
}
