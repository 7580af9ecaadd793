package import BelfryModel

/// The body of a send, and its answer.
package enum SendShapes {
  /// `SendRequest` reads it by hand, since sends are the most frequent requests. A test keeps the two in agreement.
  package static let body = ObjectShape(
    [
      Property(
        "messageClientId", .text(bytes: 1...Limits.messageClientIdBytes), "makes sending twice sending once"),
      Property("serverId", .id, "the server it is for, or that the channel is in"),
      Property("channelId", .id, "the channel of that server it is for"),
      Property("groupId", .id, "the group it is for"),
      Property("roomId", .id, "the room it is for"),
      Property(
        "toAccids", .list(.account, counts: 1...Limits.namedReceivers),
        "whom it is for, each once: members of that place, or without one anybody"),
      Property("toType", .choice(ToType.self), "what the fields above make it; checked against them"),
      Property(
        "type", .integer([Catalogue.custom.code...Catalogue.custom.code]),
        "can only be this: the others come from operations"),
      Property("fromAccount", .account, "who sends; another account only for trusted callers"),
      Property(
        "fromNick", .text(characters: 0...Limits.nickCharacters),
        "what the sender is called; left out: the nick of its profile in the server, if it has one"),
      Property("fromClientType", clientType, "the kind of client it is sent from"),
      Property("fromDeviceId", .device, "from which device it is sent"),
      Property("body", .text(bytes: 0...Limits.bodyBytes), "what it says"),
      Property("ext", .text(bytes: 0...Limits.extBytes), "anything beside; JSON is customary"),
      Property("attach", .json(bytesMax: Limits.attachBytes), "anything beside, as JSON"),
      Property(
        "status", .integer([0...0, NotificationContent.customStatus]), "whatever the sender means by it",
        standard: 0),
      Property(
        "pushPayload", .resource("SentPushPayload", .jsonObject(bytesMax: Limits.pushPayloadBytes)),
        "what a push service is given; also as text that holds such an object"),
      Property(
        "pushContent", .text(characters: 0...Limits.pushContentCharacters), "what a push service shows"),
      Property(
        "setting", .resource("SentSetting", NotificationSetting.properties), "how it is kept and pushed"),
      Property("env", .text(bytes: 0...Limits.envBytes), "picks the configuration of callbacks and routing"),
      Property("expireAt", .time, "from then on nobody is shown it any more; in the future"),
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
        property.name, property.shape, "the id of the first try; needed without `messageServerId`")
    } + [
      Property(
        "messageServerId", .message,
        "the id in the answer to the first try; that notification is never sent again, also after the dedupe window"
      )
    ]
      + ["time", "updateTime", "callbackExt"].map { Property($0, .json(bytesMax: .max), "ignored") },
    rule: body.rule, usual: body.usual)

  static let receipt = Shape.resource(
    "Receipt",
    [
      .always("messageServerId", .message, "the notification's id, of a duplicate the first one's"),
      .always("time", .time, "when it was sent"),
      .always("duplicate", .flag, "whether it had been sent before; nobody receives it again then"),
      .always("type", .integer([0...Int.max]), "its type"),
      .always("toType", .choice(ToType.self), "what it is addressed to"),
      .sometimes("messageClientId", .text, "the sender's id for it, or one that was made and is remembered"),
      .sometimes("serverId", .id, "the server it is for"),
      .sometimes("channelId", .id, "the channel it is for"),
      .sometimes("groupId", .id, "the group it is for"),
      .sometimes("roomId", .id, "the room it is for"),
    ])
}

extension NotificationSetting {
  package static let properties: [Property] = {
    let standard = NotificationSetting()
    return [
      Property(
        "persistEnable", .flag, "kept until it is read; otherwise only those connected receive it",
        standard: .bool(standard.persistEnable)),
      Property("pushEnable", .flag, "whether to push it", standard: .bool(standard.pushEnable)),
      Property(
        "needBadge", .flag, "whether it counts in the number on an app's icon",
        standard: .bool(standard.needBadge)),
      Property(
        "needPushNick", .flag, "whether a push names the sender", standard: .bool(standard.needPushNick)),
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
      .always("toType", .choice(ToType.self), "what it is addressed to"),
      .always("status", .integer([Int.min...Int.max]), "whatever the sender means by it"),
      .always(
        "setting", .resource("NotificationSetting", NotificationSetting.answered), "how it is kept and pushed"
      ),
      .sometimes("updateTime", .time, "when it was last updated"),
      .sometimes("messageClientId", .text, "the sender's id for it"),
      .sometimes("serverId", .id, "the server it is for, or that the channel is in"),
      .sometimes("channelId", .id, "the channel it is for"),
      .sometimes("groupId", .id, "the group it is for"),
      .sometimes("roomId", .id, "the room it is for"),
      .sometimes("toAccids", .list(.account), "the accounts it names as receivers"),
      .sometimes("fromAccount", .account, "who sent it"),
      .sometimes("fromNick", .text, "what the sender is called"),
      .sometimes(
        "fromClientType", SendShapes.clientType, "the kind of client it was sent from, as its sender gave it"),
      .sometimes("fromDeviceId", .device, "from which device it was sent"),
      .sometimes("body", .text, "what it says"),
      .sometimes("ext", .text, "anything beside"),
      .sometimes("attach", .json(bytesMax: Int.max), "the details of an event, or what the sender attached"),
      .sometimes(
        "pushPayload", .resource("PushPayload", .jsonObject(bytesMax: Int.max)),
        "what a push service is given"),
      .sometimes("pushContent", .text, "what a push service shows"),
      .sometimes("env", .text, "picks the configuration of callbacks and routing"),
      .sometimes("expireAt", .time, "from then on nobody is shown it any more"),
      .sometimes("callbackExt", .text, "what a callback returned"),
    ])
}
