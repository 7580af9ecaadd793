// The unread entries of one account alone: those of its personal space, and direct messages. Anybody may
// write there, so the mailbox is bounded. An entry that would cross the bound is refused: no unread entry
// ever gives way to a new one.

/// The level of a mailbox.
package struct MailboxLevel: Sendable, Hashable {
  /// The entries of the personal space; entries that were read are deleted.
  package var entries: Int
  package var directMessages: Int
  /// The entries of both kinds that the sender in question has written since the account last marked an entry
  /// as read.
  package var fromSender: Int

  package init(entries: Int = 0, directMessages: Int = 0, fromSender: Int = 0) {
    self.entries = entries
    self.directMessages = directMessages
    self.fromSender = fromSender
  }
}

/// The level up to which an actor may fill a mailbox.
package struct MailboxCapacity: Sendable, Hashable {
  package var entries: Int
  package var directMessages: Int
  /// Nil: a trusted caller, which no share binds.
  package var sender: AccountID?
  package var perSender: Int

  package func takesEntry(_ level: MailboxLevel) -> Bool { level.entries < entries && hasShare(level) }
  package func takesDirectMessage(_ level: MailboxLevel) -> Bool {
    level.directMessages < directMessages && hasShare(level)
  }
  private func hasShare(_ level: MailboxLevel) -> Bool { sender == nil || level.fromSender < perSender }
}

/// The mailboxes that an operation adds to, and the sender whose share is used.
package struct MailboxQuestion: Sendable, Hashable {
  package var accounts: [AccountID]
  /// Nil: a trusted caller.
  package var sender: AccountID?

  package init(_ accounts: [AccountID], from actor: Actor) {
    self.accounts = accounts
    sender = actor.charged
  }
}

extension Limits {
  /// The last quarter is kept for trusted callers, so that users cannot keep their notifications out.
  package func mailboxCapacity(for actor: Actor) -> MailboxCapacity {
    func part(_ most: Int) -> Int { actor.isTrusted ? most : most - most / 4 }
    return MailboxCapacity(
      entries: part(notificationsPerMailbox), directMessages: part(directMessagesPerMailbox),
      sender: actor.charged,
      perSender: unreadPerSender)
  }
}

extension Actor {
  /// The account whose rate and whose share of mailboxes are used; nil for a trusted caller.
  package var charged: AccountID? { isTrusted ? nil : account }
}

extension DecisionContext {
  /// - Throws: `mailboxFull`, naming the accounts whose mailboxes are full.
  func requireCapacity(
    in accounts: [AccountID], for actor: Actor, field: String,
    _ takes: (MailboxCapacity, MailboxLevel) -> Bool
  ) throws(Refusal) {
    let capacity = limits.mailboxCapacity(for: actor)
    let full = accounts.filter { !takes(capacity, mailboxes[$0] ?? MailboxLevel()) }
    if !full.isEmpty { throw .mailboxFull(full, field: field) }
  }
}

extension Refusal {
  package static func mailboxFull(_ accounts: [AccountID], field: String?) -> Refusal {
    let names = accounts.map(\.text).joined(separator: ", ")
    return Refusal(
      .mailboxFull,
      "nothing was sent, because these accounts have full mailboxes: \(names). Leave them out, or try again when they have read some",
      field: field)
  }
}
