/// Takes back a stored notification: nobody is shown it any more, and devices that were shown it are told.
/// Its sender may do so at any time, without a right to send there, since a recall says nothing to anybody.
/// Trusted callers may do so as well.
///
/// Only custom notifications are their senders' own. An account that carried an operation out cannot take
/// back its notifications: removed accounts would not learn that they were removed.
package struct RecallNotification: Operation {
  package var space: SpaceID
  package var entry: LogEntry
  package var actor: Actor

  /// - Parameter entry: the entry in the log. It was read before, which is safe since entries never change.
  package init(_ entry: LogEntry, in space: SpaceID, by actor: Actor) {
    self.space = space
    self.entry = entry
    self.actor = actor
  }

  package var needs: [RecordAddress] {
    [address]
      + (space.hasRoster ? actor.account.map { [.member($0, of: space), .former($0, of: space)] } ?? [] : [])
  }

  private var address: RecordAddress { .update(entry.id, in: space) }

  package func decide(_ records: Records, context: DecisionContext) throws(Refusal) -> Decision<Void> {
    let earlier = try records.json(UpdateRecord.self, address)
    let sender = earlier?.recall.map(\.sender) ?? NotificationContent(json: entry.content)?.recaller
    if !actor.isTrusted { try checkActor(isSender: actor.account != nil && actor.account == sender, records) }
    guard earlier?.recall == nil else { return Decision(nil) }
    let record = UpdateRecord(
      UpdateRecord.Recall(by: actor.account, sender: sender),
      atMilliseconds: max(context.nowMilliseconds, earlier?.updateTime ?? entry.time))
    var transaction = Transaction(space)
    transaction.preconditions = records.unchanged([address])
    transaction.changes[address] = try record.text(in: space)
    // The update needs no room in a mailbox: a full mailbox must not keep an entry that its sender takes
    // back, and there is one update for each entry.
    transaction.updates = [
      Update(
        of: entry.id, atMilliseconds: record.updateTime, nil, to: entry.audience,
        instead: earlier?.announcement)
    ]
    return Decision(transaction)
  }

  private func checkActor(isSender: Bool, _ records: Records) throws(Refusal) {
    if isSender { return }
    guard let account = actor.account, try entry.isSent(to: account, in: space, records) else {
      throw .noNotification(entry.id)
    }
    throw Refusal(.forbidden, "you can recall only custom notifications that you sent")
  }
}

extension NotificationContent {
  /// The account that may recall it, in addition to trusted callers.
  fileprivate var recaller: AccountID? { type == Catalogue.custom.code ? fromAccount : nil }
}
