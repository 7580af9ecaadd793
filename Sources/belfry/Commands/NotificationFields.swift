import BelfryClient
import BelfryModel
import Foundation

// The fields of a notification as options, which `send` and `resend` share.

extension CommandOption {
  static let notificationFields: [CommandOption] = [
    .value("server", "ID", "the server it is for"),
    .value("channel", "ID", "the channel of that server it is for"),
    .value("group", "ID", "the group it is for"),
    .value("room", "ID", "the room it is for"),
    .list("to", "ACCID", "only these: members of what is named above or, without any of it, any accounts"),
    .value("body", "TEXT", "what it says; - for standard input"),
    .value("ext", "TEXT", "beside the body; JSON by custom"),
    .value("attach", "JSON", "any JSON value for the receiving program"),
    .value("status", "N", "0, or more than 10000"),
    .value("from", "ACCID", "in whose name, with an app or operator token"),
    .value("nick", "TEXT", "the sender's nick"),
    .value("env", "TEXT", "which callback and routing configuration applies"),
    .value("expire-at", "TIME", "nobody is shown it from then on: \(TimeText.inputRule(.ahead))"),
    .flag("live-only", "only for whoever is connected now; never stored"),
    .flag("push", "may be pushed by a third party"),
    .value("push-content", "TEXT", "what a push says"),
    .value("push-payload", "JSON", "a push's attributes, a JSON object"),
    .flag("no-badge", "it does not count in the number on an app's icon"),
    .flag("no-nick", "a push does not show the nick"),
    .flag("no-route", "no webhook gets a copy; callbacks are asked as ever"),
  ]
}

extension Invocation {
  func newNotification() throws -> NewNotification {
    var notification = try arguments.newNotification()
    if notification.body == "-" { notification.body = try bodyFromStandardInput() }
    guard notification.body?.isEmpty == false || notification.attach != nil || notification.ext != nil else {
      throw UsageError(
        "--body is needed, or --attach or --ext for a program: what does it say?",
        suggestion: "--body - with the text on standard input")
    }
    return notification
  }

  /// Without the line end that a file or an `echo` has after its last line.
  private func bodyFromStandardInput() throws -> String {
    if console.terminal.canAsk { console.complain("belfry: the body, then Ctrl-D on a line of its own:") }
    // What is allowed, the line end, and one byte by which more is noticed.
    var bytes = try FileHandle.standardInput.read(upToCount: Limits.bodyBytes + 2) ?? Data()
    if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
    guard bytes.count <= Limits.bodyBytes else {
      throw UsageError("what --body - reads must be at most \(Limits.bodyBytes) bytes")
    }
    guard let text = String(bytes: bytes, encoding: .utf8) else {
      throw UsageError("what --body - reads must be UTF-8")
    }
    return text
  }
}

extension Arguments {
  fileprivate func newNotification() throws(UsageError) -> NewNotification {
    let receivers = try accounts("to")
    var notification = NewNotification(
      serverId: try entity("server"), channelId: try entity("channel"), groupId: try entity("group"),
      roomId: try entity("room"), toAccids: receivers.isEmpty ? nil : receivers, body: text("body"))
    let spaces = ["server", "group", "room"].filter(isSet)
    guard !spaces.isEmpty || notification.channelId == nil else {
      throw UsageError("--channel needs --server beside it: whose channel is it?")
    }
    guard spaces.count <= 1 else {
      throw UsageError(
        "it is for one of \(spaces.map { "--" + $0 }.joined(separator: " and ")), not for several")
    }
    guard spaces == ["server"] || notification.channelId == nil else {
      throw UsageError("--channel goes with --server; a \(spaces[0]) has no channels")
    }
    guard !spaces.isEmpty || !receivers.isEmpty else {
      throw UsageError("--server, --group, --room or --to is needed: whom is it for?")
    }
    notification.messageClientId = text("client-id")
    notification.ext = text("ext")
    notification.attach = try json("attach")
    notification.status = try integer("status", in: 0...Int(Int32.max))
    notification.fromAccount = try account("from")
    notification.fromNick = text("nick")
    notification.env = text("env")
    notification.expireAt = try comingTime("expire-at")
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
