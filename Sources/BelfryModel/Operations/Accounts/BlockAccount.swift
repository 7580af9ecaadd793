/// An account blocks another one, or no longer. A blocked account can neither send to it directly nor invite it; nothing
/// changes in spaces that both are in. Nobody is notified.
package struct BlockAccount: Operation {
  package var space: SpaceID
  package var account: AccountID
  package var blocked: AccountID
  package var actor: Actor
  package var isBlocked: Bool

  package init(_ blocked: AccountID, by account: AccountID, actor: Actor, isBlocked: Bool) {
    space = .personal(account)
    self.account = account
    self.blocked = blocked
    self.actor = actor
    self.isBlocked = isBlocked
  }

  private var record: RecordAddress { .blocked(blocked, by: account) }
  package var needs: [RecordAddress] { [record] }
  package var counts: [RecordTable] { [.banned] }

  package func decide(_ records: Records, context: DecisionContext) throws(Refusal) -> Decision<Void> {
    try actor.requireActing(for: account, to: "block accounts")
    guard blocked != account else { throw .invalid("accid", "must not name the account itself") }
    guard (records.text(record) != nil) != isBlocked else { return Decision(nil) }
    let most = Limits.blockedPerAccount
    guard !isBlocked || context.counts[.banned, default: 0] < most else {
      throw Refusal(
        .tooMany, "\(account) has already blocked \(most) accounts, which is the limit; unblock one first")
    }
    var transaction = Transaction(space)
    transaction.preconditions = records.unchanged(needs)
    if isBlocked { transaction.ceilings[.banned] = most }
    transaction.changes[record] = .some(isBlocked ? "\(context.nowMilliseconds)" : nil)
    return Decision(transaction)
  }
}
