import BelfryInterface
import BelfryModel

/// The rows of one page of a server's log.
///
/// Each notification has a row with its contents of now. A change has a row of its own only if the notification came
/// before the page: a reader of the page otherwise has its effect already.
struct ServerLogPage {
  struct Row {
    let event: ServerLogEvent
    let entry: LogEntry
  }

  private(set) var rows: [Row] = []
  private let start: MessageID
  private var retracted: Set<MessageID> = []

  /// - Parameter start: the id before the first entry of the page.
  init(after start: MessageID) { self.start = start }

  /// Takes the next entry of the log.
  mutating func add(_ entry: LogEntry) {
    guard let updated = entry.updates else {
      if !entry.isRecalled { rows.append(Row(event: .notification, entry: entry)) }
      return
    }
    guard updated <= start else { return }
    // Nothing tells the entry of a recall from those of earlier updates of the same notification.
    if entry.isRecalled, !retracted.insert(updated).inserted { return }
    rows.append(Row(event: entry.isRecalled ? .retracted : .updated, entry: entry))
  }

  /// The rows as JSON.
  /// - Parameter history: the history of the store in which the page was read.
  func json(history: String) -> [UInt8] {
    var bytes = Array("[".utf8)
    for (index, row) in rows.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      var text = JSONText(capacity: 768)
      text.field("event", row.event.rawValue)
      text.field("messageServerId", id: row.entry.notificationID.raw)
      text.field("audience", row.entry.audience.text)
      text.field("cursor", LogCursor(place: row.entry.id, history: history).text)
      if row.event != .retracted {
        var notification: [UInt8] = []
        row.entry.appendNotification(to: &notification)
        text.field("notification", json: notification)
      }
      bytes += text.finish()
    }
    bytes.append(UInt8(ascii: "]"))
    return bytes
  }
}
