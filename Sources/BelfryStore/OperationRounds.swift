import BelfryModel

/// Operations on their way, round by round: what is decided of each, and what has come of it.
struct OperationRounds<Op: Operation> {
  let operations: [Op]
  /// Which of them are to be decided in this round.
  private(set) var open: [Int]
  /// What is to be committed in this round.
  private(set) var transactions: [Transaction] = []
  /// Of which operation each is, and what it gives.
  private var committing: [(index: Int, output: Op.Output)] = []
  private var results: [OperationRunner.Outcome<Op>?]

  init(_ operations: [Op]) {
    self.operations = operations
    open = Array(operations.indices)
    results = Array(repeating: nil, count: operations.count)
    transactions.reserveCapacity(operations.count)
    committing.reserveCapacity(operations.count)
  }

  /// Once there are no more rounds.
  var outcomes: [OperationRunner.Outcome<Op>] {
    operations.indices.map { index in
      let space = operations[index].space
      return results[index]
        ?? .failure(Refusal(.conflict, "others keep changing \(space); try again", retryAfterSeconds: 1))
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

  /// What could be decided at once was taken before what something had to be read for.
  mutating func putInOrder() {
    let order = committing.indices.sorted { committing[$0].index < committing[$1].index }
    transactions = order.map { transactions[$0] }
    committing = order.map { committing[$0] }
  }

  mutating func refuse(_ index: Int, _ refusal: Refusal) { results[index] = .failure(refusal) }

  /// What was refused was done before, or something else under its id.
  mutating func take(_ first: FirstSend, of index: Int, output: Op.Output) {
    switch first {
    case .unknown: break
    case .same(let id): results[index] = .success(OperationRunner.Done(output: output, duplicateOf: id))
    case .different: results[index] = .failure(.duplicateContent)
    }
  }

  /// What the store made of the transactions. Those in conflict are open for the next round.
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

  /// Nil: it has to begin anew.
  private func outcome(of place: Int, _ result: CommitResult) -> OperationRunner.Outcome<Op>? {
    let output = committing[place].output
    return switch result {
    case .success(.committed(let commit)): .success(OperationRunner.Done(output: output, commit: commit))
    case .success(.duplicate(let first)): .success(OperationRunner.Done(output: output, duplicateOf: first))
    case .success(.differentContent):
      .failure(.duplicateContent)
    case .success(.ceiling(let table)):
      .failure(Refusal(.tooMany, "no room left in \(table.name) of \(transactions[place].space)"))
    case .success(.mailboxFull): .failure(transactions[place].mailboxFull)
    case .success(.conflict): nil
    case .failure(let error): .failure(error.refusal)
    }
  }
}

extension Transaction {
  /// Of one on an account's own space.
  fileprivate var mailboxFull: Refusal {
    .mailboxFull(AccountID(space.name).map { [$0] } ?? [], field: announcements.isEmpty ? nil : "toAccids")
  }
}
