package import BelfryModel

/// Requests of operators: keys of back ends, the audit record, and the reason why an account sees a notification.
package enum OperatorRoutes {
  package static let all: [Route] = [
    createKey.route, listKeys.route, revokeKey.route, audit.route, explain.route, statistics.route,
    nodes.route,
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
    "name", .text(characters: 1...Limits.nameCharacters), "which back end it is for"
  ).needed
  package static let keyScope = Field(
    "scope", .list(Kind<Scope>.choice, counts: 1...Scope.allCases.count),
    "what it is for; everything if left out")
  private static let ttl = Field(
    "ttlSeconds", .seconds(1...ttlMaxSeconds), "for how many seconds; until it is revoked if left out")
  private static let keyLimit = Field("limit", .integer(1...keysMaximum), "how many at most")
    .otherwise(keysMaximum, .integer(Int64(keysMaximum)))
  private static let keyId = Field("keyId", .id, "the key").needed

  private static let keyProperties: [Property] = [
    .always("keyId", .id, "its id"),
    .always("name", .text, "which back end it is for"),
    .sometimes("scope", .text, "what it is for, in words; left out: everything"),
    .always("createdAt", .time, "when it was made"),
    .always("createdBy", .text, "by whom"),
    .sometimes("expiresAt", .time, "until when it is good"),
  ]
  private static let key = Shape.resource("Key", keyProperties)
  private static let madeKey = Shape.resource(
    "MadeKey", keyProperties + [.always("key", .text, "the key itself, which is shown this once")])

  package static let createKey = endpoint(
    .post, "/v1/keys", .operators, "key create", "Make a key for a back end, which is shown once",
    body: keyName, keyScope, ttl, refusals: [.tooMany], answers: .created(madeKey))
  package static let listKeys = endpoint(
    .get, "/v1/keys", .operators, "key list", "List the keys of back ends", query: keyLimit,
    answers: .ok(.page("keys", of: key, "by id")))
  package static let revokeKey = endpoint(
    .delete, "/v1/keys/{keyId}", .operators, "key revoke", "Accept a back end's key no more", path: keyId,
    options: RouteOptions(done: "Revoked", isDestructive: true))

  // MARK: The audit record

  private static let auditLimit = Field("limit", .integer(1...1_000), "how many at most").otherwise(100, 100)
  private static let since = Field("since", .time, "none that are older").otherwise(0, 0)
  private static let auditAccount = Field(
    "account", .account, "only those acted for, or done to, this account")
  private static let auditCursor = Field("cursor", Kind<AuditPlace>.cursor, "the cursor of the page before")
  private static let auditEntry = Shape.resource(
    "AuditEntry",
    [
      .always("time", .time, "when it was done"),
      .always("caller", .text, "the subject of the token, or the name of the key"),
      .always("operation", .text, "what was asked, by its name"),
      .sometimes("target", .text, "to what, and to whom"),
      .sometimes("account", .account, "for whom it was done"),
      .always("status", .count, "the status of the answer"),
      .always("role", .text, "app or operator"),
      .sometimes("keyId", .id, "the key it was done with"),
      .sometimes("address", .text, "from where it was asked, as far as the broker knows"),
    ])

  package static let audit = endpoint(
    .get, "/v1/audit", .operators, "broker audit", "Show what trusted callers did",
    query: auditLimit, since, auditAccount, auditCursor,
    answers: .ok(.page("entries", of: auditEntry, "the latest first")),
    options: RouteOptions(command: "audit"))

  // MARK: Explaining

  private static let account = Field("account", .account, "who does or does not see it").needed
  private static let explanation = Shape.resource(
    "Explanation",
    [
      .always("visible", .flag, "whether the account sees it"),
      .always("reason", .text, "why, in a stable word"),
      .always("detail", .text, "why, in a sentence"),
      .always(
        "facts",
        .resource(
          "ExplanationFacts",
          [
            .always("sentAt", .time, "when it was sent"),
            .sometimes("space", .text, "where it was sent"),
            .sometimes("audience", .text, "for whom, as it is stamped"),
            .sometimes("memberSince", .time, "since when the account belongs there"),
            .sometimes("memberUntil", .time, "until when it belonged there"),
            .sometimes("subscribedSince", .time, "since when it is subscribed"),
            .sometimes("named", .flag, "whether the notification names the account"),
            .sometimes("read", .flag, "whether the account has marked it read"),
            .sometimes("expireAt", .time, "from when on nobody is shown it any more"),
            .sometimes("recalledAt", .time, "when it was recalled"),
            .sometimes("recalledBy", .text, "by whom: an account, or `a trusted caller`"),
          ]), "what it was decided on"),
    ])

  package static let explain = endpoint(
    .get, "/v1/notifications/{messageServerId}/explain", .trusted, "notification explain",
    "Say why an account sees a notification or does not", path: SharedFields.messageServerId, query: account,
    answers: .ok(explanation), options: RouteOptions(hasCommand: false))

  package static let statistics = endpoint(
    .get, "/v1/stats", .trusted, "broker stats", "Show the keyspace, and what each loop did and holds",
    answers: .ok(BrokerRoutes.statisticsShape), options: RouteOptions(hasCommand: false))

  private static let replica: [Property] = [
    .always("place", .text, "where it is"),
    .always("state", .text, "`online` when it is in step"),
    .always("bytesBehind", .count, "what its master has written and it has not confirmed"),
  ]

  private static let node: [Property] = [
    .always("place", .text, "where it is"),
    .always("isConnected", .flag, "whether it answers this broker"),
    .always("partitions", .count, "how many partitions it holds"),
    .always("replicas", .list(.resource("Replica", replica)), "its replicas"),
    .sometimes("usedMemoryBytes", .count, "how much memory its data and buffers take"),
    .sometimes("problem", .text, "why it does not answer"),
  ]

  private static let moving: [Property] = [
    .always("partition", .count, "its number"),
    .always("from", .text, "the node that still answers for it"),
    .always("to", .text, "the name that the cluster gives the other node"),
  ]

  package static let nodes = endpoint(
    .get, "/v1/nodes", .trusted, "broker nodes",
    "Show the Redis nodes, and partitions on the move",
    answers: .ok(
      .resource(
        "Nodes",
        [
          .always("isCluster", .flag, "whether they are the masters of a Redis Cluster"),
          .always(
            "replicasPromised", .count,
            "how many replicas must have a write before it is acknowledged (`durability`)"),
          .always("nodes", .list(.resource("Node", node)), "each of them"),
          .always(
            "moving", .list(.resource("MovingPartition", moving)), "partitions on their way to another node"),
          .always("unserved", .count, "how many partitions no node is known to hold"),
          .sometimes("warning", .text, "what may be lost although it was acknowledged"),
        ])), options: RouteOptions(command: "cluster"))
}
