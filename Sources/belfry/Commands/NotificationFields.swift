import BelfryClient
import BelfryModel

// The fields of a notification as options, which `send` and `resend` share.

extension CommandOption {
  static let notificationFields: [CommandOption] = [
    .value("server", "ID", "the server it is for"),
    .value("channel", "ID", "the channel of that server it is for"),
    .list("to", "ACCID", "only these: members of the server or channel, or, without either, any accounts"),
    .value("body", "TEXT", "what it says"),
    .value("ext", "TEXT", "beside the body; JSON by custom"),
    .value("attach", "JSON", "any JSON value for the receiving program"),
    .value("status", "N", "0, or 10000 and more"),
    .value("from", "ACCID", "in whose name, with an app or operator token"),
    .value("nick", "TEXT", "the sender's nick"),
    .value("env", "TEXT", "which callback and routing configuration applies"),
    .flag("live-only", "only for whoever is connected now; never stored"),
    .flag("push", "may be pushed by a third party"),
    .value("push-content", "TEXT", "what a push says"),
    .value("push-payload", "JSON", "a push's attributes, a JSON object"),
    .flag("no-badge", "a push does not count on the badge"),
    .flag("no-nick", "a push does not show the nick"),
    .flag("no-route", "no callback is told"),
  ]
}

extension Arguments {
  func newNotification() throws(UsageError) -> NewNotification {
    let receivers = try accounts("to")
    var notification = NewNotification(
      serverId: try entity("server"), channelId: try entity("channel"),
      toAccids: receivers.isEmpty ? nil : receivers, body: text("body"))
    guard notification.serverId != nil || !receivers.isEmpty else {
      throw UsageError("--server or --to is needed: whom is it for?")
    }
    guard notification.serverId != nil || notification.channelId == nil else {
      throw UsageError("--channel needs --server beside it: whose channel is it?")
    }
    notification.messageClientId = text("client-id")
    notification.ext = text("ext")
    notification.attach = try json("attach")
    notification.status = try integer("status", in: 0...Int(Int32.max))
    notification.fromAccount = try account("from")
    notification.fromNick = text("nick")
    notification.env = text("env")
    notification.pushContent = text("push-content")
    notification.pushPayload = try json("push-payload")
    notification.setting = setting
    return notification
  }

  /// Nil when every flag has its default.
  private var setting: NotificationSetting? {
    var setting = NotificationSetting()
    if isSet("live-only") { setting.persistEnable = false }
    if isSet("push") { setting.pushEnable = true }
    if isSet("no-badge") { setting.needBadge = false }
    if isSet("no-nick") { setting.needPushNick = false }
    if isSet("no-route") { setting.routeEnable = false }
    return setting == NotificationSetting() ? nil : setting
  }
}
