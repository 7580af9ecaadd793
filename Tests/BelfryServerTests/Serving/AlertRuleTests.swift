import Foundation
import Testing

@testable import BelfryHTTP
@testable import BelfryServer

/// The rules in examples/alerts.yml and the table in docs/operations.md name only metrics that a broker has. A
/// rule with a metric that does not exist never raises its alarm.
@Suite struct AlertRuleTests {
  private func file(_ path: String) throws -> String {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    return try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
  }

  /// The metrics of a broker that speaks TLS: their names, and all of the text.
  private func metrics() async throws -> (names: Set<String>, text: String) {
    try await withBroker { broker in
      var statistics = await broker.broker.statistics()
      try #require(!statistics.loops.isEmpty)
      statistics.loops[0].handshakes = HandshakeStatistics(
        HTTPHandshakeCounts(done: 0, resumed: 0, failed: [:], waiting: 0))
      let warnings = Metrics.Warnings(
        memoryUsedShare: 0.873_4, freeDiskBytes: 1 << 40, dataRisks: [.eviction], keyspaceLosses: 3,
        webhooksGivenUp: 2)
      let text = Metrics.text(of: statistics, warnings, certificateExpiry: 1_767_981_731)
      return (Set(text.matches(of: #/TYPE (\w+) /#).map { String($0.1) }), text)
    }
  }

  @Test(arguments: ["examples/alerts.yml", "docs/operations.md"])
  func everyMetricExists(path: String) async throws {
    let mentioned = Set(try file(path).matches(of: /\bbelfry_\w+[a-z]\b/).map { String($0.0) })
    #expect(!mentioned.isEmpty)
    let (names, text) = try await metrics()
    #expect(mentioned.subtracting(names) == [])
    #expect(text.contains("belfry_tls_certificate_expiry_timestamp_seconds 1767981731\n"))
    #expect(text.contains("\nbelfry_redis_memory_used_ratio 0.873\n"))
    #expect(text.contains("\nbelfry_data_disk_free_bytes 1099511627776\n"))
    #expect(text.contains("\nbelfry_redis_data_risk{reason=\"noLog\"} 0\n"))
    #expect(text.contains("\nbelfry_redis_data_risk{reason=\"eviction\"} 1\n"))
    #expect(text.contains("\nbelfry_webhooks_given_up 2\n"))
    #expect(text.contains("\nbelfry_keyspace_losses_total 3\n"))
  }

  @Test func theTableOfTheDocumentationHasEveryMetric() async throws {
    let (names, _) = try await metrics()
    let documented = try file("docs/operations.md")
    #expect(names.filter { !documented.contains($0) } == [])
  }

  @Test func everyRuleSaysWhatToDo() throws {
    let rules = try file("examples/alerts.yml").components(separatedBy: "      - alert: ").dropFirst()
    #expect(rules.count > 1)
    for rule in rules {
      let name = rule.prefix { !$0.isNewline }
      for key in ["expr: ", "labels: {severity: ", "annotations:", "summary: \"", "description: >-"] {
        #expect(rule.ranges(of: key).count == 1, "\(name): \(key)")
      }
    }
  }
}
