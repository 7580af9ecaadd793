import Synchronization

/// Counts the failures of work that no caller waits for, by the name of the work. Without it such a failure would be seen by
/// no one.
///
/// The first failure of a row is reported, and the end of the row. One name covers many subjects, such as the partitions
/// that are swept: the row ends when each subject that failed has succeeded or was given up. So one partition that fails
/// among many that succeed is reported once, and not in each round.
package final class WorkFailures: Sendable {
  package enum Event: Sendable, Hashable {
    /// The first failure of a row.
    case fails(work: String, subject: String, cause: String)
    /// The end of a row of so many failures.
    case succeedsAgain(work: String, failures: Int)
  }

  private struct Work {
    var total = 0
    /// Failures of the present row; 0 if there is none.
    var inRow = 0
    var failing: Set<String> = []

    /// - Returns: whether a row begins.
    mutating func fail(_ subject: String) -> Bool {
      total += 1
      inRow += 1
      let isFirst = failing.isEmpty
      failing.insert(subject)
      return isFirst
    }

    /// - Returns: how many failures the row had that ends with this; nil if none ends.
    mutating func removeFailing(_ subject: String) -> Int? {
      guard failing.remove(subject) != nil, failing.isEmpty else { return nil }
      defer { inRow = 0 }
      return inRow
    }
  }

  private let works = Mutex<[String: Work]>([:])
  private let report: @Sendable (Event) -> Void

  /// - Parameter report: called on the thread that notes the failure or the success.
  package init(report: @escaping @Sendable (Event) -> Void) {
    self.report = report
  }

  /// Failures since the start, by the name of the work. Announced work that never failed has 0.
  package var totals: [String: Int] { works.withLock { $0.mapValues(\.total) } }

  /// Makes the work appear in `totals` before its first failure.
  package func announce(_ work: String) {
    works.withLock { if $0[work] == nil { $0[work] = Work() } }
  }

  /// - Parameter subject: what the work was done on, such as a partition.
  package func noteFailure(of work: String, on subject: String, because cause: String) {
    let isFirst = works.withLock { $0[work, default: Work()].fail(subject) }
    if isFirst { report(.fails(work: work, subject: subject, cause: cause)) }
  }

  package func noteSuccess(of work: String, on subject: String) {
    let failures = works.withLock { $0[work]?.removeFailing(subject) }
    if let failures { report(.succeedsAgain(work: work, failures: failures)) }
  }

  /// Takes note that the work is no longer done on the subject, so that its row can end.
  package func giveUp(_ work: String, on subject: String) { noteSuccess(of: work, on: subject) }

  /// Does the work, and notes its failure or its success.
  /// - Returns: nil if it failed. A failure of a cancelled task is not noted.
  @discardableResult
  package func watch<Value>(
    _ work: String, on subject: String, _ body: () async throws -> Value
  ) async -> Value? {
    do {
      let value = try await body()
      noteSuccess(of: work, on: subject)
      return value
    } catch {
      if !Task.isCancelled { noteFailure(of: work, on: subject, because: "\(error)") }
      return nil
    }
  }
}
