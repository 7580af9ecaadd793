/// A custom notification to send, in the wire's names.
///
/// What is given of the ids and `toAccids` says whom it is for: a server, a channel of it, named members of
/// either, or accounts that need to share nothing.
public struct NewNotification: Sendable, Hashable, Codable {
  /// Sent twice with the same id it is sent once. Given one by the client where it is nil.
  public var messageClientId: String?
  public var serverId: EntityID?
  public var channelId: EntityID?
  public var groupId: EntityID?
  public var roomId: EntityID?
  public var toAccids: [AccountID]?
  /// Who it is from, when a trusted caller sends in somebody's name.
  public var fromAccount: AccountID?
  public var fromNick: String?
  public var fromClientType: ClientType?
  public var body: String?
  /// JSON by custom; any text is accepted.
  public var ext: String?
  public var attach: JSONValue?
  /// 0, or more than 10,000.
  public var status: Int?
  /// A JSON object.
  public var pushPayload: JSONValue?
  public var pushContent: String?
  public var setting: NotificationSetting?
  public var env: String?
  /// From then on nobody is shown it any more, milliseconds since 1970.
  public var expireAt: Int64?

  public init(
    serverId: EntityID? = nil, channelId: EntityID? = nil, groupId: EntityID? = nil, roomId: EntityID? = nil,
    toAccids: [AccountID]? = nil, body: String? = nil
  ) {
    self.serverId = serverId
    self.channelId = channelId
    self.groupId = groupId
    self.roomId = roomId
    self.toAccids = toAccids
    self.body = body
  }
}

/// What the broker says of a send.
public struct SendReceipt: Sendable, Hashable, Codable {
  public var messageServerId: MessageID
  public var messageClientId: String?
  /// When it was appended, milliseconds since 1970.
  public var time: Int64
  /// It had been sent before, and nobody receives it again. Possibly by this very call, whose first answer
  /// was lost.
  public var duplicate: Bool
}
