import BelfryModel
import BelfryRedis
import BelfryStore
import Synchronization

/// The state of the keyspace, as the loops of a broker have found it.
final class KeyspaceState: Sendable {
  /// The interval at which the keyspace's format record is compared. An operator may change its settings.
  static let comparisonInterval: Duration = .seconds(30)

  private struct Content {
    var servingLoops: Set<Int> = []
    var refusal: RedisError?
    var accessRefusal: AccessRefusal?
    var startError: StartError?
    var differences: [SettingDifference] = []
    var adopted: [SettingDifference] = []
    var lossCount = 0
    /// The connections that subscribe to live messages and that Redis refuses, by loop and node.
    var refusedSubscribers: [String: AccessRefusal] = [:]
  }

  private let content = Mutex(Content())

  /// Settings of this broker that differ from the keyspace's format record.
  var differences: [SettingDifference] { content.withLock { $0.differences } }
  /// The reason for which the broker cannot work on the keyspace in Redis now; nil if it can, or if Redis is
  /// away. Every sender is told, so it names no address of the network, and says where an operator finds it.
  var refusal: String? {
    content.withLock { $0.refusal?.cause }.map { whole in
      let words = MoveRecord.withoutAddresses(whole)
      return words == whole ? words : words + " (the broker's log has the address)"
    }
  }
  /// How Redis refused the broker's user or password at the last try; nil if it did not.
  var accessRefusal: AccessRefusal? {
    content.withLock { $0.accessRefusal ?? $0.refusedSubscribers.values.first }
  }
  /// How often the keyspace was found to be gone since the start.
  var lossCount: Int { content.withLock { $0.lossCount } }
  /// True if a loop has worked on the keyspace.
  var hasServed: Bool { content.withLock { !$0.servingLoops.isEmpty } }
  /// The reason for which the broker ended before it served anybody.
  var startError: StartError? { content.withLock { $0.startError } }

  /// Records that a loop works on the keyspace.
  /// - Returns: the number of loops that have done so since the start, if this one is new among them.
  func noteServed(byLoop number: Int) -> Int? {
    content.withLock { content in
      content.refusal = nil
      content.accessRefusal = nil
      return content.servingLoops.insert(number).inserted ? content.servingLoops.count : nil
    }
  }

  /// Records why the connection to Redis was lost, or was not made.
  func noteLost(_ error: RedisError) {
    content.withLock { $0.accessRefusal = AccessRefusal(error) }
  }

  /// Records that a loop's connection for live messages was made, or why it was not. Only a refusal of the user or the password
  /// is logged: if Redis is away, the loop's other connection says so.
  func noteSubscriber(ofLoop number: Int, at place: String, _ error: RedisError?) {
    let refusal = error.flatMap { AccessRefusal($0) }
    let before = content.withLock { content in
      let key = "\(number) \(place)"
      defer { content.refusedSubscribers[key] = refusal }
      return content.refusedSubscribers[key]
    }
    if refusal == before { return }
    guard let error, refusal != nil else {
      return Log.line("redis gives live messages again", ["loop": String(number), "at": place])
    }
    Log.line(
      "redis refuses live messages", ["loop": String(number), "at": place, "cause": error.description])
  }

  /// Records that the keyspace does not fit. A broker that has served before keeps its streams open and waits
  /// for its keyspace to come back. A broker that has not served was started wrongly.
  /// - Returns: true if the broker is to end.
  func isRefused(_ error: RedisError) -> Bool {
    content.withLock { content in
      content.refusal = error
      guard content.servingLoops.isEmpty else { return false }
      content.startError = StartError(.keyspaceRefused, error.cause, at: error.place)
      return true
    }
  }

  /// Logs a change, once for all loops. A lost keyspace is found by the loop that begins the new one, and by no other.
  func note(_ finding: SettingsFinding) {
    switch finding {
    case .gone:
      content.withLock { $0.lossCount += 1 }
      Log.line(
        "redis has lost the keyspace",
        [
          "effect": "it came back empty, and a new keyspace begins",
          "remedy": "docs/operations.md, Redis came back empty",
        ])
    case .recordRemoved:
      content.withLock { $0.lossCount += 1 }
      Log.line(
        "redis has lost belfry:format",
        [
          "effect": "this broker writes it again; if Redis was emptied, a new keyspace begins",
          "remedy": "docs/operations.md, Redis came back empty",
        ])
    case .differ(let found):
      let before = content.withLock { content in
        defer { content.differences = found }
        return content.differences
      }
      if found == before { return }
      if found.isEmpty { return Log.line("the settings of this broker match the keyspace again") }
      Self.log(found)
    case .notAdopted(let found, let cause):
      let before = content.withLock { content in
        defer { content.differences = found }
        return content.differences
      }
      if found == before { return }
      // An operator who has given --adopt-settings takes it for done otherwise.
      Log.line(
        "this broker could not replace the settings of the keyspace yet",
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
          "a setting of the keyspace was replaced",
          ["setting": difference.setting, "here": difference.here, "before": difference.keyspace])
      }
    }
  }

  private static func log(_ differences: [SettingDifference]) {
    for difference in differences {
      Log.line(
        "a setting of this broker differs from the keyspace",
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
