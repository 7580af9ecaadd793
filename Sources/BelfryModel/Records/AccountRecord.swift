/// An account's options: the settings of its own space. An account that never chose has no record.
package struct AccountRecord: Sendable, Hashable, Codable {
  /// Whoever invites it into a group has it there at once.
  package var autoAcceptInvitation = false

  package init() {}
}

extension Records {
  /// The account's options, or what they are until it chooses.
  package func account(_ account: AccountID) throws(Refusal) -> AccountRecord {
    try json(AccountRecord.self, .settings(.personal(account))) ?? AccountRecord()
  }
}
