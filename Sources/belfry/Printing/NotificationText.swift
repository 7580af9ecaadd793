import BelfryClient
import BelfryModel
import FoundationEssentials

/// What a person reads of a notification, in columns.
enum NotificationText {
  static let header = ["ID", "TIME", "SPACE", "TYPE", "FROM", "BODY"]

  static func cells(_ notification: BelfryModel.Notification, in timeZone: TimeZone) -> [String] {
    [
      notification.messageServerId.text,
      TimeText.of(unixMilliseconds: notification.time, in: timeZone),
      space(notification.content), type(notification.content.type),
      sender(notification.content), substance(notification.content, in: timeZone),
    ]
  }

  static func space(_ content: NotificationContent) -> String {
    var words: [String] = []
    if let server = content.serverId { words.append("server \(server)") }
    if let channel = content.channelId { words.append("channel \(channel)") }
    if let group = content.groupId { words.append("group \(group)") }
    if let room = content.roomId { words.append("room \(room)") }
    return words.isEmpty ? "account" : words.joined(separator: " ")
  }

  static func type(_ code: Int) -> String { Catalogue.type(code)?.name ?? "type \(code)" }

  /// The account, and the name beside it where there is one.
  static func sender(_ content: NotificationContent) -> String {
    guard let account = content.fromAccount else { return content.fromNick ?? "-" }
    return content.fromNick.map { "\(account) (\($0))" } ?? account.text
  }

  /// The body; of a built-in one what happened, in a sentence; else the attachment.
  static func substance(_ content: NotificationContent, in timeZone: TimeZone) -> String {
    if let body = content.body { return body }
    if let sentence = NotificationSentence(content, in: timeZone).text { return sentence }
    return content.attach.flatMap { try? JSONLine.text($0) } ?? ""
  }
}
