/// An account's options: the settings of its own space. An account that never chose has no record.
package struct AccountRecord: Sendable, Hashable {
  /// Of whom an account takes something. Never of whom it has blocked.
  package enum Circle: String, Sendable, Hashable, Codable, CaseIterable {
    case everybody
    /// Those in a server or a group that it is in, too.
    case sharedSpace
    case nobody
  }

  /// Whoever invites it into a group has it there at once.
  package var autoAcceptInvitation = false
  /// Who may send to it directly.
  package var mayWrite = Circle.everybody
  /// Who may ask it into servers and groups.
  package var mayInvite = Circle.everybody
  /// Who of these may put it there at once, where the server or the group asks nobody; it is asked by the others.
  package var mayAdd = Circle.everybody

  package init() {}

  package func circle(for approach: Approach) -> Circle {
    switch approach {
    case .write: mayWrite
    case .invite: mayInvite
    case .add: mayAdd
    }
  }
}

extension AccountRecord: Codable {
  private enum CodingKeys: CodingKey { case autoAcceptInvitation, mayWrite, mayInvite, mayAdd }

  /// A record of an earlier time says nothing of some options.
  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    autoAcceptInvitation = try fields.decodeIfPresent(Bool.self, forKey: .autoAcceptInvitation) ?? false
    mayWrite = try fields.decodeIfPresent(Circle.self, forKey: .mayWrite) ?? .everybody
    mayInvite = try fields.decodeIfPresent(Circle.self, forKey: .mayInvite) ?? .everybody
    mayAdd = try fields.decodeIfPresent(Circle.self, forKey: .mayAdd) ?? .everybody
  }
}

extension Records {
  /// The account's options, or what they are until it chooses.
  package func account(_ account: AccountID) throws(Refusal) -> AccountRecord {
    try json(AccountRecord.self, .settings(.personal(account))) ?? AccountRecord()
  }
}
