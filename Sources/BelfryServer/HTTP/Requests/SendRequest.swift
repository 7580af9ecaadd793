import BelfryModel

/// The body of a send: the fields of a notification that a sender may set.
struct SendRequest {
  var content: NotificationContent
  /// What the sender believes the form to be; checked against what the fields make it.
  var toType: ToType?

  init(_ fields: consuming Fields) throws(Refusal) {
    for name in ["messageServerId", "time", "updateTime"] { try fields.refuse(name, "is allotted by Belfry") }
    let type = try fields.integer("type") ?? Catalogue.custom.code
    toType = try fields.choice("toType", ToType.self)
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
    if let setting = try fields.object("setting") { content.setting = try NotificationSetting(setting) }
  }
}

extension NotificationSetting {
  /// A flag left out has its default.
  fileprivate init(_ fields: consuming Fields) throws(Refusal) {
    self.init()
    persistEnable = try fields.flag("persistEnable") ?? persistEnable
    pushEnable = try fields.flag("pushEnable") ?? pushEnable
    needBadge = try fields.flag("needBadge") ?? needBadge
    needPushNick = try fields.flag("needPushNick") ?? needPushNick
    routeEnable = try fields.flag("routeEnable") ?? routeEnable
    try fields.finish()
  }
}
