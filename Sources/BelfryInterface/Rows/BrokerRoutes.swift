/// The state of a broker, its description, and its counters.
package enum BrokerRoutes {
  package static let all: [Route] = [
    alive.route, ready.route, description.route, metrics.route, types.route,
  ]

  private static let aliveShape = Shape.resource(
    "Liveness", [.always("status", .words("LivenessStatus", ["ok"]), "the status")])
  private static let readyShape = Shape.resource(
    "Readiness",
    [
      .always("status", .words("ReadinessStatus", ["ready"]), "the status"),
      .sometimes(
        "differing", .list(.text), "settings of this broker that differ from those of the keyspace"),
      .sometimes(
        "memory", .words("MemoryStatus", ["full"]),
        "Redis is at maxmemory: sends are refused; requests that free memory, such as marking read, still work"
      ),
      .sometimes(
        "disk", .words("DiskStatus", ["full"]),
        "Redis cannot save to its disk: all changes are refused; reading still works"),
      .sometimes(
        "rights", .words("RightsStatus", ["missing"]),
        "Redis has just refused a command for which this broker's user lacks the right"
      ),
      .sometimes(
        "partitionsAway", .count,
        "the number of partitions whose Redis node is away: requests for them are answered with 503"),
      .sometimes(
        "clock", .words("ClockStatus", ["apart", "ahead"]),
        "why the sweep, which removes old data, is paused: the clocks of Redis and the broker differ (`apart`), "
          + "or Redis's clock has stepped forward (`ahead`)"
      ),
    ])

  package static let alive = endpoint(
    .get, "/healthz", .everyone, "broker alive", "Check that the process runs", answers: .ok(aliveShape),
    options: RouteOptions(hasCommand: false))
  package static let ready = endpoint(
    .get, "/readyz", .everyone, "broker ready", "Check whether the broker is ready to serve",
    answers: .ok(readyShape),
    options: RouteOptions(hasCommand: false))
  package static let description = endpoint(
    .get, "/openapi.json", .everyone, "broker openapi", "Show the OpenAPI description of this interface",
    headers: SharedFields.ifNoneMatch,
    answers: .document(.resource("OpenAPIDocument", .jsonObject(bytesMax: .max))), .notModified,
    options: RouteOptions(hasCommand: false))

  package static let metricsMediaType = "text/plain; version=0.0.4; charset=utf-8"
  package static let metrics = endpoint(
    .get, "/metrics", .loopbackOrToken, "broker metrics", "Show the metrics, for Prometheus",
    answers: .other(metricsMediaType, "Prometheus's text format"), options: RouteOptions(hasCommand: false))

  package static let types = endpoint(
    .get, "/v1/types", .token, "broker types", "List the notification types",
    headers: SharedFields.ifNoneMatch,
    answers: .document(
      .resource("NotificationTypes", [.always("types", .list(notificationType), "sorted by code")])),
    .notModified,
    options: RouteOptions(hasCommand: false))
  private static let notificationType = Shape.resource(
    "NotificationType",
    [
      .always("code", .count, "the `type` of a notification"),
      .always("name", .text, "its name"),
      .always(
        "in", .text,
        "the kinds of places in which it happens, separated by commas: `server`, `channel`, `group`, `room`, `any`"
      ),
      .always("attach", .list(.text), "the fields of its `attach`"),
      .always("receivers", .text, "the accounts that receive it"),
      .always("updatedBy", .text, "the accounts that may update a notification of this type"),
      .always(
        "critical", .text,
        "the accounts that receive it regardless of preferences: `nobody`, `parties`, `everybody`"),
    ])
}

// MARK: - Statistics

extension BrokerRoutes {
  static let statisticsShape = Shape.resource(
    "Statistics",
    [
      .always("version", .text, "this broker's version"),
      .always("broker", .text, "this broker's name, chosen at random when it started"),
      .always("uptimeSeconds", .count, "seconds since the broker started"),
      .always("keyspace", .resource("KeyspaceStatistics", keyspace), "the keyspace that the broker uses"),
      .always(
        "refusedWrites", .list(.text),
        "the reasons why Redis refuses writes, as this broker last saw: `memory`, `disk`, `rights`; normally empty"
      ),
      .sometimes(
        "sweepWaits", .text,
        "the reason why the sweep, which removes old data, is paused: `apart` or `ahead`, as in `GET /readyz`, "
          + "or `unproven`, if no broker has swept for a while"
      ),
      .always(
        "workFailures", .map(.count),
        "failures of background work such as the sweep, by the name of the work"),
      .always("loops", .list(.resource("LoopStatistics", loop)), "the statistics of each event loop"),
    ])

  private static let keyspace: [Property] = [
    .always("dataVersion", .count, "the version of the data format"),
    .always("partitions", .count, "the number of partitions"),
    .always(
      "differences", .list(.resource("SettingDifference", difference)),
      "settings of this broker that differ from those of the keyspace"),
  ]

  private static let difference: [Property] = [
    .always("setting", .text, "the name of the setting; `secret` is the secret that signs tokens"),
    .always("here", .text, "the value on this broker"),
    .always("keyspace", .text, "the value that is stored in the keyspace"),
  ]

  private static let loop: [Property] = [
    .always("loop", .count, "its number"),
    .always("isRedisConnected", .flag, "whether the loop is connected to Redis"),
    .always("redisNodes", .count, "Redis nodes that hold partitions"),
    .always("redisNodesConnected", .count, "Redis nodes that hold partitions and are connected"),
    .always("requests", .map(.count), "requests answered, by status"),
    .always("sends", .count, "notifications sent"),
    .always("duplicates", .count, "repeated sends that were recognised and not sent again"),
    .always("streams", .count, "open streams"),
    .always(
      "sockets", .count, "open WebSockets; each one that has sent its connect frame also counts as a stream"),
    .sometimes(
      "handshakes", .resource("HandshakeStatistics", handshakes),
      "TLS handshakes, if connections are encrypted"),
    .always(
      "streamsClosed", .map(.count),
      "ended streams, by the reason that the client was given; `gone`: the client left"),
    .always("relays", .resource("RelayStatistics", relays), "changes relayed from one partition to others"),
    .always("hub", .resource("LiveStatistics", hub), "live delivery"),
    .always("callbacks", .resource("CallbackStatistics", callbacks), "requests to callbacks"),
    .always("webhooks", .resource("WebhookStatistics", webhooks), "deliveries to webhooks"),
    .always("push", .resource("PushStatistics", push), "pushes to devices"),
  ]

  private static let handshakes: [Property] = [
    .always("done", .count, "full handshakes"),
    .always("resumed", .count, "handshakes that resumed an earlier session"),
    .always("failed", .map(.count), "failed handshakes, by reason"),
    .always("waiting", .count, "connections whose handshake has not finished"),
  ]

  private static let push: [Property] = [
    .always(
      "entered", .count,
      "notifications queued for push, each once for every account that is to get it"),
    .always("attempts", .count, "requests to push gateways and push services"),
    .always("delivered", .count, "requests that were accepted"),
    .always("failed", .count, "requests that failed; they are retried"),
    .always("badges", .count, "accepted requests that only corrected the badge number"),
    .always("live", .count, "not pushed because the account had a device connected"),
    .always(
      "hidden", .count,
      "not pushed because the notification was read, recalled or no longer visible to the account"),
    .always(
      "removed", .count, "pushers removed because the gateway or push service no longer knows the device"),
    .always(
      "givenUp", .count,
      "given up because they were refused, because they failed for a day, or because too many were waiting"),
  ]

  private static let webhooks: [Property] = [
    .always("attempts", .count, "attempts to deliver"),
    .always("delivered", .count, "deliveries answered with 2xx"),
    .always("failed", .count, "attempts that failed"),
  ]

  private static let callbacks: [Property] = [
    .always("asked", .count, "requests to callbacks"),
    .always(
      "allowed", .count, "sends, updates and operations that callbacks allowed, with or without changes"),
    .always("denied", .count, "sends, updates and operations that callbacks denied"),
    .always(
      "silenced", .count,
      "sends that a callback silenced: they were answered as if sent, and nobody received them"),
    .always(
      "failed", .count,
      "requests to callbacks that failed or got an invalid answer; `onFailure` decided, but after an `allow` with an invalid patch Belfry refused the request"
    ),
    .always(
      "skipped", .count,
      "requests not made because the callback had just failed too often; `onFailure` decided instead"),
  ]

  private static let relays: [Property] = [
    .always("waiting", .count, "changes not yet relayed to other partitions when event loop 0 last looked"),
    .always("oldestSeconds", .count, "how long the oldest of these changes had waited"),
    .always("failures", .count, "failed attempts to relay changes"),
    .sometimes("lastFailure", .text, "why the last attempt failed"),
  ]

  private static let hub: [Property] = [
    .always("consumers", .count, "connected consumers"),
    .always("liveMessages", .count, "live messages that arrived from Redis"),
    .always("deliveries", .count, "notifications written to streams"),
    .always("scans", .count, "reads of an account's feed from Redis"),
    .always(
      "gapsSeen", .count,
      "how often this loop missed live messages and read their notifications from Redis instead"),
  ]
}
