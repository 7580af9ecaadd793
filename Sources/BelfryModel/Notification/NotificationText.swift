extension NotificationContent {
  /// The content as the log holds it: JSON, names in order but for the time, which comes first, without what is absent, so
  /// that equal contents are equal texts. Written by hand because every send is rendered: Foundation's encoder took a tenth of a
  /// send's processor time.
  package var json: String { String(decoding: text.bytes, as: UTF8.self) }

  /// The same as bytes.
  package var text: ContentText {
    var text = JSONText(capacity: 384 + (body?.utf8.count ?? 0) + (ext?.utf8.count ?? 0))
    if let appendedAt { text.field("time", appendedAt) }
    text.field("attach", ifAny: attach)
    text.field("body", ifAny: body)
    text.field("callbackExt", ifAny: callbackExt)
    text.field("channelId", ifAny: channelId)
    text.field("env", ifAny: env)
    if let expireAt { text.field("expireAt", expireAt) }
    text.field("ext", ifAny: ext)
    text.field("fromAccount", ifAny: fromAccount?.text)
    text.field("fromClientType", ifAny: fromClientType?.json)
    let deviceStart = text.count
    text.field("fromDeviceId", ifAny: fromDeviceId?.text)
    let device = deviceStart..<text.count
    text.field("fromNick", ifAny: fromNick)
    text.field("groupId", ifAny: groupId)
    text.field("messageClientId", ifAny: messageClientId)
    text.field("pushContent", ifAny: pushContent)
    text.field("pushPayload", ifAny: pushPayload)
    text.field("roomId", ifAny: roomId)
    text.field("serverId", ifAny: serverId)
    text.field("setting", json: setting.json)
    text.field("status", status)
    text.field("toAccids", ifAny: toAccids.map { JSONValue.array($0.map { .string($0.text) }) })
    text.field("toType", toType.rawValue)
    text.field("type", type)
    return ContentText(bytes: text.finish(), device: device)
  }
}

extension NotificationSetting {
  /// There are so few of them that each is written once.
  fileprivate var json: [UInt8] { Self.texts[bits] }

  private static let texts = (0..<32).map { NotificationSetting(bits: $0).rendered }

  private var bits: Int {
    (needBadge ? 1 : 0) | (needPushNick ? 2 : 0) | (persistEnable ? 4 : 0) | (pushEnable ? 8 : 0)
      | (routeEnable ? 16 : 0)
  }

  private init(bits: Int) {
    needBadge = bits & 1 != 0
    needPushNick = bits & 2 != 0
    persistEnable = bits & 4 != 0
    pushEnable = bits & 8 != 0
    routeEnable = bits & 16 != 0
  }

  private var rendered: [UInt8] {
    var text = JSONText(capacity: 128)
    text.field("needBadge", needBadge)
    text.field("needPushNick", needPushNick)
    text.field("persistEnable", persistEnable)
    text.field("pushEnable", pushEnable)
    text.field("routeEnable", routeEnable)
    return text.finish()
  }
}

extension JSONText {
  fileprivate mutating func field(_ name: StaticString, ifAny text: String?) {
    if let text { field(name, text) }
  }
  fileprivate mutating func field(_ name: StaticString, ifAny id: EntityID?) {
    if let id { field(name, id: id.number) }
  }
  fileprivate mutating func field(_ name: StaticString, ifAny value: JSONValue?) {
    if let value { field(name, value) }
  }
}
