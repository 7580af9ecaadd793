import BelfryClient
import BelfryInterface
import BelfryModel
import Foundation

// The fields of a notification as options, which `send` and `resend` share.

extension CommandOption {
  static let notificationFields: [CommandOption] = [
    .value("server", "ID", "the server to send to"),
    .value("channel", "ID", "the channel of that server to send to"),
    .value("group", "ID", "the group to send to"),
    .value("room", "ID", "the room to send to"),
    .list("to", "ACCID", "only these accounts: members of that space, or any accounts if no space is named")
      .setting("toAccids"),
    .value("body", "TEXT", "the text; - for standard input").withNamesElsewhere(
      SharedFields.bodyNamesElsewhere),
    .value("ext", "TEXT", "application data, usually JSON"),
    .value("attach", "JSON", "any JSON value for the receiving program"),
    .value("status", "N", "a number with a meaning of your own: 0, or more than 10000"),
    .value("from", "ACCID", "the sender, with an app or operator token").setting("fromAccount"),
    .value("nick", "TEXT", "the sender's nick").setting("fromNick"),
    .value("env", "TEXT", "a word that selects which callbacks and webhooks apply"),
    .value("expire-at", "TIME", "when it expires: \(TimeText.inputRule(.ahead))"),
    .flag("live-only", "only for devices that are connected now; never stored").setting("persistEnable"),
    .flag("push", "may be sent as a push").setting("pushEnable"),
    .value("push-content", "TEXT", "the text of a push"),
    .value("push-payload", "JSON", "attributes for the push service, a JSON object"),
    .flag("no-badge", "does not count in the badge of an app").setting("needBadge"),
    .flag("no-nick", "a push does not show the sender's nick").setting("needPushNick"),
    .flag("no-route", "webhooks get no copy; callbacks are still asked").setting("routeEnable"),
  ]
}

extension Invocation {
  func newNotification() throws -> NewNotification {
    var notification = try arguments.newNotification()
    if notification.body == "-" { notification.body = try bodyFromStandardInput() }
    guard notification.body?.isEmpty == false || notification.attach != nil || notification.ext != nil else {
      let rule = "--body is needed, unless --attach or --ext is given"
      if arguments.text("body") == "-" {
        throw UsageError("standard input, which --body - reads, was empty; \(rule)")
      }
      guard !arguments.isSet("body"), let word = arguments.lastWord(ofList: "to") else {
        throw UsageError(rule, suggestion: "--body - with the text on standard input")
      }
      throw UsageError(
        "\(rule); \(word) was read as another account for --to",
        suggestion: "--body \(ShellWord.quoted(word))")
    }
    return notification
  }

  /// The body, without the line end that a file or an `echo` has after its last line.
  private func bodyFromStandardInput() throws -> String {
    if console.terminal.canAsk { console.complain("belfry: type the body, then Ctrl-D on a new line:") }
    // The allowed bytes, the line end, and one more byte, which shows that there are too many.
    var bytes = try FileHandle.standardInput.read(upToCount: Limits.bodyBytes + 2) ?? Data()
    if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
    guard bytes.count <= Limits.bodyBytes else {
      throw UsageError("standard input (--body -) must be at most \(Limits.bodyBytes) bytes")
    }
    guard let text = String(bytes: bytes, encoding: .utf8) else {
      throw UsageError("standard input (--body -) must be UTF-8")
    }
    return text
  }
}

extension Arguments {
  /// True if `--expire-at` is a length of time. The same words then mean another time at each attempt.
  var countsExpiryFromNow: Bool {
    guard let text = text("expire-at"), text.last?.isLetter == true else { return false }
    return DurationText.seconds(of: text) != nil
  }

  fileprivate func newNotification() throws(UsageError) -> NewNotification {
    let receivers = try accounts("to")
    var notification = NewNotification(
      serverId: try entity("server"), channelId: try entity("channel"), groupId: try entity("group"),
      roomId: try entity("room"), toAccids: receivers.isEmpty ? nil : receivers, body: text("body"))
    let spaces = ["server", "group", "room"].filter(isSet)
    guard !spaces.isEmpty || notification.channelId == nil else {
      throw UsageError("--channel needs --server: the server that has the channel")
    }
    guard spaces.count <= 1 else {
      throw UsageError(
        "only one of \(spaces.map { "--" + $0 }.joined(separator: " and ")) can be given")
    }
    guard spaces == ["server"] || notification.channelId == nil else {
      throw UsageError("--channel goes with --server; a \(spaces[0]) has no channels")
    }
    guard !spaces.isEmpty || !receivers.isEmpty else {
      throw UsageError("--server, --group, --room or --to is needed: a notification needs receivers")
    }
    for name in ["push-content", "push-payload"] where isSet(name) && !isSet("push") {
      throw UsageError("--\(name) needs --push: without it nothing is pushed")
    }
    if isSet("push"), isSet("live-only") {
      throw UsageError(
        "--push cannot be combined with --live-only: only notifications that are stored are pushed")
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
