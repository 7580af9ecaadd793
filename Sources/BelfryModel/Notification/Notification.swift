/// One notification as everybody outside sees it: what was sent, and the id and time Belfry gave it.
public struct Notification: Sendable, Hashable {
  public var messageServerId: MessageID
  /// When it was appended, milliseconds since 1970.
  public var time: Int64
  /// When it was last updated; nil if never.
  public var updateTime: Int64?
  public var content: NotificationContent

  public init(
    messageServerId: MessageID, time: Int64, updateTime: Int64? = nil, content: NotificationContent
  ) {
    self.messageServerId = messageServerId
    self.time = time
    self.updateTime = updateTime
    self.content = content
  }
}

/// Whom a notification addresses: the `toType` of the wire.
public enum ToType: Int, Sendable, Codable, CaseIterable {
  case server = 1
  case channel = 2
  case serverMembers = 3
  case channelMembers = 4
  case accounts = 5
  case group = 6
  case groupMembers = 7
  case room = 8
  case roomMembers = 9
}

/// Everything about a notification that is known before it is appended. A log holds this, as JSON. The id is the entry's own,
/// and so is the time, unless ids are ahead of the clock.
public struct NotificationContent: Sendable, Hashable, Codable {
  public var messageClientId: String?
  public var serverId: EntityID?
  public var channelId: EntityID?
  public var groupId: EntityID?
  public var roomId: EntityID?
  public var toType: ToType
  public var toAccids: [AccountID]?
  public var fromAccount: AccountID?
  public var fromNick: String?
  public var fromClientType: ClientType?
  public var fromDeviceId: DeviceID?
  public var type: Int
  public var body: String?
  public var ext: String?
  public var attach: JSONValue?
  public var status: Int
  public var pushPayload: JSONValue?
  public var pushContent: String?
  public var setting: NotificationSetting
  public var env: String?
  /// From then on nobody is shown it any more, milliseconds since 1970; nil: as long as notifications are kept.
  public var expireAt: Int64?
  public var callbackExt: String?
  /// When it was appended, milliseconds since 1970, in the content of an entry whose id is ahead of the clock. Nil of all
  /// others: their ids say it, and before the append nobody knows.
  package var appendedAt: Int64?

  public init(type: Int, toType: ToType) {
    self.type = type
    self.toType = toType
    status = 0
    setting = NotificationSetting()
  }
}

/// How a notification is kept and pushed.
public struct NotificationSetting: Sendable, Hashable, Codable {
  /// False: live consumers only, never stored.
  public var persistEnable = true
  public var pushEnable = false
  public var needBadge = true
  public var needPushNick = true
  public var routeEnable = true

  public init() {}
}
