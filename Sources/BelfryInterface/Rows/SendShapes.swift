package import BelfryModel

/// The body of a send, and its answer.
package enum SendShapes {
  /// `SendRequest` reads it by hand, since sends are the most frequent requests. A test keeps the two in agreement.
  package static let body = ObjectShape(
    [
      Property(
        "messageClientId", .text(bytes: 1...Limits.messageClientIdBytes),
        "an id that the sender chooses; a send repeated with it within the dedupe window is not sent again"),
      Property("serverId", .id, "the server to send to, or the server of the channel to send to"),
      Property("channelId", .id, "the channel to send to"),
      Property("groupId", .id, "the group to send to"),
      Property("roomId", .id, "the room to send to"),
      Property(
        "toAccids", .list(.account, counts: 1...Limits.namedReceivers),
        "the receivers, each named once: members of the given space or, without a space, any accounts"),
      Property(
        "toType", .choice(ToType.self),
        "how the receivers are named; optional, and must match the fields that name them"),
      Property(
        "type", .integer([Catalogue.custom.code...Catalogue.custom.code]),
        "the type of custom notifications; only operations create notifications of other types"),
      Property(
        "fromAccount", .account, "the sender; only an app or operator token may name another account"),
      Property(
        "fromNick", .text(characters: 0...Limits.nickCharacters),
        "the sender's nick; default: the nick of the sender's profile in the server"),
      Property("fromClientType", clientType, "the kind of client that sends it"),
      Property("fromDeviceId", .device, "the sending device"),
      Property("body", .text(bytes: 0...Limits.bodyBytes), "the text"),
      Property("ext", .text(bytes: 0...Limits.extBytes), "application data, usually JSON"),
      Property("attach", .json(bytesMax: Limits.attachBytes), "application data: any JSON value"),
      Property(
        "status", .integer([0...0, NotificationContent.customStatus]),
        "a number whose meaning the sender defines",
        standard: 0),
      Property(
        "pushPayload", .resource("SentPushPayload", .jsonObject(bytesMax: Limits.pushPayloadBytes)),
        "attributes for the push service: an object, or text that holds one"),
      Property(
        "pushContent", .text(characters: 0...Limits.pushContentCharacters), "the text of a push"),
      Property(
        "setting", .resource("SentSetting", NotificationSetting.properties),
        "settings for storing, pushing and routing"),
      Property(
        "env", .text(bytes: 0...Limits.envBytes), "a word that selects which callbacks and webhooks apply"),
      Property("expireAt", .time, "when the notification expires; a time in the future"),
    ], rule: .someOf(["serverId", "groupId", "roomId", "toAccids"]),
    usual: ["serverId", "messageClientId", "body"])

  static let clientType = Shape.textOrNumber(
    TextLimit(range: 0...Limits.clientTypeBytes, unit: .bytes), ClientType.numbers)

  /// The body of a resend. Without an id it would be another notification. The body may be a notification as it was
  /// returned.
  package static let resendBody = ObjectShape(
    body.properties.map { property in
      guard property.name == "messageClientId" else { return property }  // own text
      return Property(
        property.name, property.shape, "the id of the first attempt; required without `messageServerId`")
    } + [
      Property(
        "messageServerId", .message,
        "the id in the response to the first attempt; that notification is never sent again, even after the dedupe window"
      )
    ]
      + ["time", "updateTime", "callbackExt", "duplicate"].map {
        Property($0, .json(bytesMax: .max), "ignored")
      },
    rule: body.rule, usual: body.usual)

  static let receipt = Shape.resource(
    "Receipt",
    [
      .always(
        "messageServerId", .message, "the notification's id; for a duplicate, the id of the first send"),
      .always("time", .time, "when it was sent"),
      .always("duplicate", .flag, "whether it was sent before; if so, nobody receives it again"),
      .always("type", .integer([0...Int.max]), "its type"),
      .always("toType", .choice(ToType.self), "how the receivers were named"),
      .sometimes(
        "messageClientId", .text, "the sender's id for it, or the one that the broker generated and remembers"
      ),
      .sometimes("serverId", .id, "the server that receives it, or that the channel is in"),
      .sometimes("channelId", .id, "the channel that receives it"),
      .sometimes("groupId", .id, "the group that receives it"),
      .sometimes("roomId", .id, "the room that receives it"),
    ])
}

extension NotificationSetting {
  package static let properties: [Property] = {
    let standard = NotificationSetting()
    return [
      Property(
        "persistEnable", .flag,
        "whether it is stored for devices that connect later; otherwise only connected devices receive it",
        standard: .bool(standard.persistEnable)),
      Property("pushEnable", .flag, "whether to push it", standard: .bool(standard.pushEnable)),
      Property(
        "needBadge", .flag, "whether it counts in the badge of an app",
        standard: .bool(standard.needBadge)),
      Property(
        "needPushNick", .flag, "whether a push shows the sender's nick",
        standard: .bool(standard.needPushNick)),
      Property(
        "routeEnable", .flag, "whether webhooks get a copy of it", standard: .bool(standard.routeEnable)),
    ]
  }()

  /// The same properties in an answer, which always has all of them.
  fileprivate static let answered = properties.map { Property.always($0.name, $0.shape, $0.meaning) }
}

extension Notification {
  /// The shape of the JSON that its `Codable` conformance writes.
  static let shape = Shape.resource(
    "Notification",
    [
      .always("messageServerId", .message, "its id"),
      .always("time", .time, "when it was sent"),
      .always("type", .integer([0...Int.max]), "its type; see `GET /v1/types`"),
      .always("toType", .choice(ToType.self), "how the receivers were named"),
      .always("status", .integer([Int.min...Int.max]), "a number whose meaning the sender defines"),
      .always(
        "setting", .resource("NotificationSetting", NotificationSetting.answered),
        "settings for storing, pushing and routing"
      ),
      .sometimes("updateTime", .time, "when it was last updated"),
      .sometimes("messageClientId", .text, "the sender's id for it"),
      .sometimes("serverId", .id, "the server that receives it, or that the channel is in"),
      .sometimes("channelId", .id, "the channel that receives it"),
      .sometimes("groupId", .id, "the group that receives it"),
      .sometimes("roomId", .id, "the room that receives it"),
      .sometimes("toAccids", .list(.account), "the receivers that it names"),
      .sometimes("fromAccount", .account, "the sender"),
      .sometimes("fromNick", .text, "the sender's nick"),
      .sometimes(
        "fromClientType", SendShapes.clientType, "the kind of client that sent it, as its sender gave it"),
      .sometimes("fromDeviceId", .device, "the device that sent it"),
      .sometimes("body", .text, "the text"),
      .sometimes("ext", .text, "application data, usually JSON"),
      .sometimes("attach", .json(bytesMax: Int.max), "the details of an event, or what the sender attached"),
      .sometimes(
        "pushPayload", .resource("PushPayload", .jsonObject(bytesMax: Int.max)),
        "attributes for the push service"),
      .sometimes("pushContent", .text, "the text of a push"),
      .sometimes("env", .text, "a word that selects which callbacks and webhooks apply"),
      .sometimes("expireAt", .time, "when the notification expires"),
      .sometimes("callbackExt", .text, "data that a callback returned"),
    ])
}
