package import BelfryLoop
package import BelfryModel

/// Carries operations out: reads what they need, lets them decide, commits, and begins anew when a
/// record changed in between.
package struct OperationRunner {
  /// Under contention each round lets at least one writer through; someone who lost this often in a row
  /// is told to try again later rather than kept waiting.
  static let roundsLimit = 16

  package let store: any Store
  package let limits: Limits
  private let scope: LoopScope?
  private let recent = RecentRecords()

  /// - Parameter scope: where outboxes are relayed side by side; nil: one after the other.
  package init(store: any Store, limits: Limits, scope: LoopScope? = nil) {
    self.store = store
    self.limits = limits
    self.scope = scope
  }

  /// What an operation gave, and what was committed for it.
  package struct Done<Output: Sendable>: Sendable {
    package var output: Output
    /// Nil when there was nothing to change.
    package var commit: Commit?
    /// The id of the first send, when this one repeats it.
    package var duplicateOf: MessageID?
  }

  package typealias Outcome<Op: Operation> = Result<Done<Op.Output>, Refusal>

  package func run<Op: Operation>(_ operation: Op) async throws(Refusal) -> Done<Op.Output> {
    try await run([operation])[0].get()
  }

  /// Several operations, decided together and committed together. What becomes of one does not concern the
  /// others. Those in one partition are committed in their order, but for one that has to begin anew.
  package func run<Op: Operation>(_ operations: [Op]) async -> [Outcome<Op>] {
    var outcomes: [Outcome<Op>?] = Array(repeating: nil, count: operations.count)
    var open = Array(operations.indices)
    for round in 0..<Self.roundsLimit where !open.isEmpty {
      let decisions = await decide(open.map { operations[$0] }, isRecalling: round == 0)
      var committing: [(index: Int, output: Op.Output)] = []
      var transactions: [Transaction] = []
      for (index, decision) in zip(open, decisions) {
        do throws(Refusal) {
          let decision = try decision.get()
          if let transaction = decision.transaction {
            committing.append((index, decision.output))
            transactions.append(transaction)
          } else {
            outcomes[index] = .success(Done(output: decision.output))
          }
        } catch {
          outcomes[index] = .failure(error)
        }
      }
      let results = await commit(transactions)
      open = []
      for (place, result) in results.enumerated() {
        let (index, output) = committing[place]
        outcomes[index] = Done.outcome(output, transactions[place], result)
        if outcomes[index] == nil { open.append(index) }
      }
    }
    return outcomes.indices.map { index in
      let space = operations[index].space
      return outcomes[index]
        ?? .failure(Refusal(.conflict, "others keep changing \(space); try again", retryAfterSeconds: 1))
    }
  }

  private func commit(_ transactions: [Transaction]) async -> [CommitResult] {
    if transactions.isEmpty { return [] }
    let results = await store.commit(transactions)
    var relayed: [Partition] = []
    for (transaction, result) in zip(transactions, results) where transaction.hasRelays {
      let partition = transaction.space.partition
      if case .success(.committed) = result, !relayed.contains(partition) { relayed.append(partition) }
    }
    await relay(relayed)
    return results
  }

  /// Waiting for it lets the caller see its own change. Should it fail, the change is not lost: it stays in the
  /// outbox, and this or another broker relays it.
  private func relay(_ partitions: [Partition]) async {
    guard partitions.count > 1, let scope else {
      for partition in partitions { try? await store.relayOutbox(of: partition) }
      return
    }
    let store = store
    await scope.all(partitions.map { partition in { try? await store.relayOutbox(of: partition) } })
  }
}

extension OperationRunner.Done {
  /// Nil: it has to begin anew.
  fileprivate static func outcome(
    _ output: Output, _ transaction: Transaction, _ result: CommitResult
  ) -> Result<Self, Refusal>? {
    switch result {
    case .success(.committed(let commit)): .success(Self(output: output, commit: commit))
    case .success(.duplicate(let first)): .success(Self(output: output, duplicateOf: first))
    case .success(.differentContent):
      .failure(
        Refusal(
          .duplicateContent, "this messageClientId was used for another notification",
          field: "messageClientId"))
    case .success(.ceiling(let table)):
      .failure(Refusal(.tooMany, "no room left in \(table.name) of \(transaction.space)"))
    case .success(.conflict): nil
    case .failure(let error): .failure(error.refusal)
    }
  }
}

// MARK: - Deciding

extension OperationRunner {
  /// Reads what the operation needs, and lets it decide on that.
  package func decide<Op: Operation>(_ operation: Op) async throws(Refusal) -> Decision<Op.Output> {
    try await decide([operation], isRecalling: false)[0].get()
  }

  private func decide<Op: Operation>(
    _ operations: [Op], isRecalling: Bool
  ) async -> [Result<Decision<Op.Output>, Refusal>] {
    do throws(Refusal) {
      let now = try await nowMilliseconds()
      let recalled = isRecalling ? operations.map { decideRecalling($0, nowMilliseconds: now) } : []
      let missing = isRecalling ? recalled.indices.filter { recalled[$0] == nil } : Array(operations.indices)
      let records = try await read(missing.map { operations[$0] })
      var decisions: [Result<Decision<Op.Output>, Refusal>] = []
      for (index, operation) in operations.enumerated() {
        if isRecalling, let decision = recalled[index] {
          decisions.append(.success(decision))
          continue
        }
        do throws(Refusal) {
          decisions.append(.success(try await decide(operation, on: records, nowMilliseconds: now)))
        } catch {
          decisions.append(.failure(error))
        }
      }
      return decisions
    } catch {
      return operations.map { _ in .failure(error) }
    }
  }

  /// On the records as they were last read. Nil where they are not known, and where what they lead to is no
  /// transaction: only a commit can tell whether they are still so, so a refusal needs what is there now.
  private func decideRecalling<Op: Operation>(
    _ operation: Op, nowMilliseconds now: Int64
  ) -> Decision<Op.Output>? {
    guard operation.mayRecall, let records = recent.recall(operation.needs) else { return nil }
    let context = DecisionContext(nowMilliseconds: now, limits: limits)
    guard let decision = try? operation.decide(records, context: context), decision.transaction != nil else {
      return nil
    }
    return decision
  }

  /// - Parameter read: what it needs, and perhaps more.
  private func decide<Op: Operation>(
    _ operation: Op, on read: Records, nowMilliseconds now: Int64
  ) async throws(Refusal) -> Decision<Op.Output> {
    do {
      var records = read
      let further = operation.further(records)
      if !further.isEmpty { records.add(try await store.records(further)) }
      let tables = operation.counts
      let counts =
        tables.isEmpty ? [] : try await store.counts(tables.map { TableAddress(operation.space, $0) })
      let joiners = operation.joiners(records)
      let spaceCounts =
        joiners.isEmpty ? [] : try await store.spaceCounts(of: joiners, in: operation.space.kind)
      let context = DecisionContext(
        nowMilliseconds: now, counts: Dictionary(zip(tables, counts)) { first, _ in first },
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

  /// The records that the operations need, each once.
  private func read(_ operations: [some Operation]) async throws(Refusal) -> Records {
    var needs = operations.first?.needs ?? []
    if operations.count > 1 { needs = Array(Set(operations.flatMap(\.needs))) }
    if needs.isEmpty { return Records() }
    do throws(StoreError) {
      let records = try await store.records(needs)
      if operations.contains(where: \.mayRecall) { recent.remember(records) }
      return records
    } catch {
      throw error.refusal
    }
  }

  private func nowMilliseconds() async throws(Refusal) -> Int64 {
    do throws(StoreError) {
      return try await store.nowMilliseconds()
    } catch {
      throw error.refusal
    }
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
