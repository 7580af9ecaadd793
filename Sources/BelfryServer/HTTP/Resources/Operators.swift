import BelfryFeed
import BelfryModel

/// For those who run the broker.
enum Operators {
  static let account = Field("account", .account, "who does or does not see it").needed

  static func explain(_ request: Request, _ services: LoopServices) async throws(Refusal) -> Reply {
    let explanation = try await services.feed.explain(
      try request[SharedFields.messageServerId], account: try request[account])
    return .json(rendered: Array(try RecordJSON.text(explanation).utf8))
  }

  static func statistics(_ request: Request, _ services: LoopServices) async throws(Refusal) -> Reply {
    return .json(rendered: Array(try RecordJSON.text(await services.broker.statistics()).utf8))
  }

  static func metrics(_ request: Request, _ services: LoopServices) async throws(Refusal) -> Reply {
    let statistics = await services.broker.statistics()
    return Reply(
      status: 200, contentType: "text/plain; version=0.0.4; charset=utf-8",
      body: Array(Metrics.text(of: statistics).utf8))
  }
}

extension Explanation {
  static let shape = Shape.resource(
    "Explanation",
    [
      .always("visible", .flag, "whether the account sees it"),
      .always("reason", .text, "why, in a stable word"),
      .always("detail", .text, "why, in a sentence"),
      .always("facts", .object(facts), "what it was decided on"),
    ])

  private static let facts: [Property] = [
    .always("sentAt", .time, "when it was sent"),
    .sometimes("space", .text, "where it was sent"),
    .sometimes("audience", .text, "for whom, as it is stamped"),
    .sometimes("memberSince", .time, "since when the account belongs there"),
    .sometimes("memberUntil", .time, "until when it belonged there"),
    .sometimes("subscribedSince", .time, "since when it is subscribed"),
    .sometimes("named", .flag, "whether the notification names the account"),
    .sometimes("read", .flag, "whether the account has marked it read"),
  ]
}

extension BrokerStatistics {
  static let shape = Shape.resource(
    "Statistics",
    [
      .always("version", .text, "of this broker"),
      .always("uptimeSeconds", .count, "since the broker started"),
      .always("keyspace", .object(keyspace), "the data that it works on"),
      .always("loops", .list(.object(loop)), "each of its loops"),
    ])

  private static let keyspace: [Property] = [
    .always("dataVersion", .count, "of which version the data is"),
    .always("partitions", .count, "into how many the keyspace is dealt"),
    .always("differences", .list(.object(difference)), "settings that are others on this broker"),
  ]

  private static let difference: [Property] = [
    .always("setting", .text, "its name; `secret` is the one that signs tokens"),
    .always("here", .text, "what it is on this broker"),
    .always("keyspace", .text, "what the keyspace's format record says"),
  ]

  private static let loop: [Property] = [
    .always("loop", .count, "its number"),
    .always("isRedisConnected", .flag, "whether it has reached Redis"),
    .always("requests", .map(.count), "requests answered, by status"),
    .always("sends", .count, "notifications sent"),
    .always("duplicates", .count, "sends recognised as repeated"),
    .always("streams", .count, "open streams"),
    .always("relays", .object(relays), "what was carried from one partition to others"),
    .always("hub", .object(hub), "what was delivered live"),
  ]

  private static let relays: [Property] = [
    .always("waiting", .count, "what other partitions had yet to learn when the first loop last looked"),
    .always("oldestSeconds", .count, "for how long the oldest of it had waited then"),
    .always("failures", .count, "tries to tell other partitions that failed"),
    .sometimes("lastFailure", .text, "why the last of them failed"),
  ]

  private static let hub: [Property] = [
    .always("consumers", .count, "connected consumers"),
    .always("liveMessages", .count, "live messages that arrived from Redis"),
    .always("deliveries", .count, "notifications put into streams"),
    .always("scans", .count, "feeds read from Redis"),
    .always("gapsSeen", .count, "gaps seen in what arrived, and filled"),
  ]
}
