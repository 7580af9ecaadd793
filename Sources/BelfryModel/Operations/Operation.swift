/// An act of an actor on a space, as a pure function of the records that it needs.
///
/// `OperationRunner` reads the needs, lets the operation decide, and commits the transaction. If a record
/// changed in between, the store refuses the commit and the operation decides again on the present records.
/// So an operation never locks and never sees half of another.
package protocol Operation: Sendable {
  /// The caller gets this value when the operation is committed.
  associatedtype Output: Sendable = Void

  var space: SpaceID { get }
  /// The records it decides on.
  var needs: [RecordAddress] { get }
  /// Further records that the needs name, such as that of the inviter whom an invitation names.
  func further(_ records: Records) -> [RecordAddress]
  /// The tables whose size it decides on.
  var counts: [RecordTable] { get }
  /// The accounts that may join. For these the number of their spaces of this kind is needed.
  var joiners: [AccountID] { get }
  /// Further accounts that may join, named by the records, such as the applicant whom a request names.
  func joiners(_ records: Records) -> [AccountID]
  /// The mailboxes that it adds to, in addition to that of the space that it commits to.
  var mailboxes: MailboxQuestion? { get }
  /// The question which accounts share a space with the actor, if the decision depends on it.
  func company(_ records: Records) -> CompanyQuestion?
  /// True if it may decide on records as they were last read, which saves reading them. That is only right
  /// for an operation whose transactions have all of its needs as preconditions, and which decides on nothing
  /// else: the commit then refuses a decision on outdated records.
  var mayUseCached: Bool { get }
  /// The facts by which a repetition of the operation is recognised, if it is to be done only once. A
  /// repetition gets the first outcome, even if it would be refused now.
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
  package var mayUseCached: Bool { false }
  package var repetition: Repetition<Output>? { nil }
}

/// The number of spaces of a kind that an account is in.
package struct SpaceCount: Sendable, Hashable {
  package var current: Int
  /// The number with the spaces that it has left within retention: its feed reads these, too.
  package var known: Int

  package init(current: Int, known: Int) {
    self.current = current
    self.known = known
  }
}

/// The facts that an operation decides on in addition to the records.
package struct DecisionContext: Sendable {
  /// Milliseconds since 1970, for what people read (`createdAt`) and for what expires. Order and intervals are by
  /// ids.
  package var nowMilliseconds: Int64
  package var counts: [RecordTable: Int]
  package var spacesOfJoiners: [AccountID: SpaceCount]
  package var mailboxes: [AccountID: MailboxLevel]
  /// Those of the accounts asked about that share a space with the actor.
  package var company: Set<AccountID>
  /// Entries before this id are beyond retention.
  package var retentionFloor: MessageID
  package var limits: Limits
  /// Losses of entries before this id are told to nobody any more.
  package var forgottenFloor: MessageID { limits.forgottenFloor(nowMilliseconds: nowMilliseconds) }

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

/// A transaction to commit, and the output once it is committed.
package struct Decision<Output: Sendable>: Sendable {
  /// Nil if nothing has to change: the output holds without a commit.
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

/// The caller that carries an operation out.
package struct Actor: Sendable, Hashable {
  /// Nil if a trusted caller acts in nobody's name.
  package var account: AccountID?
  package var device: DeviceID?
  /// A trusted caller, by an app or operator token or a back end's key: may do everything, on behalf of any account.
  package var isTrusted: Bool

  package init(account: AccountID?, device: DeviceID? = nil, isTrusted: Bool = false) {
    self.account = account
    self.device = device
    self.isTrusted = isTrusted
  }
}
