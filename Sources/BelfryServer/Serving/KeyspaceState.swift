import BelfryModel
import BelfryRedis
import BelfryStore
import Synchronization

/// The state of the keyspace, as the loops of a broker have found it.
final class KeyspaceState: Sendable {
  /// The interval at which the keyspace's format record is compared. An operator may change its settings.
  static let comparisonInterval: Duration = .seconds(30)

  private struct Content {
    var hasServed = false
    var refusal: RedisError?
    var startError: StartError?
    var differences: [SettingDifference] = []
    var adopted: [SettingDifference] = []
  }

  private let content = Mutex(Content())

  /// Settings of this broker that differ from the keyspace's format record.
  var differences: [SettingDifference] { content.withLock { $0.differences } }
  /// The reason for which the broker cannot work on the keyspace in Redis now; nil if it can, or if Redis is
  /// away. Every sender is told, so it names no address of the network.
  var refusal: String? {
    content.withLock { $0.refusal?.cause }.map { MoveRecord.withoutAddresses($0) }
  }
  /// True if a loop has worked on the keyspace.
  var hasServed: Bool { content.withLock { $0.hasServed } }
  /// The reason for which the broker ended before it served anybody.
  var startError: StartError? { content.withLock { $0.startError } }

  /// Records that a loop works on the keyspace.
  func isServed() {
    content.withLock { content in
      content.hasServed = true
      content.refusal = nil
    }
  }

  /// Records that the keyspace does not fit. A broker that has served before keeps its streams open and waits
  /// for its keyspace to come back. A broker that has not served was started wrongly.
  /// - Returns: true if the broker is to end.
  func isRefused(_ error: RedisError) -> Bool {
    content.withLock { content in
      content.refusal = error
      guard !content.hasServed else { return false }
      content.startError = StartError(.keyspaceRefused, error.cause, at: error.place)
      return true
    }
  }

  /// Logs a change, once for all loops.
  func note(_ finding: SettingsFinding) {
    switch finding {
    case .differ(let found):
      let before = content.withLock { content in
        defer { content.differences = found }
        return content.differences
      }
      if found == before { return }
      if found.isEmpty { return Log.line("settings match the keyspace again") }
      Self.log(found)
    case .notAdopted(let found, let cause):
      let before = content.withLock { content in
        defer { content.differences = found }
        return content.differences
      }
      if found == before { return }
      // An operator who has given --adopt-settings takes it for done otherwise.
      Log.line(
        "settings of the keyspace are not replaced yet",
        ["cause": cause, "retrySeconds": "\(Self.comparisonInterval.components.seconds)"])
      Self.log(found)
    case .adopted(let found):
      let before = content.withLock { content in
        defer { (content.differences, content.adopted) = ([], found) }
        return content.adopted
      }
      if found == before { return }
      for difference in found {
        Log.line(
          "setting of the keyspace was replaced",
          ["setting": difference.setting, "here": difference.here, "before": difference.keyspace])
      }
    }
  }

  private static func log(_ differences: [SettingDifference]) {
    for difference in differences {
      Log.line(
        "setting differs from the keyspace",
        ["setting": difference.setting, "here": difference.here, "keyspace": difference.keyspace])
    }
  }
}

/// The part of `GET /v1/stats` about the keyspace.
struct KeyspaceStatistics: Sendable, Encodable {
  var dataVersion = Keyspace.dataVersion
  var partitions: Int
  var differences: [SettingDifference]
}
