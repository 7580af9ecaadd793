import Synchronization

/// Counts the failures of work that no caller waits for, by the name of the work. Without it such a failure would be seen by
/// no one.
///
/// The first failure of a row is reported, and the end of the row. One name covers many subjects, such as the partitions
/// that are swept: the row ends when each subject that failed has succeeded or was given up. So one partition that fails
/// among many that succeed is reported once, and not in each round.
///
/// Nearly all work needs the store. While the store is away, all of it fails, and that is one row of all work together.
/// Regular work, which asks the store every few seconds, begins and ends that row. Failures of other work for this reason
/// are only counted: such work may be done once an hour, and would keep the row open for so long. Failures for other
/// reasons are reported meanwhile as always.
package final class WorkFailures: Sendable {
  package enum Event: Sendable, Hashable {
    /// The first failure of a row.
    case fails(work: String, subject: String, cause: String)
    /// The end of a row of so many failures.
    case succeedsAgain(work: String, failures: Int)
    /// The first failure of regular work because the store is away.
    case storeIsAway(work: String, cause: String)
    /// All regular work hears the store again. So many failures of all work were counted.
    case storeIsBack(failures: Int)
  }

  /// Subjects that fail, and the failures since the first of them failed.
  private struct Row {
    private var failures = 0
    private var failing: Set<String> = []

    var isOver: Bool { failing.isEmpty }

    /// Counts a failure of something that neither begins nor ends a row.
    mutating func count() { if !isOver { failures += 1 } }

    /// - Returns: true if a row begins.
    mutating func fail(_ subject: String) -> Bool {
      failures += 1
      let isFirst = failing.isEmpty
      failing.insert(subject)
      return isFirst
    }

    /// - Returns: the number of failures of the row that ends with this; nil if none ends.
    mutating func remove(_ subject: String) -> Int? {
      guard failing.remove(subject) != nil, failing.isEmpty else { return nil }
      defer { failures = 0 }
      return failures
    }
  }

  private struct Content {
    var totals: [String: Int] = [:]
    var rows: [String: Row] = [:]
    /// The row of all work that fails because the store is away.
    var absence = Row()

    /// Records that the work on the subject does not fail because of the store.
    /// - Returns: the number of failures of the absence that ends with this; nil if none ends.
    mutating func hearStore(_ work: String, _ subject: String) -> Int? {
      // This is called for each success. The name is made only while it is needed.
      absence.isOver ? nil : absence.remove(Self.name(work, subject))
    }

    mutating func missStore(_ work: String, _ subject: String) -> Bool {
      absence.fail(Self.name(work, subject))
    }

    /// The name of a subject among those of all work.
    private static func name(_ work: String, _ subject: String) -> String { "\(work) \(subject)" }
  }

  private let content = Mutex(Content())
  private let isStoreAway: @Sendable (any Error) -> Bool
  private let report: @Sendable (Event) -> Void

  /// - Parameters:
  ///   - isStoreAway: true if the error only says that the store did not answer.
  ///   - report: called on the thread that notes the failure or the success.
  package init(
    isStoreAway: @escaping @Sendable (any Error) -> Bool = { _ in false },
    report: @escaping @Sendable (Event) -> Void
  ) {
    self.isStoreAway = isStoreAway
    self.report = report
  }

  /// Failures since the start, by the name of the work. Announced work that never failed has 0.
  package var totals: [String: Int] { content.withLock(\.totals) }

  /// Makes the work appear in `totals` before its first failure.
  package func announce(_ work: String) { content.withLock { $0.totals[work, default: 0] += 0 } }

  /// - Parameters:
  ///   - subject: what the work was done on, such as a partition.
  ///   - isStoreAway: true if it failed because the store did not answer.
  ///   - isRegular: true if the work asks the store every few seconds.
  package func noteFailure(
    of work: String, on subject: String, because cause: String, isStoreAway: Bool = false,
    isRegular: Bool = false
  ) {
    let events: [Event] = content.withLock { content in
      content.totals[work, default: 0] += 1
      if isStoreAway {
        guard isRegular else {
          content.absence.count()
          return []
        }
        return content.missStore(work, subject) ? [.storeIsAway(work: work, cause: cause)] : []
      }
      let isFirst = content.rows[work, default: Row()].fail(subject)
      let absences = content.hearStore(work, subject)
      return (absences.map { [Event.storeIsBack(failures: $0)] } ?? [])
        + (isFirst ? [.fails(work: work, subject: subject, cause: cause)] : [])
    }
    for event in events { report(event) }
  }

  package func noteSuccess(of work: String, on subject: String) {
    let (failures, absences) = content.withLock { content in
      (content.rows[work]?.remove(subject), content.hearStore(work, subject))
    }
    if let failures { report(.succeedsAgain(work: work, failures: failures)) }
    if let absences { report(.storeIsBack(failures: absences)) }
  }

  /// Takes note that the work is no longer done on the subject, so that its row can end.
  package func giveUp(_ work: String, on subject: String) { noteSuccess(of: work, on: subject) }

  /// Does the work, and notes its failure or its success.
  /// - Parameter isRegular: true if the work asks the store every few seconds.
  /// - Returns: nil if it failed. A failure of a cancelled task is not noted.
  @discardableResult
  package func watch<Value>(
    _ work: String, on subject: String, isRegular: Bool = false, _ body: () async throws -> Value
  ) async -> Value? {
    do {
      let value = try await body()
      noteSuccess(of: work, on: subject)
      return value
    } catch {
      if !Task.isCancelled {
        noteFailure(
          of: work, on: subject, because: "\(error)", isStoreAway: isStoreAway(error), isRegular: isRegular)
      }
      return nil
    }
  }
}
