import BelfryModel
import BelfryRedis
import BelfryStore
import Synchronization

/// What the loops of a broker found out about its keyspace.
final class KeyspaceState: Sendable {
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
  /// Why the broker cannot work on what Redis holds now; nil if it can, or if Redis is away.
  var refusal: String? { content.withLock { $0.refusal?.cause } }
  /// Why the broker ended before it served anybody.
  var startError: StartError? { content.withLock { $0.startError } }

  /// A loop works on the keyspace.
  func isServed() {
    content.withLock { content in
      content.hasServed = true
      content.refusal = nil
    }
  }

  /// Takes note that the keyspace does not fit. A broker that has served before waits for its keyspace to come back, with
  /// its streams open; one that has not was started wrongly.
  /// - Returns: whether the broker is to end.
  func isRefused(_ error: RedisError) -> Bool {
    content.withLock { content in
      content.refusal = error
      guard !content.hasServed else { return false }
      content.startError = StartError(.keyspaceRefused, error.cause, at: error.place)
      return true
    }
  }

  /// Logs what changed, once for all loops.
  func note(_ finding: SettingsFinding) {
    switch finding {
    case .differ(let found):
      let before = content.withLock { content in
        defer { content.differences = found }
        return content.differences
      }
      if found == before { return }
      if found.isEmpty { return Log.line("settings match the keyspace again") }
      for difference in found {
        Log.line(
          "setting differs from the keyspace",
          ["setting": difference.setting, "here": difference.here, "keyspace": difference.keyspace])
      }
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
}

/// What `GET /v1/stats` says of the keyspace.
struct KeyspaceStatistics: Sendable, Encodable {
  var dataVersion = Keyspace.dataVersion
  var partitions: Int
  var differences: [SettingDifference]
}
