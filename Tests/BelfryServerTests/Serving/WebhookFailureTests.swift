import BelfryBytes
import BelfryHooks
import BelfryModel
import BelfryOutbound
import Foundation
import TestKit
import Testing

@testable import BelfryServer

/// Receivers that fail, and the copies for them.
@Suite struct WebhookFailureTests: WebhookStage {
  /// A space whose receiver fails waits and keeps its order; others go on meanwhile.
  @Test func aFailureHoldsItsSpaceBackAndNoOther() async throws {
    let failing = Shared(true)
    let server = try ScriptedServer { request, _ in
      let isBad = request.body.contains(#""body":"bad"#) && failing.withLock { $0 }
      return [.kept(isBad ? 500 : 200), .next]
    }
    try await withWebhooks { broker async throws in
      let (id, _) = try register(server, at: broker, #","types":[100]"#)
      let place = try broker.makeServer(owner: "alice")
      let other = try broker.makeServer(owner: "alice")
      let mine = try ["bad 1", "good 2", "good 3"].map {
        try send(broker, #""serverId":"\#(place)","body":"\#($0)""#)
      }
      let others = try (0..<3).map { try send(broker, #""serverId":"\#(other)","body":"other \#($0)""#) }
      try await eventually { Set(others).isSubset(of: ids(server)) }
      #expect(Set(ids(server)).isDisjoint(with: mine.dropFirst()))
      // The others may be delivered before the failure is recorded.
      try await eventually { try show(broker, id)["failure"]?.text?.contains("500") == true }
      // The failure is recorded before the position of the lane is.
      try await eventually {
        try show(broker, id)["oldestPending"]?.number == MessageID(mine[0])?.unixMilliseconds
      }
      failing.withLock { $0 = false }
      try await eventually { ids(server).suffix(3) == mine }
      try await eventually { try show(broker, id)["oldestPending"] == nil }
      #expect(try show(broker, id)["failingSince"] == nil)
    }
  }

  /// Somebody disables a webhook and enables it again while a request is under way. The next one waits for its end.
  @Test func enablingAWebhookAgainWaitsForTheRequestUnderWay() async throws {
    let gate = Latch()
    let slow = try ScriptedServer { _, number in
      if number == 1 { gate.wait() }
      return [.kept(200), .next]
    }
    let other = try ScriptedServer(Self.accepting)
    try await withBroker(
      loops: 1,
      configure: {
        $0.partitions = try #require(Partitions(count: 1))
        $0.allowedNetworks = try [#require(IPNetwork("127.0.0.0/8"))]
        $0.webhookTimeoutMilliseconds = 30_000
      }
    ) { broker async throws in
      defer { gate.open() }
      let (id, _) = try register(slow, at: broker, #","types":[100]"#)
      try register(other, at: broker, #","types":[100]"#)
      let place = try broker.makeServer(owner: "alice")
      var sent: [String] = []
      // When the other webhook has a copy, the broker has looked at both.
      let sendOne = {
        sent.append(try send(broker, #""serverId":"\#(place)","body":"\#(sent.count)""#))
        try await eventually { ids(other).last == sent.last }
      }
      try await sendOne()
      try await eventually { slow.requests.count == 1 }
      let app = try broker.token("app", .app)
      for state in ["false", "true"] {
        let path = "/v1/webhooks/\(id)"
        try #require(try broker.ask("PATCH", path, as: app, #"{"enabled":\#(state)}"#).status == 200)
        for _ in 0..<3 { try await sendOne() }
      }
      #expect(slow.requests.count == 1)
      gate.open()
      try await eventually { ids(slow).last == sent.last }
      #expect(ids(slow) == sent)
    }
  }

  /// More spaces of one partition fail than the broker once had room for. One other space is delivered to
  /// while they wait.
  @Test func manySpacesThatFailHoldNoOtherBack() async throws {
    let failing = Shared(true)
    let server = try ScriptedServer { request, _ in
      let isBad = request.body.contains(#""body":"bad"#) && failing.withLock { $0 }
      return [.kept(isBad ? 500 : 200), .next]
    }
    try await withBroker(
      configure: {
        $0.partitions = try #require(Partitions(count: 1))
        $0.allowedNetworks = try [#require(IPNetwork("127.0.0.0/8"))]
        $0.webhookTimeoutMilliseconds = 1_000
        $0.retryDelaysSeconds = [3_600]
      }
    ) { broker async throws in
      let (id, _) = try register(server, at: broker, #","types":[100]"#)
      var bad: [[String]] = []
      for number in 0..<20 {
        let accid = "bob\(number)"
        bad.append(
          try ["bad", "after"].map { try send(broker, #""toAccids":["\#(accid)"],"body":"\#($0)""#) })
        // Otherwise so many failures in a row would make the webhook pause.
        let good = try send(broker, #""toAccids":["carol"],"body":"good""#)
        try await eventually { ids(server).contains(good) }
      }
      let behind = try broker.redis.command("KEYS", "belfry:*:copies-behind:\(id)")
      try await eventually { try broker.redis.command("HLEN", behind) == "20" }
      #expect(Set(ids(server)).isDisjoint(with: bad.map { $0[1] }))
      // The receiver works again after an outage: failed copies do not wait for the full hour.
      failing.withLock { $0 = false }
      let since = Int64(Date().timeIntervalSince1970 * 1_000) - RetrySchedule.outageMilliseconds
      _ = try broker.redis.command("HSET", "belfry:webhook-health:\(id)", "failingSince", "\(since)")
      try send(broker, #""toAccids":["carol"],"body":"good""#)
      try await eventually { Set(ids(server)).isSuperset(of: bad.joined()) }
      for pair in bad { #expect(ids(server).filter { pair.contains($0) } == [pair[0]] + pair) }
      try await eventually { try show(broker, id)["oldestPending"] == nil }
    }
  }

  /// A busy space has more copies than are known by their ids, and receives them in order.
  @Test func aSpaceWithManyCopiesCatchesUpInOrder() async throws {
    let failing = Shared(true)
    let server = try ScriptedServer { request, _ in
      let isBad = request.body.contains(#""body":"bad"#) && failing.withLock { $0 }
      return [.kept(isBad ? 500 : 200), .next]
    }
    try await withWebhooks { broker async throws in
      let (id, _) = try register(server, at: broker, #","types":[100]"#)
      let place = try broker.makeServer(owner: "alice")
      var mine = [try send(broker, #""serverId":"\#(place)","body":"bad""#)]
      try await eventually { ids(server).contains(mine[0]) }
      for number in 0..<200 { mine.append(try send(broker, #""serverId":"\#(place)","body":"\#(number)""#)) }
      failing.withLock { $0 = false }
      try await eventually { ids(server).count { mine.contains($0) } > 200 && ids(server).last == mine.last }
      var had: Set<String> = []
      #expect(ids(server).filter { had.insert($0).inserted } == mine)
      try await eventually { try show(broker, id)["oldestPending"] == nil }
    }
  }

  /// The copy would be tried again in an hour.
  @Test(arguments: ["test", "url"])
  func aPassedTestOrAnotherURLReleasesWhatWaits(by way: String) async throws {
    let failing = Shared(true)
    let server = try ScriptedServer { _, _ in [.kept(failing.withLock { $0 } ? 500 : 200), .next] }
    try await withBroker(
      configure: {
        $0.allowedNetworks = try [#require(IPNetwork("127.0.0.0/8"))]
        $0.retryDelaysSeconds = [3_600]
      }
    ) { broker async throws in
      let (id, _) = try register(server, at: broker)
      let sent = try send(broker, #""toAccids":["bob"],"body":"1""#)
      try await eventually { try show(broker, id)["failingSince"] != nil }
      failing.withLock { $0 = false }
      let token = try broker.token("app", .app)
      if way == "test" {
        let tested = try broker.ask("POST", "/v1/webhooks/\(id)/test", as: token)
        #expect(tested.json["delivered"] == true)
      } else {
        let url = #"{"url":"\#(server.url)/moved"}"#
        #expect(try broker.ask("PATCH", "/v1/webhooks/\(id)", as: token, url).status == 200)
      }
      try await eventually { ids(server).filter { $0 == sent }.count == 2 }
      try await eventually { try show(broker, id)["failingSince"] == nil }
    }
  }

  @Test func goneDisablesAndEnablingGoesOnWhereItStood() async throws {
    let gone = Shared(true)
    let server = try ScriptedServer { _, _ in [.kept(gone.withLock { $0 } ? 410 : 200), .next] }
    try await withWebhooks { broker async throws in
      let (id, _) = try register(server, at: broker)
      let first = try send(broker, #""toAccids":["bob"],"body":"1""#)
      try await eventually { try show(broker, id)["enabled"] == false }
      #expect(try show(broker, id)["disabledBecause"] == "gone")
      #expect(try show(broker, id)["failure"]?.text?.contains("410") == true)
      let second = try send(broker, #""toAccids":["bob"],"body":"2""#)
      try await Task.sleep(for: .milliseconds(800))
      #expect(server.requests.count == 1)
      gone.withLock { $0 = false }
      let enabled = try broker.ask(
        "PATCH", "/v1/webhooks/\(id)", as: try broker.token("app", .app), #"{"enabled":true}"#)
      #expect(enabled.json["enabled"] == true)
      try await eventually { ids(server) == [first, first, second] }
    }
  }

  /// The webhook is enabled, but its partition is away, so the copies that wait there cannot be made due.
  @Test func aChangeThatIsDoneInPartHasAnUnknownOutcome() async throws {
    let server = try ScriptedServer(Self.accepting)
    try await withBroker(
      configure: {
        $0.partitions = try #require(Partitions(count: 1))
        $0.allowedNetworks = try [#require(IPNetwork("127.0.0.0/8"))]
      }
    ) { broker async throws in
      let (id, _) = try register(server, at: broker)
      let token = try broker.token("app", .app)
      _ = try broker.ask("PATCH", "/v1/webhooks/\(id)", as: token, #"{"enabled":false}"#)
      let partition = try broker.redis.command("KEYS", "belfry:*:partition")
      _ = try broker.redis.command("RENAME", partition, partition + "-away")
      let enabling = try broker.ask("PATCH", "/v1/webhooks/\(id)", as: token, #"{"enabled":true}"#)
      #expect(enabling.status == 503 && enabling.code == "unknownOutcome", "\(enabling.body)")
      _ = try broker.redis.command("RENAME", partition + "-away", partition)
      #expect(try show(broker, id)["enabled"] == true)
    }
  }

  @Test func aReplayFromATimeInSecondsIsRefused() async throws {
    try await withWebhooks { broker async throws in
      let (id, _) = try register(try ScriptedServer(Self.accepting), at: broker)
      let token = try broker.token("app", .app)
      for (from, status, words) in [
        ("1796082000", 400, "not seconds"), (#""1h""#, 400, "or a time in milliseconds since 1970"),
        ("0", 204, nil),
        ("1796082000000", 204, nil),
      ] as [(String, Int, String?)] {
        let answer = try broker.ask("POST", "/v1/webhooks/\(id)/replay", as: token, #"{"from":\#(from)}"#)
        #expect(answer.status == status, "\(from): \(answer.body)")
        if let words { #expect(answer.json["detail"]?.text?.contains(words) == true, "\(answer.body)") }
      }
    }
  }

  @Test(arguments: [
    (5, nil, 9, 5), (5, 3, 9, 3), (5, 7, 9, 5), (12, nil, 9, 9), (12, 7, 9, 7),
  ])
  func theOldestPendingCopyIsNoLaterThanTheFirstFailureAndTheClock(
    oldest: Int64, failingSince: Int64?, now: Int64, expected: Int64
  ) {
    #expect(
      Webhooks.oldestPending(oldest, failingSince: failingSince, nowMilliseconds: now) == expected)
  }

  @Test func whatFellOutIsToldWithTheNextDelivery() async throws {
    let server = try ScriptedServer(Self.accepting)
    try await withWebhooks { broker async throws in
      let (id, _) = try register(server, at: broker)
      let token = try broker.token("app", .app)
      _ = try broker.ask("PATCH", "/v1/webhooks/\(id)", as: token, #"{"enabled":false}"#)
      #expect(try show(broker, id)["disabledBecause"] == "asked")
      let sent = try (0..<5).map { try send(broker, #""toAccids":["bob"],"body":"\#($0)""#) }
      _ = try broker.redis.command("XTRIM", "belfry:{61.79}:copies", "MAXLEN", "=", "2")
      _ = try broker.ask("PATCH", "/v1/webhooks/\(id)", as: token, #"{"enabled":true}"#)
      try await eventually { ids(server) == Array(sent[3...]) }
      #expect(server.requests.map { body($0)["lost"]?.number } == [3, nil])
    }
  }

  @Test func fiveDaysOfFailuresDisable() async throws {
    let server = try ScriptedServer { _, _ in [.kept(500), .next] }
    try await withWebhooks { broker async throws in
      let (id, _) = try register(server, at: broker)
      let since = Int64(Date().timeIntervalSince1970 * 1_000) - RetrySchedule.failingMaxMilliseconds
      _ = try broker.redis.command(
        "HSET", "belfry:webhook-health:\(id)", "failingSince", "\(since)", "failedAt",
        "\(since + RetrySchedule.failingMaxMilliseconds - 1_000)")
      try send(broker, #""toAccids":["bob"],"body":"1""#)
      try await eventually { try show(broker, id)["disabledBecause"] == "failing" }
    }
  }

  /// Another broker left this state: it died before it heard of a success.
  @Test func oneFailureLongAgoDoesNotDisable() async throws {
    let failures = Shared(0)
    let server = try ScriptedServer { _, _ in
      let isFailing = failures.withLock { left in
        defer { left = max(left - 1, 0) }
        return left > 0
      }
      return [.kept(isFailing ? 500 : 200), .next]
    }
    try await withWebhooks { broker async throws in
      let (id, _) = try register(server, at: broker)
      let health = "belfry:webhook-health:\(id)"
      let now = Int64(Date().timeIntervalSince1970 * 1_000)
      let long = now - 2 * RetrySchedule.failingMaxMilliseconds
      func fail() async throws {
        failures.withLock { $0 = 1 }
        let sent = try send(broker, #""toAccids":["bob"],"body":"x""#)
        try await eventually { ids(server).filter { $0 == sent }.count == 2 }
      }
      // Copies were delivered for days, and no broker recorded it.
      _ = try broker.redis.command("HSET", health, "failingSince", "\(long)", "failedAt", "\(now)")
      try send(broker, #""toAccids":["bob"],"body":"1""#)
      try await eventually { try show(broker, id)["failingSince"] == nil }
      try await fail()
      #expect(try show(broker, id)["enabled"] == true)
      // For days there was nothing to deliver.
      try await eventually { try show(broker, id)["failingSince"] == nil }
      _ = try broker.redis.command(
        "HSET", health, "failingSince", "\(long)", "failedAt", "\(long)")
      try await fail()
      #expect(try show(broker, id)["enabled"] == true)
    }
  }

  @Test func aRedirectInsideIsNotFollowedAndAPrivateAddressNotConnectedTo() async throws {
    let inside = try ScriptedServer(Self.accepting)
    let server = try ScriptedServer { _, _ in [.answer(307, headers: ["Location: \(inside.url)"])] }
    try await withBroker { broker async throws in
      // Only a name is looked at this late: an address that cannot be allowed is refused with the webhook.
      let (id, _) = try register(inside, at: broker, origin: "https://localhost")
      try send(broker, #""toAccids":["bob"],"body":"1""#)
      try await eventually { try show(broker, id)["failure"]?.text?.contains("not public") == true }
    }
    try await withWebhooks { broker async throws in
      let (id, _) = try register(server, at: broker)
      try send(broker, #""toAccids":["bob"],"body":"1""#)
      try await eventually { try show(broker, id)["failure"]?.text?.contains("307") == true }
    }
    #expect(inside.connections == 0)
  }
}
