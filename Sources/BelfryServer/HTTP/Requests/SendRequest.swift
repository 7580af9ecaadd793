import BelfryBytes
import BelfryModel

/// The body of a send: the fields of a notification that a sender may set.
///
/// Read by hand, not by declared fields: of everything that is asked for, this is asked for most. What it
/// takes is declared all the same (``shape``), and a test keeps the two in agreement.
struct SendRequest {
  var content: NotificationContent
  /// What the sender believes the form to be; checked against what the fields make it.
  var toType: ToType?

  /// Made once: it lists them all, for whoever gives another.
  private static let toTypes = Kind<ToType>.choice

  private static let allotted: [UTF8Text] = ["messageServerId", "time", "updateTime"]

  /// Whether it is for accounts and no place: then each of them has it in a feed of its own.
  var isDirect: Bool { content.serverId == nil && content.groupId == nil && content.roomId == nil }

  init(_ fields: consuming Fields) throws(Refusal) {
    for name in Self.allotted { try fields.refuse(name, "is allotted by Belfry") }
    let type = try fields.integer("type") ?? Catalogue.custom.code
    toType = try fields.take("toType", Self.toTypes)
    content = NotificationContent(type: type, toType: toType ?? .accounts)
    content.messageClientId = try fields.text("messageClientId")
    try readPlace(&fields)
    try readSender(&fields)
    try readSubstance(&fields)
    try fields.finish()
  }

  private mutating func readPlace(_ fields: inout Fields) throws(Refusal) {
    content.serverId = try fields.entity("serverId")
    content.channelId = try fields.entity("channelId")
    content.groupId = try fields.entity("groupId")
    content.roomId = try fields.entity("roomId")
    content.toAccids = try fields.accounts("toAccids", counts: 1...Limits.namedReceivers)
  }

  private mutating func readSender(_ fields: inout Fields) throws(Refusal) {
    content.fromAccount = try fields.account("fromAccount")
    content.fromNick = try fields.text("fromNick")
    content.fromClientType = try fields.text("fromClientType")
    content.fromDeviceId = try fields.device("fromDeviceId")
  }

  private mutating func readSubstance(_ fields: inout Fields) throws(Refusal) {
    content.body = try fields.text("body")
    content.ext = try fields.text("ext")
    content.attach = fields.value("attach")
    content.status = try fields.integer("status") ?? 0
    content.pushPayload = fields.value("pushPayload")
    content.pushContent = try fields.text("pushContent")
    content.env = try fields.text("env")
    content.callbackExt = try fields.text("callbackExt")
    if let setting = fields.value("setting") {
      content.setting = try NotificationSetting(Fields(setting, at: "setting"))
    }
  }
}

extension SendRequest {
  static let shape = ObjectShape(
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
        "type", .numbers([Catalogue.custom.code]), "can only be this: the others come from operations"),
      Property("fromAccount", .account, "who sends; another account only for trusted callers"),
      Property("fromNick", .text(characters: 0...Limits.nickCharacters), "what the sender is called"),
      Property("fromClientType", .text(bytes: 0...Limits.clientTypeBytes), "from what it is sent"),
      Property("fromDeviceId", .device, "from which device it is sent"),
      Property("body", .text(bytes: 0...Limits.bodyBytes), "what it says"),
      Property("ext", .text(bytes: 0...Limits.extBytes), "anything beside; JSON is customary"),
      Property("attach", .json(bytesMax: Limits.attachBytes), "anything beside, as JSON"),
      Property(
        "status", .integer([0...0, NotificationContent.customStatus]), "whatever the sender means by it",
        standard: 0),
      Property("pushPayload", .jsonObject(bytesMax: Limits.pushPayloadBytes), "what a push service is given"),
      Property(
        "pushContent", .text(characters: 0...Limits.pushContentCharacters), "what a push service shows"),
      Property("setting", .object(NotificationSetting.properties), "how it is kept and pushed"),
      Property("env", .text(bytes: 0...Limits.envBytes), "picks the configuration of callbacks and routing"),
      Property("callbackExt", .text(bytes: 0...Limits.callbackExtBytes), "what a callback returned"),
    ], rule: .someOf(["serverId", "groupId", "roomId", "toAccids"]),
    usual: ["serverId", "messageClientId", "body"])
}

extension SendRequest {
  /// The body of a resend: without the sender's id it would be another notification.
  static let resendShape = ObjectShape(
    shape.properties.map { property in
      var property = property
      if property.name == "messageClientId" { property.isNeeded = true }  // own text
      return property
    }, rule: shape.rule, usual: shape.usual)
}

extension NotificationSetting {
  static let properties: [Property] = {
    let standard = NotificationSetting()
    return [
      Property(
        "persistEnable", .flag, "kept until it is read; otherwise only those connected receive it",
        standard: .bool(standard.persistEnable)),
      Property("pushEnable", .flag, "whether to push it", standard: .bool(standard.pushEnable)),
      Property("needBadge", .flag, "whether it counts in a badge", standard: .bool(standard.needBadge)),
      Property(
        "needPushNick", .flag, "whether a push names the sender", standard: .bool(standard.needPushNick)),
      Property(
        "routeEnable", .flag, "whether callbacks are told of it", standard: .bool(standard.routeEnable)),
    ]
  }()

  /// A flag left out has its default.
  fileprivate init(_ fields: consuming Fields) throws(Refusal) {
    self.init()
    persistEnable = try fields.take("persistEnable", .flag) ?? persistEnable
    pushEnable = try fields.take("pushEnable", .flag) ?? pushEnable
    needBadge = try fields.take("needBadge", .flag) ?? needBadge
    needPushNick = try fields.take("needPushNick", .flag) ?? needPushNick
    routeEnable = try fields.take("routeEnable", .flag) ?? routeEnable
    try fields.finish()
  }
}
