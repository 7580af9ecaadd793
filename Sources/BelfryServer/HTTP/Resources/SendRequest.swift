import BelfryBytes
import BelfryInterface
import BelfryModel

/// The body of a send: the fields of a notification that a sender may set.
///
/// The fields are read by hand and not as declared fields. This request is the most frequent one, and a list
/// of values in between would cost each send a few thousand instructions. The fields are still declared
/// (`SendShapes.body`), and a test keeps the two in agreement.
struct SendRequest {
  var content: NotificationContent
  /// The notification that a resend repeats.
  private(set) var messageServerId: MessageID?
  /// The form that the sender expects. It is checked against the form that the fields give.
  var toType: ToType?

  /// Made once: it lists all types, for the refusal of an unknown type.
  private static let toTypes = Kind<ToType>.choice

  private static let notTheSenders: [(name: UTF8Text, why: String)] =
    ["messageServerId", "time", "updateTime"].map { ($0, "is assigned by Belfry") }
    + [("callbackExt", "is set only by a callback"), ("duplicate", "is a part of the answer")]

  /// True if it is for accounts and not for a place. Then each account has it in its own feed.
  var isDirect: Bool { content.serverId == nil && content.groupId == nil && content.roomId == nil }

  /// - Parameter isResend: true if the body may be a notification as the broker returned it. Fields that a
  ///   sender may not set are then ignored.
  init(_ fields: consuming ObjectFields, isResend: Bool = false) throws(Refusal) {
    if isResend {
      messageServerId = try fields.take("messageServerId", .message)
      for (name, _) in Self.notTheSenders { _ = fields.value(name) }
    }
    let type = try fields.integer("type") ?? Catalogue.custom.code
    toType = try fields.take("toType", Self.toTypes)
    content = NotificationContent(type: type, toType: toType ?? .accounts)
    content.messageClientId = try fields.text("messageClientId")
    try readPlace(&fields)
    try readSender(&fields)
    try readSubstance(&fields)
    // Sought only among fields that are left: a send mostly leaves none, and each search costs it something.
    if !fields.isEmpty { for (name, why) in Self.notTheSenders { try fields.refuse(name, why) } }
    try fields.finish(declared: SendShapes.body.properties)
  }

  /// - Throws: `invalidField` if no field names the notification that a resend repeats.
  func requireName() throws(Refusal) {
    guard content.messageClientId == nil, messageServerId == nil else { return }
    throw .invalid(
      "messageClientId",
      "is missing: give messageClientId or messageServerId, since a resend without both would be a new notification"
    )
  }

  private mutating func readPlace(_ fields: inout ObjectFields) throws(Refusal) {
    content.serverId = try fields.entity("serverId")
    content.channelId = try fields.entity("channelId")
    content.groupId = try fields.entity("groupId")
    content.roomId = try fields.entity("roomId")
    content.toAccids = try fields.accounts("toAccids", counts: 1...Limits.namedReceivers)
  }

  private mutating func readSender(_ fields: inout ObjectFields) throws(Refusal) {
    content.fromAccount = try fields.account("fromAccount")
    content.fromNick = try fields.text("fromNick")
    content.fromClientType = try fields.value("fromClientType").map { value throws(Refusal) -> ClientType in
      guard let type = ClientType(value) else {
        throw .invalid("fromClientType", "must be a string or a whole number")
      }
      return type
    }
    content.fromDeviceId = try fields.device("fromDeviceId")
  }

  private mutating func readSubstance(_ fields: inout ObjectFields) throws(Refusal) {
    content.body = try fields.text("body")
    content.ext = try fields.text("ext")
    content.attach = fields.value("attach")
    content.status = try fields.integer("status") ?? 0
    content.pushPayload = try fields.value("pushPayload").map(NotificationContent.pushPayload)
    content.pushContent = try fields.text("pushContent")
    content.env = try fields.text("env")
    content.expireAt = try fields.take("expireAt", .time)
    if let setting = fields.value("setting") {
      content.setting = try NotificationSetting(ObjectFields(setting, at: "setting"))
    }
  }
}

extension NotificationSetting {
  /// A missing flag has its default.
  fileprivate init(_ fields: consuming ObjectFields) throws(Refusal) {
    self.init()
    persistEnable = try fields.take("persistEnable", .flag) ?? persistEnable
    pushEnable = try fields.take("pushEnable", .flag) ?? pushEnable
    needBadge = try fields.take("needBadge", .flag) ?? needBadge
    needPushNick = try fields.take("needPushNick", .flag) ?? needPushNick
    routeEnable = try fields.take("routeEnable", .flag) ?? routeEnable
    try fields.finish(declared: NotificationSetting.properties)
  }
}
