import BelfryRedis
import Synchronization

/// What Redis does not do although it answers, as the broker last saw it. The beginning and the end are reported once each.
final class RedisCondition: Sendable {
  typealias Report = @Sendable (_ event: String, _ facts: KeyValuePairs<String, String>) -> Void

  private let refused = Mutex<Set<WriteRefusal>>([])
  private let report: Report

  init(report: @escaping Report) { self.report = report }

  var refusedWrites: Set<WriteRefusal> { refused.withLock(\.self) }

  /// Called from any thread.
  func note(refusedWrites found: Set<WriteRefusal>) {
    let before = refused.withLock { refused in
      defer { refused = found }
      return refused
    }
    for reason in WriteRefusal.allCases where before.contains(reason) != found.contains(reason) {
      report(
        found.contains(reason) ? "redis refuses writes" : "redis takes writes again",
        ["reason": reason.rawValue])
    }
  }
}
