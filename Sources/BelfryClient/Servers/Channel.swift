/// A channel of a server, as the broker describes it.
///
/// ```swift
/// let channel = try await client.channel(channel, of: server)
/// print(channel.name, channel.type == .private ? "is private" : "is public")
/// ```
public struct Channel: Sendable, Hashable, Codable {
  /// The id of the channel.
  public var channelId: EntityID
  /// The server that the channel is in.
  public var serverId: EntityID
  /// The name of the channel.
  public var name: String
  /// The text that says what the channel is for. Nil if there is none.
  public var description: String?
  /// Says who may know of the channel.
  public var type: ChannelType
  /// Says who belongs to the channel.
  public var membership: ChannelMembership
  /// When it was created, in milliseconds since 1970.
  public var createTime: Int64
}

/// Says who may know of a channel.
///
/// ```swift
/// let secret = NewChannel(name: "committee", type: .private, members: [alice, bob])
/// ```
public enum ChannelType: String, Sendable, Codable, CaseIterable {
  /// Every member of the server may know of it.
  case `public`
  /// Only accounts that belong to it or that are on its allow list may know of it, and the server's owner and admins.
  case `private`
}

/// Says who belongs to a channel.
///
/// ```swift
/// let ringers = NewChannel(name: "ringers", type: .public, membership: .roster)
/// ```
public enum ChannelMembership: String, Sendable, Codable, CaseIterable {
  /// Every member of the server.
  case everyone
  /// The members that the channel's own roster lists.
  case roster
}

/// A channel to create.
///
/// ```swift
/// let news = try await client.createChannel(
///   NewChannel(name: "announcements", description: "From the tower captain"), in: server)
/// ```
public struct NewChannel: Sendable, Hashable, Codable {
  /// The name, 1 to 128 characters.
  public var name: String
  /// The text that says what the channel is for, at most 1,024 characters.
  public var description: String?
  /// Says who may know of the channel.
  public var type: ChannelType
  /// Says who belongs to the channel. Nil leaves it to the broker: everyone belongs to a public channel, and a private one
  /// has a roster.
  public var membership: ChannelMembership?
  /// The first members of the roster, in addition to the account that creates the channel. At most 1,000.
  public var members: [AccountID]?

  /// Makes the description of a channel. Nothing is sent before
  /// ``BelfryClient/createChannel(_:in:)``.
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
