/// An account changes its options. Nobody is notified.
package struct UpdateAccount: Operation {
  package var space: SpaceID
  package var account: AccountID
  package var actor: Actor
  /// Nil leaves it as it is.
  package var autoAcceptInvitation: Bool?
  package var mayWrite: AccountRecord.Circle?
  package var mayInvite: AccountRecord.Circle?
  package var mayAdd: AccountRecord.Circle?

  package init(_ account: AccountID, actor: Actor, autoAcceptInvitation: Bool? = nil) {
    space = .personal(account)
    self.account = account
    self.actor = actor
    self.autoAcceptInvitation = autoAcceptInvitation
  }

  package var needs: [RecordAddress] { [.settings(space)] }

  package func decide(
    _ records: Records, context: DecisionContext
  ) throws(Refusal) -> Decision<AccountRecord> {
    try actor.requireActing(for: account, to: "choose options")
    let before = try records.account(account)
    var options = before
    if let autoAcceptInvitation { options.autoAcceptInvitation = autoAcceptInvitation }
    options.mayWrite = mayWrite ?? before.mayWrite
    options.mayInvite = mayInvite ?? before.mayInvite
    options.mayAdd = mayAdd ?? before.mayAdd
    guard options != before else { return Decision(nil, before) }
    var transaction = Transaction(space)
    transaction.preconditions = records.unchanged(needs)
    transaction.changes[.settings(space)] = .some(try RecordJSON.text(options))
    return Decision(transaction, options)
  }
}

extension Actor {
  /// A user acts for themselves; a trusted caller for anybody.
  func requireActing(for other: AccountID, to what: String) throws(Refusal) {
    guard isTrusted || account == other else {
      throw Refusal(.forbidden, "only an app or operator token may \(what) for another account")
    }
  }
}
