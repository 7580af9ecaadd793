/// A server's settings.
package struct ServerRecord: Sendable, Hashable, Codable {
  package var name: String
  package var icon: String?
  package var ext: String?
  package var owner: AccountID
  package var createdAt: Int64
  package var inviteMode: InviteMode
  package var applyMode: ApplyMode
  package var defaultChannelId: EntityID
  /// When it was removed, milliseconds since 1970. Its log still drains to its members until retention;
  /// to every operation it is not there.
  package var removedAt: Int64?

  package init(name: String, owner: AccountID, createdAt: Int64, defaultChannelId: EntityID) {
    self.name = name
    self.owner = owner
    self.createdAt = createdAt
    self.defaultChannelId = defaultChannelId
    inviteMode = .needsConsent
    applyMode = .joinsAtOnce
  }
}

/// What becomes of an invitation.
public enum InviteMode: Int, Sendable, Codable, CaseIterable {
  case needsConsent = 0
  case joinsAtOnce = 1
}

/// What becomes of an application.
public enum ApplyMode: Int, Sendable, Codable, CaseIterable {
  case joinsAtOnce = 0
  case needsApproval = 1
}

/// A channel of a server.
package struct ChannelRecord: Sendable, Hashable, Codable {
  package enum Kind: String, Sendable, Codable, CaseIterable {
    case `public`, `private`
  }

  /// Who belongs: every member of the server, or whom the channel's own roster lists.
  package enum Membership: String, Sendable, Codable, CaseIterable {
    case everyone, roster
  }

  package var name: String
  package var description: String?
  package var type: Kind
  package var membership: Membership
  package var createdAt: Int64

  package init(name: String, type: Kind, membership: Membership, createdAt: Int64) {
    self.name = name
    self.type = type
    self.membership = membership
    self.createdAt = createdAt
  }

  package var hasRoster: Bool { membership == .roster }
}
