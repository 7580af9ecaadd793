/// One notification as its receivers see it: its content, and the id and the time that Belfry gave it.
///
/// ```swift
/// for notification in try await client.unread().notifications {
///   print(notification.content.fromAccount?.text ?? "-", notification.content.body ?? "")
/// }
/// ```
public struct Notification: Sendable, Hashable {
  /// The id that Belfry gave to the notification.
  public var messageServerId: MessageID
  /// When it was sent, in milliseconds since 1970.
  public var time: Int64
  /// When it was last updated, in milliseconds since 1970. Nil if never.
  public var updateTime: Int64?
  /// The content: the receivers, the sender, the text and all else.
  public var content: NotificationContent

  /// Makes a notification, for example in tests.
  public init(
    messageServerId: MessageID, time: Int64, updateTime: Int64? = nil, content: NotificationContent
  ) {
    self.messageServerId = messageServerId
    self.time = time
    self.updateTime = updateTime
    self.content = content
  }
}

/// The kind of receivers that a notification has: `toType` in the HTTP interface.
///
/// ```swift
/// if notification.content.toType == .accounts { print("it names its receivers") }
/// ```
public enum ToType: Int, Sendable, Codable, CaseIterable {
  /// The members of a server.
  case server = 1
  /// The members of a channel.
  case channel = 2
  /// Named members of a server.
  case serverMembers = 3
  /// Named members of a channel.
  case channelMembers = 4
  /// Named accounts, which need to share no space.
  case accounts = 5
  /// The members of a group.
  case group = 6
  /// Named members of a group.
  case groupMembers = 7
  /// The attendees of a room.
  case room = 8
  /// Named attendees of a room.
  case roomMembers = 9
}

// A log holds this as JSON. The entry's own id is the id, and also the time, unless ids are ahead of the clock.
/// The content of a notification: everything about it that is known before it is stored.
///
/// ```swift
/// let content = notification.content
/// switch content.type {
/// case 100: print(content.fromNick ?? content.fromAccount?.text ?? "-", "says", content.body ?? "")
/// case 6: print("server \(content.serverId?.text ?? "") was removed")
/// default: break
/// }
/// ```
public struct NotificationContent: Sendable, Hashable, Codable {
  /// The sender's own id of the notification.
  public var messageClientId: String?
  /// The server that it is for, or that the channel is in.
  public var serverId: EntityID?
  /// The channel that it is for.
  public var channelId: EntityID?
  /// The group that it is for.
  public var groupId: EntityID?
  /// The room that it is for.
  public var roomId: EntityID?
  /// The kind of receivers.
  public var toType: ToType
  /// The accounts that it names as receivers.
  public var toAccids: [AccountID]?
  /// The account that sent it. Nil if a trusted caller sent it in nobody's name.
  public var fromAccount: AccountID?
  /// The name of the sender for people.
  public var fromNick: String?
  /// The kind of client that it was sent from.
  public var fromClientType: ClientType?
  /// The device that it was sent from.
  public var fromDeviceId: DeviceID?
  /// The code of its type: 100 for a custom notification, another one for an event. docs/notification-types.md lists them.
  public var type: Int
  /// The text.
  public var body: String?
  /// Further text for the receivers' programs.
  public var ext: String?
  /// The details of an event, or further data that the sender attached.
  public var attach: JSONValue?
  /// A number with a meaning of the sender's own.
  public var status: Int
  /// Data for push services: a JSON object.
  public var pushPayload: JSONValue?
  /// The text that a push shows.
  public var pushContent: String?
  /// How it is stored and pushed.
  public var setting: NotificationSetting
  /// A word that selects the configuration of callbacks and routing.
  public var env: String?
  /// When it expires, in milliseconds since 1970. From then on nobody is shown it. Nil means that it is shown as long as
  /// notifications are stored.
  public var expireAt: Int64?
  /// Text that a callback of the deployment added.
  public var callbackExt: String?
  /// When it was appended, in milliseconds since 1970, if the entry's id is ahead of the clock. Nil for all other entries,
  /// whose ids say it, and before the append, when it is not known.
  package var appendedAt: Int64?

  /// Makes the content of a notification, for example in tests.
  public init(type: Int, toType: ToType) {
    self.type = type
    self.toType = toType
    status = 0
    setting = NotificationSetting()
  }
}

/// How a notification is stored and pushed.
///
/// ```swift
/// var typing = NewNotification(toAccids: [bob], body: "typing")
/// typing.setting = NotificationSetting()
/// typing.setting?.persistEnable = false
/// ```
public struct NotificationSetting: Sendable, Hashable, Codable {
  /// True if it is stored until it is read. If it is false, only devices that are connected receive it.
  public var persistEnable = true
  /// True if accounts that are not connected get it as a push.
  public var pushEnable = false
  /// True if it counts in the number on an app's icon.
  public var needBadge = true
  /// True if a push names the sender.
  public var needPushNick = true
  /// True if webhooks get a copy of it.
  public var routeEnable = true

  /// Makes the settings that apply if a sender gives none.
  public init() {}
}
