/// The state of a broker, its description, and its counters.
package enum BrokerRoutes {
  package static let all: [Route] = [
    alive.route, ready.route, description.route, metrics.route, types.route,
  ]

  private static let aliveShape = Shape.resource(
    "Liveness", [.always("status", .words("LivenessStatus", ["ok"]), "how it is")])
  private static let readyShape = Shape.resource(
    "Readiness",
    [
      .always("status", .words("ReadinessStatus", ["ready"]), "how it is"),
      .sometimes(
        "differing", .list(.text), "settings that are others here than the keyspace's brokers should have"),
      .sometimes(
        "memory", .words("MemoryStatus", ["full"]),
        "Redis is at maxmemory: sends are refused, and what makes room, as marking read, goes on"),
      .sometimes(
        "disk", .words("DiskStatus", ["full"]),
        "Redis cannot save to its disk: all changes are refused, and reading goes on"),
      .sometimes(
        "clock", .words("ClockStatus", ["apart", "ahead"]),
        "the sweep waits: Redis's clock and the broker's differ, or Redis's has stepped forward"),
    ])

  package static let alive = endpoint(
    .get, "/healthz", .everyone, "broker alive", "Say that the process lives", answers: .ok(aliveShape),
    options: RouteOptions(hasCommand: false))
  package static let ready = endpoint(
    .get, "/readyz", .everyone, "broker ready", "Say whether the broker is of use", answers: .ok(readyShape),
    options: RouteOptions(hasCommand: false))
  package static let description = endpoint(
    .get, "/openapi.json", .everyone, "broker openapi", "Describe this interface",
    headers: SharedFields.ifNoneMatch,
    answers: .document(.resource("OpenAPIDocument", .jsonObject(bytesMax: .max))), .notModified,
    options: RouteOptions(hasCommand: false))

  package static let metricsMediaType = "text/plain; version=0.0.4; charset=utf-8"
  package static let metrics = endpoint(
    .get, "/metrics", .loopbackOrToken, "broker metrics", "Show the statistics to Prometheus",
    answers: .other(metricsMediaType, "Prometheus's text format"), options: RouteOptions(hasCommand: false))

  package static let types = endpoint(
    .get, "/v1/types", .token, "broker types", "List the types of notifications",
    headers: SharedFields.ifNoneMatch,
    answers: .document(
      .resource("NotificationTypes", [.always("types", .list(notificationType), "by code")])),
    .notModified,
    options: RouteOptions(hasCommand: false))
  private static let notificationType = Shape.resource(
    "NotificationType",
    [
      .always("code", .count, "the `type` of a notification"),
      .always("name", .text, "what it is called"),
      .always("in", .text, "where it happens"),
      .always("attach", .list(.text), "the fields of its `attach`"),
      .always("receivers", .text, "who receives it"),
      .always("updatedBy", .text, "who may change one that was sent"),
      .always("critical", .text, "who hears it whatever they prefer: `nobody`, `parties`, `everybody`"),
    ])
}

// MARK: - Statistics

extension BrokerRoutes {
  static let statisticsShape = Shape.resource(
    "Statistics",
    [
      .always("version", .text, "of this broker"),
      .always("broker", .text, "its name, drawn when it started"),
      .always("uptimeSeconds", .count, "since the broker started"),
      .always("keyspace", .resource("KeyspaceStatistics", keyspace), "the data that it works on"),
      .always(
        "refusedWrites", .list(.text),
        "why Redis refuses writes, as this broker saw it last: `memory`, `disk`; mostly nothing"),
      .sometimes(
        "sweepWaits", .text,
        "why the sweep waits: `apart` and `ahead` as in readiness; `unproven`: no broker swept for a while"),
      .always(
        "workFailures", .map(.count),
        "failures of work that no request asks for, such as the sweep, by the name of the work"),
      .always("loops", .list(.resource("LoopStatistics", loop)), "each of its loops"),
    ])

  private static let keyspace: [Property] = [
    .always("dataVersion", .count, "of which version the data is"),
    .always("partitions", .count, "into how many the keyspace is dealt"),
    .always(
      "differences", .list(.resource("SettingDifference", difference)),
      "settings that are others on this broker"),
  ]

  private static let difference: [Property] = [
    .always("setting", .text, "its name; `secret` is the one that signs tokens"),
    .always("here", .text, "what it is on this broker"),
    .always("keyspace", .text, "what the keyspace's format record says"),
  ]

  private static let loop: [Property] = [
    .always("loop", .count, "its number"),
    .always("isRedisConnected", .flag, "whether it has reached Redis"),
    .always("redisNodes", .count, "Redis nodes that hold partitions"),
    .always("redisNodesConnected", .count, "those of them that it is connected to"),
    .always("requests", .map(.count), "requests answered, by status"),
    .always("sends", .count, "notifications sent"),
    .always("duplicates", .count, "sends recognised as repeated"),
    .always("streams", .count, "open streams"),
    .always("sockets", .count, "open WebSockets; those that are connected are among the streams"),
    .sometimes(
      "handshakes", .resource("HandshakeStatistics", handshakes), "of TLS, where connections are encrypted"),
    .always(
      "streamsClosed", .map(.count),
      "streams that ended, by the reason their clients were told; `gone`: their clients left"),
    .always("relays", .resource("RelayStatistics", relays), "what was carried from one partition to others"),
    .always("hub", .resource("LiveStatistics", hub), "what was delivered live"),
    .always("callbacks", .resource("CallbackStatistics", callbacks), "what callbacks were asked"),
    .always("webhooks", .resource("WebhookStatistics", webhooks), "what was delivered to webhooks"),
    .always("push", .resource("PushStatistics", push), "what was pushed"),
  ]

  private static let handshakes: [Property] = [
    .always("done", .count, "those with a signature"),
    .always("resumed", .count, "those that went on with an earlier session"),
    .always("failed", .map(.count), "those that failed, by how"),
    .always("waiting", .count, "connections that have yet to agree"),
  ]

  private static let push: [Property] = [
    .always("entered", .count, "accounts that something was to be pushed to"),
    .always("attempts", .count, "requests to gateways and push services"),
    .always("delivered", .count, "those that were taken"),
    .always("failed", .count, "those that were not: they are tried again"),
    .always("badges", .count, "corrections of the number of unread ones, among what was delivered"),
    .always("live", .count, "not pushed, since the account had a device connected"),
    .always("hidden", .count, "not pushed, since it was read, recalled, or not for the account by then"),
    .always("removed", .count, "pushers removed, since the device was not known any more"),
    .always("givenUp", .count, "given up, after a day of failures or since too many waited"),
  ]

  private static let webhooks: [Property] = [
    .always("attempts", .count, "tries"),
    .always("delivered", .count, "those that were answered with 2xx"),
    .always("failed", .count, "the others"),
  ]

  private static let callbacks: [Property] = [
    .always("asked", .count, "questions"),
    .always("allowed", .count, "what they allowed, changed or not"),
    .always("denied", .count, "what they refused"),
    .always("silenced", .count, "what they had received by nobody"),
    .always("failed", .count, "questions without an answer that could be used: decided as configured"),
    .always("skipped", .count, "not asked, for it had failed too often just before: decided as configured"),
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
    .always("gapsSeen", .count, "how often live messages were missed, and read from the store instead"),
  ]
}
