// What an account lets others do to it without being asked: its options, and the accounts it has blocked. To whom it does
// not concern the two look alike. Trusted back ends are not bound by them.

/// What one account does to another.
package enum Approach: Sendable, CaseIterable {
  /// Sends to it directly.
  case write
  /// Asks it into a server or a group.
  case invite
  /// Puts it there at once.
  case add
}

/// Which of these accounts are in a server or a group together with one that approaches them.
package struct CompanyQuestion: Sendable, Hashable {
  package var account: AccountID
  package var others: [AccountID]
}

extension RecordAddress {
  /// Since when the account is blocked by another one, milliseconds since 1970.
  package static func blocked(_ account: AccountID, by other: AccountID) -> Self {
    .banned(account, from: .personal(other))
  }
}

extension Actor {
  /// What is to be read of accounts to know what they let this one do.
  func needs(toApproach accounts: [AccountID]) -> [RecordAddress] {
    guard !isTrusted, let account else { return [] }
    return accounts.flatMap { other -> [RecordAddress] in
      other == account ? [] : [.settings(.personal(other)), .blocked(account, by: other)]
    }
  }

  /// Those of the accounts of whom it matters whether they share a space with this one.
  func company(
    for approaches: [Approach], among accounts: [AccountID], _ records: Records
  ) -> CompanyQuestion? {
    guard !isTrusted, let account else { return nil }
    let others = accounts.filter { other in
      guard other != account, let options = try? records.account(other) else { return false }
      return approaches.contains { options.circle(for: $0) == .sharedSpace }
    }
    return others.isEmpty ? nil : CompanyQuestion(account: account, others: others)
  }
}

extension Draft {
  /// Whether the account may be put into the space without being asked. Others fill only half of the places that it has
  /// to be somewhere: the rest is left for where it goes by its own will. Those that it has left count, too: whoever is
  /// put in and out again, over and over, has each of these spaces in its feed for as long as retention.
  func mayBePutIn(_ account: AccountID) throws(Refusal) -> Bool {
    if actor.isTrusted { return true }
    guard context.spacesOfJoiners[account]?.known ?? 0 < limits.forcedSpacesPerAccount(Record.kind) else {
      return false
    }
    return try records.lets(actor, .add, account, context)
  }
}

extension Records {
  /// Needs ``Actor/needs(toApproach:)`` and ``Actor/company(for:among:_:)``.
  func lets(
    _ actor: Actor, _ approach: Approach, _ other: AccountID, _ context: DecisionContext
  ) throws(Refusal) -> Bool {
    if actor.isTrusted || actor.account == other { return true }
    guard let account = actor.account, text(.blocked(account, by: other)) == nil else { return false }
    return switch try self.account(other).circle(for: approach) {
    case .everybody: true
    case .sharedSpace: context.company.contains(other)
    case .nobody: false
    }
  }

  /// All of them, or nothing is done.
  func requireAll(
    of accounts: [AccountID], toLet actor: Actor, _ approach: Approach, _ context: DecisionContext,
    field: String?
  ) throws(Refusal) {
    var unwilling: [AccountID] = []
    for account in accounts where try !lets(actor, approach, account, context) { unwilling.append(account) }
    guard !unwilling.isEmpty else { return }
    let names = unwilling.map(\.text).joined(separator: ", ")
    let what = approach == .write ? "notifications" : "invitations"
    throw Refusal(.blocked, "\(names) takes no \(what) from you; nothing was sent", field: field)
  }
}
