/// An account's options: the settings of its personal space. An account that has changed none has no record.
package struct AccountRecord: Sendable, Hashable {
  /// The other accounts that may do something to an account. Accounts that it has blocked never may.
  package enum Circle: String, Sendable, Hashable, Codable, CaseIterable {
    case everybody
    /// Accounts that share a server or a group with it.
    case sharedSpace
    case nobody
  }

  /// An invitation into a group is accepted at once.
  package var autoAcceptInvitation = false
  /// The accounts that may send to it directly.
  package var mayWrite = Circle.everybody
  /// The accounts that may invite it into servers, channels and groups.
  package var mayInvite = Circle.everybody
  /// Those of the inviting accounts that may add it at once, if the server or the group asks no consent. It
  /// is asked about the invitations of the others.
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

  /// A record may lack options that were added later.
  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    autoAcceptInvitation = try fields.decodeIfPresent(Bool.self, forKey: .autoAcceptInvitation) ?? false
    mayWrite = try fields.decodeIfPresent(Circle.self, forKey: .mayWrite) ?? .everybody
    mayInvite = try fields.decodeIfPresent(Circle.self, forKey: .mayInvite) ?? .everybody
    mayAdd = try fields.decodeIfPresent(Circle.self, forKey: .mayAdd) ?? .everybody
  }
}

extension Records {
  /// The account's options; the defaults if it has changed none.
  package func account(_ account: AccountID) throws(Refusal) -> AccountRecord {
    try json(AccountRecord.self, .settings(.personal(account))) ?? AccountRecord()
  }
}
