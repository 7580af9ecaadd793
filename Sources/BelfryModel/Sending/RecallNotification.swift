/// Takes back a stored notification: nobody is shown it any more, and the devices that were are told. Its sender may, at
/// any time and without a right to send there, since it says nothing to anybody; and trusted callers.
///
/// Only custom notifications are their senders' own. What an operation has told cannot be taken back by whoever carried
/// the operation out: the removed would not learn that they were.
package struct RecallNotification: Operation {
  package var space: SpaceID
  package var entry: LogEntry
  package var actor: Actor

  /// - Parameter entry: as the log has it. It was read before, which is safe since entries never change.
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
    // Without room in a mailbox: a full one must not keep what its sender takes back, and there is one for each entry.
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
    throw Refusal(.forbidden, "only the sender may recall a notification, and only a custom one")
  }
}

extension NotificationContent {
  /// Who may recall it beside trusted callers.
  fileprivate var recaller: AccountID? { type == Catalogue.custom.code ? fromAccount : nil }
}
