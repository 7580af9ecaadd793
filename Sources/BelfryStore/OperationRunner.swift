package import BelfryModel

/// Carries operations out: reads what they need, lets them decide, commits, and begins anew when a
/// record changed in between.
package struct OperationRunner {
  /// Under contention each round lets at least one writer through; someone who lost this often in a row
  /// is told to try again later rather than kept waiting.
  static let roundsLimit = 16

  package let store: any Store
  package let limits: Limits
  private let recent = RecentRecords()

  package init(store: any Store, limits: Limits) {
    self.store = store
    self.limits = limits
  }

  /// What an operation gave, and what was committed for it.
  package struct Done<Output: Sendable>: Sendable {
    package var output: Output
    /// Nil when there was nothing to change.
    package var commit: Commit?
    /// The id of the first send, when this one repeats it.
    package var duplicateOf: MessageID?
  }

  package func run<Op: Operation>(_ operation: Op) async throws(Refusal) -> Done<Op.Output> {
    for round in 0..<Self.roundsLimit {
      let recalled = round == 0 ? try await decideRecalling(operation) : nil
      let decision = if let recalled { recalled } else { try await decide(operation) }
      guard let transaction = decision.transaction else { return Done(output: decision.output) }
      switch try await commit(transaction) {
      case .committed(let commit):
        return Done(output: decision.output, commit: commit)
      case .duplicate(let first):
        return Done(output: decision.output, duplicateOf: first)
      case .differentContent:
        throw Refusal(
          .duplicateContent, "this messageClientId was used for another notification",
          field: "messageClientId")
      case .ceiling(let table):
        throw Refusal(.tooMany, "no room left in \(table.name) of \(transaction.space)")
      case .conflict:
        continue
      }
    }
    throw Refusal(.conflict, "others keep changing \(operation.space); try again", retryAfterSeconds: 1)
  }

  /// On the records as they were last read. Nil where they are not known, and where what they lead to is no
  /// transaction: only a commit can tell whether they are still so, so a refusal needs what is there now.
  private func decideRecalling<Op: Operation>(
    _ operation: Op
  ) async throws(Refusal) -> Decision<Op.Output>? {
    guard operation.mayRecall, let records = recent.recall(operation.needs) else { return nil }
    let now: Int64
    do {
      now = try await store.nowMilliseconds()
    } catch {
      throw error.refusal
    }
    let context = DecisionContext(nowMilliseconds: now, limits: limits)
    guard let decision = try? operation.decide(records, context: context), decision.transaction != nil else {
      return nil
    }
    return decision
  }

  /// Reads what the operation needs, and lets it decide on that.
  package func decide<Op: Operation>(_ operation: Op) async throws(Refusal) -> Decision<Op.Output> {
    do {
      var records = try await store.records(operation.needs)
      let further = operation.further(records)
      if operation.mayRecall { recent.remember(records) }
      if !further.isEmpty { records.add(try await store.records(further)) }
      let tables = operation.counts
      let counts =
        tables.isEmpty ? [] : try await store.counts(tables.map { TableAddress(operation.space, $0) })
      let joiners = operation.joiners(records)
      let spaceCounts =
        joiners.isEmpty ? [] : try await store.spaceCounts(of: joiners, in: operation.space.kind)
      let context = DecisionContext(
        nowMilliseconds: try await store.nowMilliseconds(),
        counts: Dictionary(zip(tables, counts)) { first, _ in first },
        spacesOfJoiners: Dictionary(zip(joiners, spaceCounts)) { first, _ in first }, limits: limits)
      return try operation.decide(records, context: context)
    } catch let error as StoreError {
      throw error.refusal
    } catch let refusal as Refusal {
      throw refusal
    } catch {
      throw Refusal(.unavailable, "\(error)")
    }
  }

  private func commit(_ transaction: Transaction) async throws(Refusal) -> CommitOutcome {
    let outcome: CommitOutcome
    do {
      outcome = try await store.commit(transaction)
    } catch {
      throw error.refusal
    }
    if case .committed = outcome, transaction.hasRelays {
      // Waiting for the relay lets the caller see its own change. Should it fail, the change is not lost:
      // it stays in the outbox, and this or another broker relays it.
      try? await store.relayOutbox(of: transaction.space.partition)
    }
    return outcome
  }
}

/// Records that sends decided on lately, as they were then.
private final class RecentRecords {
  /// A few for each place that is written to and each of its senders; at most some kilobytes each, mostly a
  /// hundred bytes.
  static let countMax = 8_192

  private var texts = RecentValues<RecordAddress, String?>(countMax: countMax)

  /// Nil unless all are known.
  func recall(_ addresses: [RecordAddress]) -> Records? {
    var found: [RecordAddress: String?] = [:]
    for address in addresses {
      guard let text = texts.use(address) else { return nil }
      found.updateValue(text, forKey: address)
    }
    return Records(found)
  }

  func remember(_ records: Records) {
    for (address, text) in records.texts { texts.remember(text, as: address) }
  }
}

extension StoreError {
  package var refusal: Refusal {
    switch code {
    case .unavailable:
      Refusal(.unavailable, "the store cannot be reached; try again", retryAfterSeconds: 1)
    case .corrupt: Refusal(.unavailable, "stored data is unreadable: \(detail)")
    case .badCursor: .invalid("cursor", "was not given by this server")
    }
  }
}
