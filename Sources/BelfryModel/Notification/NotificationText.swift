extension NotificationContent {
  /// The content as the log holds it: JSON, names in order, without what is absent, so that equal contents are
  /// equal texts. Written by hand because every send is rendered: Foundation's encoder took a tenth of a
  /// send's processor time.
  package var json: String { String(decoding: jsonBytes, as: UTF8.self) }

  /// The same as bytes.
  package var jsonBytes: [UInt8] {
    var text = JSONText(capacity: 384 + (body?.utf8.count ?? 0) + (ext?.utf8.count ?? 0))
    text.field("attach", ifAny: attach)
    text.field("body", ifAny: body)
    text.field("callbackExt", ifAny: callbackExt)
    text.field("channelId", ifAny: channelId)
    text.field("env", ifAny: env)
    text.field("ext", ifAny: ext)
    text.field("fromAccount", ifAny: fromAccount?.text)
    text.field("fromClientType", ifAny: fromClientType)
    text.field("fromDeviceId", ifAny: fromDeviceId?.text)
    text.field("fromNick", ifAny: fromNick)
    text.field("groupId", ifAny: groupId)
    text.field("messageClientId", ifAny: messageClientId)
    text.field("pushContent", ifAny: pushContent)
    text.field("pushPayload", ifAny: pushPayload)
    text.field("roomId", ifAny: roomId)
    text.field("serverId", ifAny: serverId)
    text.field("setting", object: setting.json)
    text.field("status", status)
    text.field("toAccids", ifAny: toAccids.map { JSONValue.array($0.map { .string($0.text) }) })
    text.field("toType", toType.rawValue)
    text.field("type", type)
    return text.finish()
  }
}

extension NotificationSetting {
  fileprivate var json: JSONText {
    var text = JSONText(capacity: 128)
    text.field("needBadge", needBadge)
    text.field("needPushNick", needPushNick)
    text.field("persistEnable", persistEnable)
    text.field("pushEnable", pushEnable)
    text.field("routeEnable", routeEnable)
    return text
  }
}

extension JSONText {
  fileprivate mutating func field(_ name: String, ifAny text: String?) {
    if let text { field(name, text) }
  }
  fileprivate mutating func field(_ name: String, ifAny id: EntityID?) {
    if let id { field(name, id: id.number) }
  }
  fileprivate mutating func field(_ name: String, ifAny value: JSONValue?) {
    if let value { field(name, value) }
  }
}
