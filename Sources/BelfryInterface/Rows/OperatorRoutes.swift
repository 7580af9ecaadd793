package import BelfryModel

/// Requests of operators: keys of back ends, the audit record, the logs of servers, and the reason why an account sees a
/// notification.
package enum OperatorRoutes {
  package static let all: [Route] = [
    createKey.route, listKeys.route, revokeKey.route, audit.route, serverLog.route, explain.route,
    statistics.route, nodes.route,
  ]

  // MARK: Keys

  /// Every key begins with this, so that people and scanners recognize it in any text.
  package static let keyPrefix = "blf_"
  package static func isKey(_ text: String) -> Bool { text.utf8.starts(with: keyPrefix.utf8) }
  /// The most keys that may exist.
  package static let keysMaximum = 1_000
  /// Ten years: longer than any deployment runs unattended.
  private static let ttlMaxSeconds = 10 * 366 * 86_400

  private static let keyName = Field(
    "name", .text(characters: 1...Limits.nameCharacters), "the name of the back end"
  ).needed
  package static let keyScope = Field(
    "scope", .list(Kind<Scope>.choice, counts: 1...Scope.allCases.count),
    "the scopes of the key; all if absent")
  private static let ttl = Field(
    "ttlSeconds", .seconds(1...ttlMaxSeconds),
    "the lifetime in seconds; if absent, the key is valid until it is revoked")
  private static let keyLimit = Field("limit", .integer(1...keysMaximum), "the maximum number of results")
    .otherwise(keysMaximum, .integer(Int64(keysMaximum)))
  private static let keyId = Field("keyId", .id, "the id of the key").needed

  private static let keyProperties: [Property] = [
    .always("keyId", .id, "its id"),
    .always("name", .text, "the name of the back end"),
    Property("scope", .text, "the scopes of the key, separated by spaces; absent: all", wordIfAbsent: "all"),
    .always("createdAt", .time, "when it was created"),
    .always("createdBy", .text, "the subject of the token that created it"),
    Property("expiresAt", .time, "when it expires; absent: never", wordIfAbsent: "never"),
  ]
  private static let key = Shape.resource("Key", keyProperties)
  private static let madeKey = Shape.resource(
    "MadeKey", keyProperties + [.always("key", .text, "the key itself, which is shown only once")])

  package static let createKey = endpoint(
    .post, "/v1/keys", .operators, "key create", "Create a key for a back end; it is shown only once",
    body: keyName, keyScope, ttl, refusals: [.tooMany], answers: .created(madeKey),
    options: RouteOptions(done: "created the key; it is shown only this once", example: ["name": "billing"]))
  package static let listKeys = endpoint(
    .get, "/v1/keys", .operators, "key list", "List the keys of back ends", query: keyLimit,
    answers: .ok(.page("keys", of: key, "sorted by id")))
  package static let revokeKey = endpoint(
    .delete, "/v1/keys/{keyId}", .operators, "key revoke", "Revoke a back end's key", path: keyId,
    options: RouteOptions(done: "revoked the key", question: "Revoke for good"))

  // MARK: The audit record

  private static let auditLimit = Field("limit", .integer(1...1_000), "the maximum number of results")
    .otherwise(100, 100)
  private static let since = Field("since", .time, "only operations since this time").otherwise(0, 0)
  private static let auditAccount = Field(
    "account", .account, "only operations that were done for this account or to it")
  private static let auditCursor = Field("cursor", Kind<AuditPlace>.cursor, "the previous page's `cursor`")
  private static let auditEntry = Shape.resource(
    "AuditEntry",
    [
      .always("time", .time, "when it was done"),
      .always("caller", .text, "the subject of the token, or the name of the key"),
      .always("operation", .text, "the name of the operation"),
      .sometimes("target", .text, "the space and the accounts concerned"),
      .sometimes("account", .account, "the account that the caller acted for"),
      .always("status", .count, "the HTTP status of the response"),
      .always("role", .text, "the caller's role: app or operator"),
      .sometimes("keyId", .id, "the key that the caller used"),
      .sometimes(
        "address", .text, "the caller's address; behind a proxy that the broker does not trust, the proxy's"),
    ])

  package static let audit = endpoint(
    .get, "/v1/audit", .operators, "broker audit", "List what apps and operators did",
    query: auditLimit, since, auditAccount, auditCursor,
    answers: .ok(.page("entries", of: auditEntry, "latest first")),
    options: RouteOptions(command: "audit"))

  // MARK: The log of a server

  private static let logAfter = Field(
    "after", Kind<LogCursor>.cursor,
    "continue after this cursor; without it the page begins with the oldest entry that is kept")
  private static let logLast = Field(
    "last", .integer(0...Limits.pageNotificationsMaximum),
    "begin with the latest entries, at most this many; cannot be combined with `after`")
  private static let logEntry = Shape.resource(
    "ServerLogEntry",
    [
      .always(
        "event", .choice(ServerLogEvent.self),
        "`notification` for a new notification, `updated` or `retracted` for a change of an earlier one"),
      .always("messageServerId", .message, "the notification"),
      .always("audience", .text, "the audience that was decided when it was sent"),
      .always("cursor", .cursor, "the cursor after this entry"),
      .sometimes("notification", Notification.shape, "the notification; absent with `retracted`"),
    ])

  package static let serverLog = endpoint(
    .get, ServerRoutes.server + "/log", .operators, "server log",
    "List everything that happened in a server, for all receivers", path: SharedFields.serverId,
    query: NotificationRoutes.pageLimit, logAfter, logLast, refusals: [.notFound],
    answers: .ok(
      .resource(
        "ServerLog",
        [
          .always("entries", .list(logEntry), "the entries of the log, oldest first"),
          .always("cursor", .cursor, "the cursor to pass as `after` next time"),
          .sometimes("gap", FeedEvents.gap, "entries between these ids may be missing"),
        ])), options: RouteOptions(hasCommand: false))

  // MARK: Explaining

  private static let account = Field("account", .account, "the account").needed
  private static let explanation = Shape.resource(
    "Explanation",
    [
      .always("visible", .flag, "whether the account sees it"),
      .always("reason", .text, "a stable reason code"),
      .always("detail", .text, "the reason as a sentence"),
      .always(
        "facts",
        .resource(
          "ExplanationFacts",
          [
            .always("sentAt", .time, "when it was sent"),
            .sometimes("space", .text, "the space that it was sent to"),
            .sometimes("audience", .text, "the audience that was decided when it was sent"),
            .sometimes(
              "memberSince", .time,
              "when the account joined the space; absent if it has left, or if the time is not known"),
            .sometimes("memberUntil", .time, "when the account left the space"),
            .sometimes("subscribed", .flag, "true if the account is subscribed now"),
            .sometimes("named", .flag, "whether the notification names the account"),
            .sometimes(
              "read", .flag, "whether the account has marked it read; absent if it was not for the account"),
            .sometimes("expireAt", .time, "when the notification expires"),
            .sometimes("recalledAt", .time, "when it was recalled"),
            .sometimes("recalledBy", .text, "the account that recalled it, or `a trusted caller`"),
          ]), "the facts behind the decision"),
    ])

  package static let explain = endpoint(
    .get, "/v1/notifications/{messageServerId}/explain", .trusted, "notification explain",
    "Explain why an account sees a notification or does not", path: SharedFields.messageServerId,
    query: account,
    answers: .ok(explanation), options: RouteOptions(hasCommand: false))

  package static let statistics = endpoint(
    .get, "/v1/stats", .trusted, "broker stats", "Show statistics of the keyspace and of each event loop",
    answers: .ok(BrokerRoutes.statisticsShape), options: RouteOptions(hasCommand: false))

  private static let replica: [Property] = [
    .always("place", .text, "its address"),
    .always("state", .text, "`online` if the replica is in sync"),
    .always("bytesBehind", .count, "bytes that the master has written and the replica has not confirmed"),
  ]

  private static let node: [Property] = [
    .always("place", .text, "its address"),
    .always("isConnected", .flag, "whether the node answers this broker"),
    .always("partitions", .count, "the number of partitions it holds"),
    .always("replicas", .list(.resource("Replica", replica)), "its replicas"),
    .sometimes("usedMemoryBytes", .count, "bytes of memory that its data and buffers use"),
    .sometimes("problem", .text, "why the node does not answer"),
  ]

  private static let moving: [Property] = [
    .always("partition", .count, "its number"),
    .always("from", .text, "the node that still serves it"),
    .always("to", .text, "the node that it is moving to, by the name that the cluster gives that node"),
  ]

  package static let nodes = endpoint(
    .get, "/v1/nodes", .trusted, "broker nodes",
    "Show the Redis nodes and the partitions that are moving",
    answers: .ok(
      .resource(
        "Nodes",
        [
          .always("isCluster", .flag, "whether Redis is a cluster"),
          .always(
            "replicasPromised", .count,
            "the number of replicas that must have a write before it is acknowledged (`durability`)"),
          .always("nodes", .list(.resource("Node", node)), "the nodes"),
          .always(
            "moving", .list(.resource("MovingPartition", moving)),
            "partitions that are moving to another node"),
          .always("unserved", .count, "the number of partitions that no known node holds"),
          .sometimes("warning", .text, "a warning if acknowledged writes may be lost"),
        ])), options: RouteOptions(command: "cluster"))
}

/// The kinds of entries of a server's log. Their words are those of a feed's events.
package enum ServerLogEvent: String, NamedChoice {
  case notification, updated, retracted

  package static var schemaName: String { "ServerLogEvent" }
}
