/// A custom notification to send. The properties have the names of the HTTP interface.
///
/// ```swift
/// var notification = NewNotification(
///   serverId: server, channelId: channel, body: "The bells are being cleaned on Friday.")
/// notification.messageClientId = "cleaning-2026-11"
/// notification.attach = ["tower": "north", "bells": 8]
/// let receipt = try await client.send(notification)
/// ```
///
/// The ids and `toAccids` say who receives it:
///
/// | given | receivers |
/// |---|---|
/// | `serverId` | the members of the server |
/// | `serverId`, `channelId` | the members of the channel |
/// | `groupId` | the members of the group |
/// | `roomId` | the attendees of the room |
/// | one of these, and `toAccids` | these members of the place |
/// | `toAccids` alone | these accounts, also if they share no space |
///
/// A property that is nil is not sent.
public struct NewNotification: Sendable, Hashable, Codable {
  /// The sender's own id of the notification, at most 128 bytes. A second send with the same id is not delivered again.
  /// If it is nil, ``BelfryClient/send(_:)`` makes one.
  public var messageClientId: String?
  /// The server that it is for, or that the channel is in.
  public var serverId: EntityID?
  /// The channel that it is for. Needs `serverId`.
  public var channelId: EntityID?
  /// The group that it is for.
  public var groupId: EntityID?
  /// The room that it is for.
  public var roomId: EntityID?
  /// The accounts that it is for, 1 to 500, each once.
  public var toAccids: [AccountID]?
  /// The account that it is from. Only trusted callers may name another account than their own.
  public var fromAccount: AccountID?
  /// The name of the sender for people, at most 64 characters. If it is nil, receivers in a server see the nick of the
  /// sender's profile there, if it has one.
  public var fromNick: String?
  /// The kind of client that it is sent from.
  public var fromClientType: ClientType?
  /// The text, at most 4 KiB.
  public var body: String?
  /// Further text for the receivers' programs, at most 4 KiB. It is usually JSON, but any text is accepted.
  public var ext: String?
  /// Further data for the receivers' programs: any JSON, at most 4 KiB.
  public var attach: JSONValue?
  /// A number with a meaning of the sender's own: 0, or more than 10,000. Nil means 0.
  public var status: Int?
  /// Data for push services: a JSON object of at most 2 KiB.
  public var pushPayload: JSONValue?
  /// The text that a push shows, at most 500 characters.
  public var pushContent: String?
  /// How it is stored and pushed. Nil means the defaults of ``NotificationSetting``.
  public var setting: NotificationSetting?
  /// A word that selects the configuration of callbacks and routing, at most 64 bytes.
  public var env: String?
  /// When it expires, in milliseconds since 1970 and in the future. From then on nobody is shown it. Nil means that it does
  /// not expire before retention ends.
  public var expireAt: Int64?

  /// Makes a notification. Set the other properties afterwards. Nothing is sent before
  /// ``BelfryClient/send(_:)``.
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

/// The broker's answer to a send.
///
/// ```swift
/// let receipt = try await client.send(NewNotification(toAccids: [bob], body: "Bring gloves."))
/// print(receipt.messageServerId, receipt.duplicate ? "was sent before" : "is new")
/// ```
public struct SendReceipt: Sendable, Hashable, Codable {
  /// The id that Belfry gave to the notification. For a duplicate it is the id of the first send.
  public var messageServerId: MessageID
  /// The sender's own id of the notification.
  public var messageClientId: String?
  /// When it was sent, in milliseconds since 1970.
  public var time: Int64
  /// True if it had been sent before. Nobody receives it again. The first send may be an earlier try of the same call, whose
  /// answer was lost.
  public var duplicate: Bool
}
