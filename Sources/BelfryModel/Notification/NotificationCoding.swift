// The wire's names of a notification's fields. One list serves what a log holds, what a consumer
// receives, and what the client library reads.

extension EntityID: Codable {
  public init(from decoder: any Decoder) throws {
    self = try decoder.id("a positive decimal id", Self.init(_:), Self.init(_:))
  }
  public func encode(to encoder: any Encoder) throws { try text.encode(to: encoder) }
}

extension MessageID: Codable {
  public init(from decoder: any Decoder) throws {
    self = try decoder.id("a decimal message id", Self.init(_:), Self.init(_:))
  }
  public func encode(to encoder: any Encoder) throws { try text.encode(to: encoder) }
}

extension AccountID: Codable {
  public init(from decoder: any Decoder) throws {
    self = try decoder.name("1 to \(Self.lengthLimitBytes) characters of A-Z a-z 0-9 _ . @ -", Self.init(_:))
  }
  public func encode(to encoder: any Encoder) throws { try text.encode(to: encoder) }
}

extension DeviceID: Codable {
  public init(from decoder: any Decoder) throws {
    self = try decoder.name("1 to \(Self.lengthLimitBytes) characters of A-Z a-z 0-9 _ . @ -", Self.init(_:))
  }
  public func encode(to encoder: any Encoder) throws { try text.encode(to: encoder) }
}

extension Decoder {
  /// An id: a decimal string, or the number itself, since some callers' JSON writers know no better.
  fileprivate func id<ID>(_ expected: String, _ read: (String) -> ID?, _ convert: (Int64) -> ID?) throws -> ID
  {
    let container = try singleValueContainer()
    let value: ID?
    if let text = try? container.decode(String.self) {
      value = read(text)
    } else {
      value = convert(try container.decode(Int64.self))
    }
    return try value ?? { throw DecodingError.expected(expected, in: container) }()
  }

  fileprivate func name<ID>(_ expected: String, _ read: (String) -> ID?) throws -> ID {
    let container = try singleValueContainer()
    let value = read(try container.decode(String.self))
    return try value ?? { throw DecodingError.expected(expected, in: container) }()
  }
}

extension DecodingError {
  fileprivate static func expected(_ what: String, in container: any SingleValueDecodingContainer)
    -> DecodingError
  {
    .dataCorrupted(Context(codingPath: container.codingPath, debugDescription: "must be \(what)"))
  }
}

extension NotificationContent {
  package enum CodingKeys: String, CodingKey, CaseIterable {
    case messageClientId, serverId, channelId, groupId, roomId, toType, toAccids, fromAccount, fromNick,
      fromClientType, fromDeviceId, type, body, ext, attach, status, pushPayload, pushContent, setting, env,
      expireAt, callbackExt
  }

  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      type: try fields.decode(Int.self, forKey: .type),
      toType: try fields.decode(ToType.self, forKey: .toType))
    messageClientId = try fields.decodeIfPresent(String.self, forKey: .messageClientId)
    serverId = try fields.decodeIfPresent(EntityID.self, forKey: .serverId)
    channelId = try fields.decodeIfPresent(EntityID.self, forKey: .channelId)
    groupId = try fields.decodeIfPresent(EntityID.self, forKey: .groupId)
    roomId = try fields.decodeIfPresent(EntityID.self, forKey: .roomId)
    toAccids = try fields.decodeIfPresent([AccountID].self, forKey: .toAccids)
    fromAccount = try fields.decodeIfPresent(AccountID.self, forKey: .fromAccount)
    fromNick = try fields.decodeIfPresent(String.self, forKey: .fromNick)
    fromClientType = try fields.decodeIfPresent(ClientType.self, forKey: .fromClientType)
    fromDeviceId = try fields.decodeIfPresent(DeviceID.self, forKey: .fromDeviceId)
    body = try fields.decodeIfPresent(String.self, forKey: .body)
    ext = try fields.decodeIfPresent(String.self, forKey: .ext)
    attach = try fields.decodeIfPresent(JSONValue.self, forKey: .attach)
    status = try fields.decodeIfPresent(Int.self, forKey: .status) ?? 0
    pushPayload = try fields.decodeIfPresent(JSONValue.self, forKey: .pushPayload)
    pushContent = try fields.decodeIfPresent(String.self, forKey: .pushContent)
    setting = try fields.decodeIfPresent(NotificationSetting.self, forKey: .setting) ?? NotificationSetting()
    env = try fields.decodeIfPresent(String.self, forKey: .env)
    expireAt = try fields.decodeIfPresent(Int64.self, forKey: .expireAt)
    callbackExt = try fields.decodeIfPresent(String.self, forKey: .callbackExt)
  }
}

extension NotificationSetting {
  package enum CodingKeys: String, CodingKey, CaseIterable {
    case persistEnable, pushEnable, needBadge, needPushNick, routeEnable
  }

  /// A flag left out has its default, so a caller names only what differs.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    persistEnable = try fields.decodeIfPresent(Bool.self, forKey: .persistEnable) ?? persistEnable
    pushEnable = try fields.decodeIfPresent(Bool.self, forKey: .pushEnable) ?? pushEnable
    needBadge = try fields.decodeIfPresent(Bool.self, forKey: .needBadge) ?? needBadge
    needPushNick = try fields.decodeIfPresent(Bool.self, forKey: .needPushNick) ?? needPushNick
    routeEnable = try fields.decodeIfPresent(Bool.self, forKey: .routeEnable) ?? routeEnable
  }
}

extension Notification: Codable {
  private enum CodingKeys: String, CodingKey { case messageServerId, time, updateTime }

  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      messageServerId: try fields.decode(MessageID.self, forKey: .messageServerId),
      time: try fields.decode(Int64.self, forKey: .time),
      updateTime: try fields.decodeIfPresent(Int64.self, forKey: .updateTime),
      content: try NotificationContent(from: decoder))
  }

  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(messageServerId, forKey: .messageServerId)
    try fields.encode(time, forKey: .time)
    try fields.encodeIfPresent(updateTime, forKey: .updateTime)
    try content.encode(to: encoder)
  }
}
