import BelfryModel

extension Notification {
  /// As its coding writes it.
  static let shape = Shape.resource(
    "Notification",
    [
      .always("messageServerId", .message, "its id"),
      .always("time", .time, "when it was sent"),
      .always("type", .integer([0...Int.max]), "its type; see `GET /v1/types`"),
      .always("toType", .choice(ToType.self), "what it is addressed to"),
      .always("status", .integer([Int.min...Int.max]), "whatever the sender means by it"),
      .always("setting", .object(NotificationSetting.answered), "how it is kept and pushed"),
      .sometimes("updateTime", .time, "when it was last updated"),
      .sometimes("messageClientId", .text, "the sender's id for it"),
      .sometimes("serverId", .id, "the server it is for, or that the channel is in"),
      .sometimes("channelId", .id, "the channel it is for"),
      .sometimes("groupId", .id, "the group it is for"),
      .sometimes("roomId", .id, "the room it is for"),
      .sometimes("toAccids", .list(.account), "the accounts it names as receivers"),
      .sometimes("fromAccount", .account, "who sent it"),
      .sometimes("fromNick", .text, "what the sender is called"),
      .sometimes("fromClientType", .text, "from what it was sent"),
      .sometimes("fromDeviceId", .device, "from which device it was sent"),
      .sometimes("body", .text, "what it says"),
      .sometimes("ext", .text, "anything beside"),
      .sometimes("attach", .json(bytesMax: Int.max), "the details of an event, or what the sender attached"),
      .sometimes("pushPayload", .jsonObject(bytesMax: Int.max), "what a push service is given"),
      .sometimes("pushContent", .text, "what a push service shows"),
      .sometimes("env", .text, "picks the configuration of callbacks and routing"),
      .sometimes("callbackExt", .text, "what a callback returned"),
    ])
}

extension NotificationSetting {
  /// In an answer each of them is there.
  fileprivate static let answered = properties.map { Property.always($0.name, $0.shape, $0.meaning) }
}
