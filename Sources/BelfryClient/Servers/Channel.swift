/// A channel of a server, as the broker describes it.
public struct Channel: Sendable, Hashable, Codable {
  public var channelId: EntityID
  public var serverId: EntityID
  public var name: String
  public var description: String?
  public var type: ChannelType
  public var membership: ChannelMembership
  /// When it was created, milliseconds since 1970.
  public var createTime: Int64
}

public enum ChannelType: String, Sendable, Codable, CaseIterable {
  case `public`, `private`
}

/// Who belongs to a channel: every member of its server, or whom its own roster lists.
public enum ChannelMembership: String, Sendable, Codable, CaseIterable {
  case everyone, roster
}

/// A channel to create.
public struct NewChannel: Sendable, Hashable, Codable {
  public var name: String
  public var description: String?
  public var type: ChannelType
  /// Nil leaves it to the broker: a public channel is everyone's, a private one has a roster.
  public var membership: ChannelMembership?
  /// The first members of a roster, beside whoever creates it.
  public var members: [AccountID]?

  public init(
    name: String, description: String? = nil, type: ChannelType = .public,
    membership: ChannelMembership? = nil, members: [AccountID]? = nil
  ) {
    self.name = name
    self.description = description
    self.type = type
    self.membership = membership
    self.members = members
  }
}
