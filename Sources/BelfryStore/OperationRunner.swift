package import BelfryLoop
package import BelfryModel

/// Carries operations out. It reads the records that they need, lets them decide, and commits. If a record
/// changed in between, it begins again.
package struct OperationRunner {
  /// Under contention each round lets at least one writer through. A caller that lost this often in a row is
  /// told to try again later rather than kept waiting.
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

  /// The output of an operation, and its commit.
  package struct Done<Output: Sendable>: Sendable {
    package var output: Output
    /// Nil if there was nothing to change.
    package var commit: Commit?
    /// The id of the first send, if this one repeats it.
    package var duplicateOf: MessageID?
    /// As in ``Commit/appendedAt``, of the commit or of the first send.
    package var appendedAt: Int64?

    package init(
      output: Output, commit: Commit? = nil, duplicateOf: MessageID? = nil, appendedAt: Int64? = nil
    ) {
      self.output = output
      self.commit = commit
      self.duplicateOf = duplicateOf
      self.appendedAt = commit?.appendedAt ?? appendedAt
    }
  }

  package typealias Outcome<Op: Operation> = Result<Done<Op.Output>, Refusal>

  package func run<Op: Operation>(_ operation: Op) async throws(Refusal) -> Done<Op.Output> {
    try await run([operation])[0].get()
  }

  /// Decides several operations together and commits them together. The outcome of one does not affect the others.
  /// Operations of one partition are committed in their order, except for those that have to be decided again.
  @specialized(where Op == SendNotification)
  package func run<Op: Operation>(_ operations: [Op]) async -> [Outcome<Op>] {
    var rounds = OperationRounds(operations)
    for round in 0..<Self.roundsLimit where !rounds.open.isEmpty {
      await decide(&rounds, usesCached: round == 0)
      rounds.finish(await commit(rounds.transactions))
    }
    return rounds.outcomes
  }

  /// Commits the decision, and nothing else.
  /// - Returns: nil if a record that it relies on has changed meanwhile. Nothing was done then.
  package func commit<Op: Operation>(
    _ decision: Decision<Op.Output>, of operation: Op
  ) async throws(Refusal) -> Done<Op.Output>? {
    var rounds = OperationRounds([operation])
    rounds.take(decision, of: 0)
    rounds.finish(await commit(rounds.transactions))
    guard rounds.open.isEmpty else { return nil }
    return try rounds.outcomes[0].get()
  }

  private func commit(_ transactions: [Transaction]) async -> [CommitResult] {
    if transactions.isEmpty { return [] }
    let results = await store.commit(transactions)
    var relayed: [Partition] = []
    for (transaction, result) in zip(transactions, results) {
      guard case .success(.committed) = result, store.partitions.reachBeyondTheirOwn(transaction) else {
        continue
      }
      let partition = store.partitions.holding(transaction.space)
      if !relayed.contains(partition) { relayed.append(partition) }
    }
    await relay(relayed)
    return results
  }

  /// Relays before the caller is answered, so that the caller sees its own change. Should that fail, the items stay in the
  /// outbox, and this or another broker relays them later.
  private func relay(_ partitions: [Partition]) async {
    guard partitions.count > 1, let scope else {
      for partition in partitions { try? await store.relayOutbox(of: partition) }
      return
    }
    let store = store
    await scope.all(partitions.map { partition in { try? await store.relayOutbox(of: partition) } })
  }
}

// MARK: - Deciding

extension OperationRunner {
  /// Reads the records that the operation needs, and lets it decide on them.
  package func decide<Op: Operation>(_ operation: Op) async throws(Refusal) -> Decision<Op.Output> {
    let now = try await nowMilliseconds()
    return try await decide(operation, on: try await read([operation]), nowMilliseconds: now)
  }

  private func decide<Op: Operation>(_ rounds: inout OperationRounds<Op>, usesCached: Bool) async {
    // The operations that are not decided yet.
    var missing = rounds.open
    do throws(Refusal) {
      let now = try await nowMilliseconds()
      if usesCached { missing = decideOnCached(&rounds, nowMilliseconds: now) }
      if missing.isEmpty { return }
      let records = try await read(missing.map { rounds.operations[$0] })
      var refused: [Int] = []
      for index in missing {
        do throws(Refusal) {
          let operation = rounds.operations[index]
          rounds.take(try await decide(operation, on: records, nowMilliseconds: now), of: index)
        } catch {
          rounds.refuse(index, error)
          if error.code != .unavailable { refused.append(index) }
        }
      }
      if missing.count < rounds.open.count { rounds.putInOrder() }
      await findFirst(of: refused, in: &rounds)
    } catch {
      for index in missing { rounds.refuse(index, error) }
    }
  }

  /// Decides on the records as they were last read.
  /// - Returns: the operations that need a new reading: their records are not known, or led to no
  ///   transaction. Only a commit checks cached records, so a refusal must not rest on them.
  private func decideOnCached<Op: Operation>(
    _ rounds: inout OperationRounds<Op>, nowMilliseconds now: Int64
  ) -> [Int] {
    let context = DecisionContext(nowMilliseconds: now, limits: limits)
    var missing: [Int] = []
    // Most operations of a batch need the same records.
    var last: (needs: [RecordAddress], records: Records)?
    for index in rounds.open {
      let operation = rounds.operations[index]
      guard operation.mayUseCached else {
        missing.append(index)
        continue
      }
      let needs = operation.needs
      if last?.needs != needs { last = recent.cached(needs).map { (needs, $0) } }
      if let last, last.needs == needs, let decision = try? operation.decide(last.records, context: context),
        decision.transaction != nil
      {
        rounds.take(decision, of: index)
      } else {
        missing.append(index)
      }
    }
    return missing
  }

  /// For an operation that is refused now and was done before, gives the first outcome again: a caller that repeats it has
  /// not received that outcome, and the refusal would claim that nothing was done.
  private func findFirst<Op: Operation>(of refused: [Int], in rounds: inout OperationRounds<Op>) async {
    let asked = refused.compactMap { index in
      rounds.operations[index].repetition.map { (index: index, repetition: $0) }
    }
    if asked.isEmpty { return }
    do throws(StoreError) {
      let found = try await store.firstSends(of: asked.map(\.repetition.send))
      for (first, asked) in zip(found, asked) {
        rounds.take(first, of: asked.index, output: asked.repetition.output)
      }
    } catch {
      for (index, _) in asked { rounds.refuse(index, error.refusal) }
    }
  }

  /// - Parameter read: the records that the operation needs, and perhaps more.
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
      await repairIndexes(of: joiners, in: operation.space, records)
      let spaceCounts =
        joiners.isEmpty ? [] : try await store.spaceCounts(of: joiners, in: operation.space.kind)
      let mailboxes = try await mailboxes(operation.mailboxes)
      let company = try await company(operation.company(records))
      let context = DecisionContext(
        nowMilliseconds: now, counts: Dictionary(zip(tables, counts)) { first, _ in first },
        spacesOfJoiners: Dictionary(zip(joiners, spaceCounts)) { first, _ in first }, mailboxes: mailboxes,
        company: company, limits: limits)
      return try operation.decide(records, context: context)
    } catch let error as StoreError {
      throw error.refusal
    } catch let refusal as Refusal {
      throw refusal
    } catch {
      throw Refusal(.unavailable, "\(error)")
    }
  }

  /// Restores forgotten spaces in indexes. An account that is to join and is a member already may have asked
  /// for it because it receives nothing: its index may have forgotten the space. This does not apply to
  /// rooms, in which entering again is a heartbeat. If an index cannot be told now, the operation goes on all
  /// the same, and the sweep repairs it later.
  private func repairIndexes(of joiners: [AccountID], in space: SpaceID, _ records: Records) async {
    if space.kind == .room { return }
    let members = joiners.filter { (records.texts[.member($0, of: space)] ?? nil) != nil }
    if !members.isEmpty { try? await store.repairIndexes(of: members, in: space) }
  }

  private func mailboxes(
    _ question: MailboxQuestion?
  ) async throws(StoreError) -> [AccountID: MailboxLevel] {
    guard let question, !question.accounts.isEmpty else { return [:] }
    let levels = try await store.mailboxes(of: question.accounts, writtenToBy: question.sender)
    return Dictionary(zip(question.accounts, levels)) { first, _ in first }
  }

  private func company(_ question: CompanyQuestion?) async throws -> Set<AccountID> {
    guard let question else { return [] }
    let own = try await store.index(of: question.account)
      .filter { $0.isMember && ($0.space.kind == .server || $0.space.kind == .group) }.map(\.space)
    guard own.count * question.others.count <= Limits.spacesPerCompanyQuestion else {
      throw Refusal(
        .tooLarge,
        "some of the named accounts accept this only from members of their servers and groups. That is too much to check at "
          + "once; name fewer accounts"
      )
    }
    let shared = try await store.areMembers(question.others, in: own)
    return Set(zip(question.others, shared).filter { $0.1 }.map(\.0))
  }

  /// The records that the operations need, each once.
  private func read(_ operations: [some Operation]) async throws(Refusal) -> Records {
    var needs = operations.first?.needs ?? []
    if operations.count > 1 { needs = Array(Set(operations.flatMap(\.needs))) }
    if needs.isEmpty { return Records() }
    do throws(StoreError) {
      let records = try await store.records(needs)
      if operations.contains(where: \.mayUseCached) { recent.remember(records) }
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

extension StoreError {
  package var refusal: Refusal {
    if mayBeDone { return code == .accessRefused ? .halfwayForWantOfARight : .unknownOutcome }
    return switch code {
    case .unavailable:
      Refusal(.unavailable, "Redis cannot be reached; try again", retryAfterSeconds: 1)
    case .diskFull:
      Refusal(
        .unavailable,
        "Redis refuses writes because it cannot save to its disk: \(detail). Nothing was done; try again later",
        retryAfterSeconds: 5)
    case .memoryFull:
      Refusal(
        .unavailable, "Redis's memory is full (maxmemory). Nothing was done; try again later",
        retryAfterSeconds: 5)
    case .accessRefused:
      Refusal(
        .unavailable,
        "Redis does not allow this broker's user a command that it needs (NOPERM). Tell the operator of the broker, who can give that user more rights in Redis",
        retryAfterSeconds: 5)
    case .incomplete:
      Refusal(
        .unavailable,
        "a part of the keyspace is missing in Redis. Nothing was done; see the broker's log",
        retryAfterSeconds: 5)
    case .corrupt:
      Refusal(.unavailable, "stored data cannot be read: \(detail). Tell the operator of the broker")
    case .badCursor:
      .invalid("cursor", "is not valid, or Redis has restarted since: begin again without a cursor")
    }
  }
}
