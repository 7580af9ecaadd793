import BelfryHTTP
import BelfryRedis
import BelfryStore

/// The statistics in the text format that Prometheus reads.
/// Source: prometheus.io, "Exposition formats", version 0.0.4.
enum Metrics {
  private struct Metric {
    let name: String
    let help: String
    let isCounter: Bool
    let value: @Sendable (LoopStatistics) -> Int
  }

  private static let all = [
    Metric(
      name: "belfry_redis_connected", help: "1 while this event loop is connected to Redis.", isCounter: false
    ) {
      $0.isRedisConnected ? 1 : 0
    },
    Metric(name: "belfry_redis_nodes", help: "Redis nodes that hold partitions.", isCounter: false) {
      $0.redisNodes
    },
    Metric(
      name: "belfry_redis_nodes_connected", help: "Redis nodes that hold partitions and are connected.",
      isCounter: false
    ) { $0.redisNodesConnected },
    Metric(name: "belfry_sends_total", help: "Notifications sent.", isCounter: true) { $0.sends },
    Metric(
      name: "belfry_duplicates_total", help: "Repeated sends that were recognised and not sent again.",
      isCounter: true
    ) {
      $0.duplicates
    },
    Metric(name: "belfry_streams", help: "Open streams.", isCounter: false) { $0.streams },
    Metric(
      name: "belfry_sockets",
      help: "Open WebSockets. Each one that has sent its connect frame also counts as a stream.",
      isCounter: false
    ) { $0.sockets },
    Metric(
      name: "belfry_live_messages_total", help: "Live messages received from Redis.", isCounter: true
    ) {
      $0.hub.liveMessages
    },
    Metric(name: "belfry_deliveries_total", help: "Notifications written to streams.", isCounter: true) {
      $0.hub.deliveries
    },
    Metric(
      name: "belfry_scans_total", help: "Reads of an account's feed from Redis.",
      isCounter: true
    ) { $0.hub.scans },
    Metric(
      name: "belfry_gaps_total",
      help: "How often a loop missed live messages and read their notifications from Redis instead.",
      isCounter: true
    ) {
      $0.hub.gapsSeen
    },
    Metric(
      name: "belfry_relays_waiting",
      help: "Changes not yet relayed to other partitions when event loop 0 last looked.",
      isCounter: false
    ) { $0.relays.waiting },
    Metric(
      name: "belfry_relays_oldest_seconds", help: "Age of the oldest change that is not yet relayed.",
      isCounter: false
    ) { $0.relays.oldestSeconds },
    Metric(
      name: "belfry_relay_failures_total", help: "Failed attempts to relay changes to other partitions.",
      isCounter: true
    ) { $0.relays.failures },
    Metric(name: "belfry_callback_requests_total", help: "Requests to callbacks.", isCounter: true) {
      $0.callbacks.asked
    },
    Metric(
      name: "belfry_callback_denials_total", help: "Sends, updates and operations that callbacks denied.",
      isCounter: true
    ) {
      $0.callbacks.denied
    },
    Metric(
      name: "belfry_callback_silenced_total",
      help: "Sends that a callback silenced: they were answered as if sent, and nobody received them.",
      isCounter: true
    ) { $0.callbacks.silenced },
    Metric(
      name: "belfry_callback_failures_total", help: "Requests to callbacks that got no usable answer.",
      isCounter: true
    ) { $0.callbacks.failed },
    Metric(
      name: "belfry_callback_skipped_total",
      help: "Requests not made because the callback had just failed too often; onFailure decided instead.",
      isCounter: true
    ) { $0.callbacks.skipped },
    Metric(
      name: "belfry_webhook_delivered_total", help: "Deliveries to webhooks that were answered with 2xx.",
      isCounter: true
    ) {
      $0.webhooks.delivered
    },
    Metric(
      name: "belfry_webhook_failures_total", help: "Failed attempts to deliver to webhooks.",
      isCounter: true
    ) { $0.webhooks.failed },
    Metric(
      name: "belfry_push_entered_total",
      help: "Notifications queued for push, each once for every account that is to get it.",
      isCounter: true
    ) {
      $0.push.entered
    },
    Metric(
      name: "belfry_push_attempts_total", help: "Requests to push gateways and push services.",
      isCounter: true
    ) {
      $0.push.attempts
    },
    Metric(
      name: "belfry_push_delivered_total", help: "Push requests accepted by gateways and push services.",
      isCounter: true
    ) {
      $0.push.delivered
    },
    Metric(name: "belfry_push_failures_total", help: "Push requests that failed.", isCounter: true) {
      $0.push.failed
    },
    Metric(
      name: "belfry_push_live_total",
      help: "Notifications not pushed because the account had a device connected.",
      isCounter: true
    ) {
      $0.push.live
    },
    Metric(
      name: "belfry_push_hidden_total",
      help: "Notifications not pushed because they were read, recalled or no longer visible to the account.",
      isCounter: true
    ) {
      $0.push.hidden
    },
    Metric(
      name: "belfry_push_removed_total",
      help: "Pushers removed because the gateway or push service no longer knows the device.",
      isCounter: true
    ) {
      $0.push.removed
    },
    Metric(
      name: "belfry_push_given_up_total",
      help:
        "Pushes given up because they were refused, because they failed for a day, or because too many were waiting.",
      isCounter: true
    ) {
      $0.push.givenUp
    },
  ]

  /// States that call for somebody's help before anything is refused.
  struct Warnings {
    /// The used part of `maxmemory`, on the node with the least room; nil if no node has a limit.
    var memoryUsedShare: Double?
    /// Nil without an embedded Redis, or if nobody knows.
    var freeDiskBytes: Int?
    /// Settings by which Redis may lose what it has acknowledged.
    var dataRisks: Set<DataRisk>
    /// How often the keyspace was found to be gone since the start.
    var keyspaceLosses: Int
    /// Webhooks that brokers have disabled because their receivers failed.
    var webhooksGivenUp: Int
  }

  /// - Parameter certificateExpiry: the last second of the certificate that clients are shown, since 1970. Nil
  ///   if connections are not encrypted.
  static func text(of statistics: BrokerStatistics, _ warnings: Warnings, certificateExpiry: Int64?) -> String
  {
    var text = head(
      "belfry_build_info", "Always 1; the label is the version of this broker.", isCounter: false)
    text += "belfry_build_info{version=\"\(statistics.version)\"} 1\n"
    text += head("belfry_uptime_seconds", "Seconds since the broker started.", isCounter: false)
    text += "belfry_uptime_seconds \(statistics.uptimeSeconds)\n"
    text += head("belfry_partitions", "Partitions of the keyspace.", isCounter: false)
    text += "belfry_partitions \(statistics.keyspace.partitions)\n"
    text += head(
      "belfry_settings_differing", "How many settings of this broker differ from those of the keyspace.",
      isCounter: false)
    text += "belfry_settings_differing \(statistics.keyspace.differences.count)\n"
    text += head(
      "belfry_keyspace_losses_total",
      "How often the keyspace in Redis was found to be gone, or its record removed.",
      isCounter: true)
    text += "belfry_keyspace_losses_total \(warnings.keyspaceLosses)\n"
    text += condition(of: statistics) + warningLines(warnings)
    text += head("belfry_requests_total", "Requests answered.", isCounter: true)
    for loop in statistics.loops {
      for (status, count) in loop.requests.sorted(by: { $0.key < $1.key }) {
        text += "belfry_requests_total{loop=\"\(loop.loop)\",status=\"\(status)\"} \(count)\n"
      }
    }
    text += head("belfry_streams_closed_total", "Streams that ended, by reason.", isCounter: true)
    for loop in statistics.loops {
      for (reason, count) in loop.streamsClosed.sorted(by: { $0.key < $1.key }) {
        text += "belfry_streams_closed_total{loop=\"\(loop.loop)\",reason=\"\(reason)\"} \(count)\n"
      }
    }
    text += expiry(certificateExpiry) + handshakes(of: statistics.loops)
    for metric in all {
      text += head(metric.name, metric.help, isCounter: metric.isCounter)
      for loop in statistics.loops { text += "\(metric.name){loop=\"\(loop.loop)\"} \(metric.value(loop))\n" }
    }
    return text
  }

  /// Shows work that is not done although Redis answers, and work that no request asked for and that failed.
  private static func condition(of statistics: BrokerStatistics) -> String {
    var text = head(
      "belfry_redis_writes_refused", "1 while Redis refuses writes, by reason: memory, disk or rights.",
      isCounter: false)
    for reason in WriteRefusal.allCases.map(\.rawValue) {
      let isRefused = statistics.refusedWrites.contains(reason)
      text += "belfry_redis_writes_refused{reason=\"\(reason)\"} \(isRefused ? 1 : 0)\n"
    }
    text += head(
      "belfry_sweep_waits", "1 while the sweep is paused because Redis's clock is in doubt, by reason.",
      isCounter: false)
    for reason in ClockDoubt.reasons {
      text += "belfry_sweep_waits{reason=\"\(reason)\"} \(statistics.sweepWaits == reason ? 1 : 0)\n"
    }
    text += head(
      "belfry_periodic_failures_total", "Failures of background work, by the name of the work.",
      isCounter: true
    )
    for (work, count) in statistics.workFailures.sorted(by: { $0.key < $1.key }) {
      text += "belfry_periodic_failures_total{work=\"\(work)\"} \(count)\n"
    }
    return text
  }

  private static func warningLines(_ warnings: Warnings) -> String {
    var text = head(
      "belfry_redis_data_risk",
      "1 while a setting of Redis may lose acknowledged data, by reason: noLog or eviction.",
      isCounter: false)
    for risk in DataRisk.allCases {
      text += "belfry_redis_data_risk{reason=\"\(risk)\"} \(warnings.dataRisks.contains(risk) ? 1 : 0)\n"
    }
    text += head(
      "belfry_webhooks_given_up",
      "Webhooks that brokers have disabled, because their receivers failed or are gone.",
      isCounter: false)
    text += "belfry_webhooks_given_up \(warnings.webhooksGivenUp)\n"
    if let share = warnings.memoryUsedShare {
      text += head(
        "belfry_redis_memory_used_ratio",
        "Used share of Redis's maxmemory, from 0 to 1, on the node where it is highest.", isCounter: false)
      text += "belfry_redis_memory_used_ratio \((share * 1_000).rounded() / 1_000)\n"
    }
    if let bytes = warnings.freeDiskBytes {
      text += head(
        "belfry_data_disk_free_bytes", "Free bytes on the disk of the embedded Redis.", isCounter: false)
      text += "belfry_data_disk_free_bytes \(bytes)\n"
    }
    return text
  }

  /// Empty if connections are not encrypted.
  private static func expiry(_ seconds: Int64?) -> String {
    guard let seconds else { return "" }
    let name = "belfry_tls_certificate_expiry_timestamp_seconds"
    return head(
      name, "Expiry of the certificate that clients receive, as a Unix time.", isCounter: false)
      + "\(name) \(seconds)\n"
  }

  /// Empty if connections are not encrypted.
  private static func handshakes(of loops: [LoopStatistics]) -> String {
    let known = loops.compactMap { loop in loop.handshakes.map { (loop.loop, $0) } }
    if known.isEmpty { return "" }
    var text = head(
      "belfry_tls_handshakes_total", "Finished TLS handshakes, by whether a session was resumed.",
      isCounter: true)
    for (loop, counts) in known {
      text += "belfry_tls_handshakes_total{loop=\"\(loop)\",resumed=\"false\"} \(counts.done)\n"
      text += "belfry_tls_handshakes_total{loop=\"\(loop)\",resumed=\"true\"} \(counts.resumed)\n"
    }
    text += head("belfry_tls_handshake_failures_total", "Failed TLS handshakes, by reason.", isCounter: true)
    for (loop, counts) in known {
      for reason in HTTPHandshakeFailure.allCases.map(\.rawValue) {
        let count = counts.failed[reason] ?? 0
        text += "belfry_tls_handshake_failures_total{loop=\"\(loop)\",reason=\"\(reason)\"} \(count)\n"
      }
    }
    text += head(
      "belfry_tls_handshakes_waiting", "Connections whose TLS handshake has not finished.", isCounter: false)
    for (loop, counts) in known {
      text += "belfry_tls_handshakes_waiting{loop=\"\(loop)\"} \(counts.waiting)\n"
    }
    return text
  }

  private static func head(_ name: String, _ help: String, isCounter: Bool) -> String {
    "# HELP \(name) \(help)\n# TYPE \(name) \(isCounter ? "counter" : "gauge")\n"
  }
}
