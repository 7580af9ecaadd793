import BelfryBytes
import BelfryClient
import BelfryModel
import FoundationEssentials

/// A notification for a person, in columns.
enum NotificationText {
  static let header = ["ID", "TIME", "SPACE", "TYPE", "FROM", "BODY"]

  static func cells(
    _ notification: BelfryModel.Notification, _ names: SpaceNames, in timeZone: TimeZone
  ) -> [String] {
    [
      notification.messageServerId.text,
      TimeText.of(unixMilliseconds: notification.time, in: timeZone),
      names.text(notification.content), type(notification.content.type),
      sender(notification.content), substance(notification.content, names, in: timeZone),
    ]
  }

  static func type(_ code: Int) -> String { Catalogue.type(code)?.name ?? "type \(code)" }

  static func code(ofTypeNamed name: String) -> Int? { Catalogue.all.first { $0.name == name }?.code }

  static func typeName(near word: String) -> String? {
    NearestWord.to(word, among: Catalogue.all.map(\.name))
  }

  /// The account, followed by the name if there is one.
  static func sender(_ content: NotificationContent) -> String {
    let nick = content.fromNick.flatMap { $0.isEmpty ? nil : $0 }
    guard let account = content.fromAccount else { return nick ?? "-" }
    return nick.map { "\(account) (\($0))" } ?? account.text
  }

  /// The body; for a built-in notification the event in a sentence; otherwise the data for the receiving program.
  /// - Parameter receivers: the accounts that the notification is for, if somebody else reads it.
  static func substance(
    _ content: NotificationContent, _ names: SpaceNames, to receivers: [AccountID] = [], in timeZone: TimeZone
  ) -> String {
    if let body = content.body { return body }
    if let sentence = NotificationSentence(content, names, to: receivers, in: timeZone).text {
      return sentence
    }
    return content.attach.flatMap { try? JSONLine.text($0) } ?? content.ext ?? ""
  }
}

extension NotificationSentence {
  /// With times in the zone.
  init(
    _ content: NotificationContent, _ names: SpaceNames, to receivers: [AccountID] = [], in zone: TimeZone
  ) {
    self.init(content, names, to: receivers) { TimeText.of(unixMilliseconds: $0, in: zone) }
  }
}
