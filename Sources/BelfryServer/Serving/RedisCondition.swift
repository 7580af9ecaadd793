import BelfryRedis
import BelfryStore
import Synchronization

/// Work that is not done although Redis answers, as the broker last saw it: writes that Redis refuses, and
/// the sweep while there is doubt about Redis's clock. The beginning and the end of each are reported once.
final class RedisCondition: Sendable {
  typealias Report = @Sendable (_ event: String, _ facts: KeyValuePairs<String, String>) -> Void

  private struct Content {
    var refusedWrites: Set<WriteRefusal> = []
    var sweepDoubt: ClockDoubt?
  }

  private let content = Mutex(Content())
  private let report: Report

  init(report: @escaping Report) { self.report = report }

  var refusedWrites: Set<WriteRefusal> { content.withLock { $0.refusedWrites } }
  /// The reason for which the sweep waits; nil if it does not wait.
  var sweepDoubt: ClockDoubt? { content.withLock { $0.sweepDoubt } }

  /// Called from any thread.
  func note(refusedWrites found: Set<WriteRefusal>) {
    let before = content.withLock { content in
      defer { content.refusedWrites = found }
      return content.refusedWrites
    }
    for reason in WriteRefusal.allCases where before.contains(reason) != found.contains(reason) {
      report(
        found.contains(reason) ? "redis refuses writes" : "redis takes writes again",
        ["reason": reason.rawValue])
    }
  }

  func note(sweepDoubt found: ClockDoubt?) {
    let before = content.withLock { content in
      defer { content.sweepDoubt = found }
      return content.sweepDoubt
    }
    guard before?.reason != found?.reason else { return }
    guard let found else { return report("the sweep goes on", [:]) }
    report(
      "the sweep waits", ["reason": found.reason, "seconds": "\(found.milliseconds / 1_000)"])
  }
}
