/// A server, as the broker describes it.
///
/// ```swift
/// let server = try await client.server(server)
/// print(server.name, "has \(server.memberCount ?? 0) members")
/// ```
public struct Server: Sendable, Hashable, Codable {
  /// The id of the server.
  public var serverId: EntityID
  /// The name of the server.
  public var name: String
  /// The account that owns the server.
  public var owner: AccountID
  /// A picture, usually as a URL. Nil if there is none.
  public var icon: String?
  /// Text for the programs of the members. Nil if there is none.
  public var ext: String?
  /// Says if invited accounts must consent.
  public var inviteMode: InviteMode
  /// Says if applications need approval.
  public var applyMode: ApplyMode
  /// The channel that every member is in and that nobody can leave.
  public var defaultChannelId: EntityID
  /// When it was created, in milliseconds since 1970.
  public var createTime: Int64
  /// How many members it has. Nil if the server is only mentioned, as in the attachment of a notification.
  public var memberCount: Int?
  /// True if it has more members than the subscription threshold. Notifications for all members then reach only those that
  /// have subscribed. Nil if it has not, and if the server is only mentioned.
  public var needsSubscription: Bool?
}

/// The settings of a server, to create it or to change it.
///
/// ```swift
/// let server = try await client.createServer(ServerSettings(name: "Bell ringers"))
/// let renamed = try await client.updateServer(server.serverId, ServerSettings(name: "Ringers"))
/// ```
///
/// A setting that is nil has its default in a new server, and stays as it is when a server is changed. An empty icon or ext
/// removes it.
public struct ServerSettings: Sendable, Hashable, Codable {
  /// The name, 1 to 128 characters. A new server needs one.
  public var name: String?
  /// A picture, usually as a URL, at most 1 KiB.
  public var icon: String?
  /// Text for the programs of the members, at most 4 KiB.
  public var ext: String?
  /// Says if invited accounts must consent. In a new server they must by default.
  public var inviteMode: InviteMode?
  /// Says if applications need approval. In a new server they need none by default.
  public var applyMode: ApplyMode?

  /// Makes settings. Nothing is sent yet.
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
