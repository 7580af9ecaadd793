/// A server, as the broker describes it.
public struct Server: Sendable, Hashable, Codable {
  public var serverId: EntityID
  public var name: String
  public var owner: AccountID
  public var icon: String?
  public var ext: String?
  public var inviteMode: InviteMode
  public var applyMode: ApplyMode
  public var defaultChannelId: EntityID
  /// When it was created, milliseconds since 1970.
  public var createTime: Int64
  /// How many members it has; nil where a server is only mentioned, as in a notification's attachment.
  public var memberCount: Int?
}

/// What a server can be given. Nil: the default when creating, unchanged when updating; an empty icon or
/// ext is none.
public struct ServerSettings: Sendable, Hashable, Codable {
  public var name: String?
  public var icon: String?
  public var ext: String?
  public var inviteMode: InviteMode?
  public var applyMode: ApplyMode?

  public init(
    name: String? = nil, icon: String? = nil, ext: String? = nil, inviteMode: InviteMode? = nil,
    applyMode: ApplyMode? = nil
  ) {
    self.name = name
    self.icon = icon
    self.ext = ext
    self.inviteMode = inviteMode
    self.applyMode = applyMode
  }
}
