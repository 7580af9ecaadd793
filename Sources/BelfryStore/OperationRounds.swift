import BelfryModel

/// Several operations decided and committed together, round by round, and the outcome of each.
struct OperationRounds<Op: Operation> {
  let operations: [Op]
  /// The indices of the operations to decide in this round.
  private(set) var open: [Int]
  /// The transactions to commit in this round.
  private(set) var transactions: [Transaction] = []
  /// For each transaction the index of its operation, and the operation's output.
  private var committing: [(index: Int, output: Op.Output)] = []
  private var results: [OperationRunner.Outcome<Op>?]

  init(_ operations: [Op]) {
    self.operations = operations
    open = Array(operations.indices)
    results = Array(repeating: nil, count: operations.count)
    transactions.reserveCapacity(operations.count)
    committing.reserveCapacity(operations.count)
  }

  /// The outcomes, after the last round.
  var outcomes: [OperationRunner.Outcome<Op>] {
    operations.indices.map { index in
      let space = operations[index].space
      return results[index]
        ?? .failure(
          Refusal(
            .conflict, "\(space) is being changed by too many requests; try again", retryAfterSeconds: 1))
    }
  }

  mutating func take(_ decision: consuming Decision<Op.Output>, of index: Int) {
    guard let transaction = decision.transaction else {
      results[index] = .success(OperationRunner.Done(output: decision.output))
      return
    }
    transactions.append(transaction)
    committing.append((index, decision.output))
  }

  /// Restores the order of the operations: those decided on recalled records were taken before those that were read for.
  mutating func putInOrder() {
    let order = committing.indices.sorted { committing[$0].index < committing[$1].index }
    transactions = order.map { transactions[$0] }
    committing = order.map { committing[$0] }
  }

  mutating func refuse(_ index: Int, _ refusal: Refusal) { results[index] = .failure(refusal) }

  /// Takes the first send of an operation that was refused now.
  mutating func take(_ first: FirstSend, of index: Int, output: Op.Output) {
    switch first {
    case .unknown: break
    case .same(let id, let appendedAt):
      results[index] = .success(
        OperationRunner.Done(output: output, duplicateOf: id, appendedAt: appendedAt))
    case .different: results[index] = .failure(.duplicateContent)
    }
  }

  /// Takes the results of the commits. Operations in conflict are open for the next round.
  mutating func finish(_ commits: [CommitResult]) {
    open = []
    for (place, result) in commits.enumerated() {
      let index = committing[place].index
      results[index] = outcome(of: place, result)
      if results[index] == nil { open.append(index) }
    }
    transactions.removeAll(keepingCapacity: true)
    committing.removeAll(keepingCapacity: true)
  }

  /// Nil on a conflict: the operation has to be decided again.
  private func outcome(of place: Int, _ result: CommitResult) -> OperationRunner.Outcome<Op>? {
    let output = committing[place].output
    return switch result {
    case .success(.committed(let commit)): .success(OperationRunner.Done(output: output, commit: commit))
    case .success(.duplicate(let first, let appendedAt)):
      .success(OperationRunner.Done(output: output, duplicateOf: first, appendedAt: appendedAt))
    case .success(.differentContent):
      .failure(.duplicateContent)
    case .success(.ceiling(let table)):
      .failure(.noRoom(in: table, of: transactions[place].space))
    case .success(.mailboxFull): .failure(transactions[place].mailboxFull)
    case .success(.conflict): nil
    case .failure(let error): .failure(error.refusal)
    }
  }
}

extension Transaction {
  /// The refusal of a send to a personal space that is full.
  fileprivate var mailboxFull: Refusal {
    .mailboxFull(AccountID(space.name).map { [$0] } ?? [], field: announcements.isEmpty ? nil : "toAccids")
  }
}
