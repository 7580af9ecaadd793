// The acts of others that an account allows without being asked, by its options and by the accounts that it
// has blocked. A refusal does not say which of the two it was. Trusted callers are not bound by them.

/// An act of one account towards another.
package enum Approach: Sendable, CaseIterable {
  /// Sends to the other account directly.
  case write
  /// Invites it into a server or a group.
  case invite
  /// Adds it to one without asking.
  case add
}

/// Asks which of `others` are in a server or a group together with `account`.
package struct CompanyQuestion: Sendable, Hashable {
  package var account: AccountID
  package var others: [AccountID]
}

extension RecordAddress {
  /// The record that the account is blocked by another one, and since when, milliseconds since 1970.
  package static func blocked(_ account: AccountID, by other: AccountID) -> Self {
    .banned(account, from: .personal(other))
  }
}

extension Actor {
  /// The records that say if these accounts allow the actor's act.
  func needs(toApproach accounts: [AccountID]) -> [RecordAddress] {
    guard !isTrusted, let account else { return [] }
    return accounts.flatMap { other -> [RecordAddress] in
      other == account ? [] : [.settings(.personal(other)), .blocked(account, by: other)]
    }
  }

  /// The question which of the accounts share a space with the actor, as far as their options depend on it; nil if none
  /// do.
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
  /// True if the account may be added to the space without being asked. Others may use half of the number of
  /// spaces that an account can be in; the rest is for spaces that it joins by itself. Spaces that it has
  /// left count too, since each remains in its feed until retention. So adding and removing it again and
  /// again is bounded.
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

  /// - Throws: `blocked`, naming the accounts that do not let the actor.
  func requireAll(
    of accounts: [AccountID], toLet actor: Actor, _ approach: Approach, _ context: DecisionContext,
    field: String?
  ) throws(Refusal) {
    var unwilling: [AccountID] = []
    for account in accounts where try !lets(actor, approach, account, context) { unwilling.append(account) }
    guard !unwilling.isEmpty else { return }
    let names = unwilling.map(\.text).joined(separator: ", ")
    let what = approach == .write ? "notifications" : "invitations"
    let verb = unwilling.count == 1 ? "does not accept" : "do not accept"
    throw Refusal(.blocked, "\(names) \(verb) \(what) from you; nothing was done", field: field)
  }
}
