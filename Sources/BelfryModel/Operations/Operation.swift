/// A thing somebody may do to a space, as a pure function of the records it needs.
///
/// Whoever runs it reads the needs, lets it decide, and commits the transaction. If a record changed in
/// between, the commit is refused by the store and the whole is done again with what is there now; so an
/// operation never locks and never sees half of another.
package protocol Operation: Sendable {
  /// What the operation gives back to the caller when it is committed.
  associatedtype Output: Sendable = Void

  var space: SpaceID { get }
  /// The records it decides on.
  var needs: [RecordAddress] { get }
  /// The records it turns out to need once those are read: the inviter whom an invitation names.
  func further(_ records: Records) -> [RecordAddress]
  /// The tables whose size it decides on.
  var counts: [RecordTable] { get }
  /// The accounts that may join, of whom it must be known in how many spaces of this kind they are.
  var joiners: [AccountID] { get }
  /// The same, where only what was read says who: the applicant whom a request names.
  func joiners(_ records: Records) -> [AccountID]
  /// The mailboxes it adds to, beside the one it commits to.
  var mailboxes: MailboxQuestion? { get }
  /// Of whom it must be known whether they are somewhere together, as what was read says.
  func company(_ records: Records) -> CompanyQuestion?
  /// Whether it may decide on records as they were when they were last read, which saves reading them. Only
  /// for one whose transactions require every record of its needs to be unchanged, and which decides on
  /// nothing else: a decision on what is no longer so is then refused by the commit.
  var mayRecall: Bool { get }
  /// What tells whether it was done before, for one that is done once however often it is asked for. Then what
  /// it gave is given again, also when by now it would be refused.
  var repetition: Repetition<Output>? { get }
  func decide(_ records: Records, context: DecisionContext) throws(Refusal) -> Decision<Output>
}

extension Operation {
  package func further(_ records: Records) -> [RecordAddress] { [] }
  package var counts: [RecordTable] { [] }
  package var joiners: [AccountID] { [] }
  package func joiners(_ records: Records) -> [AccountID] { joiners }
  package var mailboxes: MailboxQuestion? { nil }
  package func company(_ records: Records) -> CompanyQuestion? { nil }
  package var mayRecall: Bool { false }
  package var repetition: Repetition<Output>? { nil }
}

/// In how many spaces of a kind an account is.
package struct SpaceCount: Sendable, Hashable {
  package var current: Int
  /// With those that it has left within retention: its feed reads these, too.
  package var known: Int

  package init(current: Int, known: Int) {
    self.current = current
    self.known = known
  }
}

/// What an operation may know beside the records.
package struct DecisionContext: Sendable {
  /// Milliseconds since 1970, for what people read (`createdAt`). Order and intervals never come from
  /// here but from ids.
  package var nowMilliseconds: Int64
  package var counts: [RecordTable: Int]
  package var spacesOfJoiners: [AccountID: SpaceCount]
  package var mailboxes: [AccountID: MailboxLevel]
  /// Of the accounts asked for, those that share a space with who asks.
  package var company: Set<AccountID>
  /// Nothing older than this is left to see.
  package var retentionFloor: MessageID
  package var limits: Limits

  package init(
    nowMilliseconds: Int64, counts: [RecordTable: Int] = [:], spacesOfJoiners: [AccountID: SpaceCount] = [:],
    mailboxes: [AccountID: MailboxLevel] = [:], company: Set<AccountID> = [], limits: Limits
  ) {
    self.nowMilliseconds = nowMilliseconds
    self.counts = counts
    self.spacesOfJoiners = spacesOfJoiners
    self.mailboxes = mailboxes
    self.company = company
    self.limits = limits
    retentionFloor = limits.retentionFloor(nowMilliseconds: nowMilliseconds)
  }
}

/// A transaction to commit, and what to answer once it is.
package struct Decision<Output: Sendable>: Sendable {
  /// Nil when all is already as asked: nothing to write, the answer holds.
  package var transaction: Transaction?
  package var output: Output

  package init(_ transaction: Transaction?, _ output: Output) {
    self.transaction = transaction
    self.output = output
  }
}

extension Decision where Output == Void {
  package init(_ transaction: Transaction?) { self.init(transaction, ()) }
}

/// Who acts.
package struct Actor: Sendable, Hashable {
  /// Nil when a trusted back end acts in nobody's name.
  package var account: AccountID?
  package var device: DeviceID?
  /// An app or operator token: may do everything, on behalf of any account.
  package var isTrusted: Bool

  package init(account: AccountID?, device: DeviceID? = nil, isTrusted: Bool = false) {
    self.account = account
    self.device = device
    self.isTrusted = isTrusted
  }
}
