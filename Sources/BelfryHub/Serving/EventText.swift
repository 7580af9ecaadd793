import BelfryModel
import BelfryStore

/// Server-Sent Events as text. Source: WHATWG HTML, "Server-sent events".
enum EventText {
  /// Everything of a notification's event but its id: the same bytes for every consumer.
  static func notification(_ entry: LogEntry) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity(entry.content.count + 128)
    notification(entry, to: &text)
    return text
  }

  static func notification(_ entry: LogEntry, to text: inout [UInt8]) {
    text += notificationStart
    entry.appendNotification(to: &text)
    text.append(UInt8(ascii: "\n"))
  }

  /// The end of an event that has a cursor.
  static func id(_ cursor: FeedCursor, to text: inout [UInt8]) {
    text += idStart
    cursor.write(to: &text)
    text += eventEnd
  }

  private static let notificationStart = Array("event: notification\ndata: ".utf8)
  private static let idStart = Array("id: ".utf8)
  private static let eventEnd = Array("\n\n".utf8)

  static func updated(_ entry: LogEntry) -> [UInt8] {
    Array("event: updated\ndata: \(entry.notificationJSON)\n\n".utf8)
  }

  static func read(_ ids: some Sequence<MessageID>) -> [UInt8] {
    let list = ids.map { "\"\($0.text)\"" }.joined(separator: ",")
    return Array("event: read\ndata: {\"messageServerIds\":[\(list)]}\n\n".utf8)
  }

  static func read(upTo id: MessageID) -> [UInt8] {
    Array("event: read\ndata: {\"upTo\":\"\(id.text)\"}\n\n".utf8)
  }

  /// Nil when the target is nothing that JSON can say.
  static func device(_ echo: DeviceEcho) -> [UInt8]? {
    guard let target = try? RecordJSON.text(echo.target) else { return nil }
    let device = echo.device.map { ",\"device\":\"\($0.text)\"" } ?? ""
    let data =
      "{\"operation\":\"\(echo.operation.word)\",\"of\":\"\(echo.operation.scene.rawValue)\""
      + ",\"target\":\(target)\(device)}"
    return Array("event: device\ndata: \(data)\n\n".utf8)
  }

  static func gap(_ gap: FeedGap) -> [UInt8] {
    Array("event: gap\ndata: {\"from\":\"\(gap.from.text)\",\"to\":\"\(gap.to.text)\"}\n\n".utf8)
  }

  static func kicked(_ reason: KickReason) -> [UInt8] {
    Array("event: kicked\ndata: {\"reason\":\"\(reason.rawValue)\",\"retry\":\(reason.mayRetry)}\n\n".utf8)
  }

  static func retry(milliseconds: Int) -> [UInt8] { Array("retry: \(milliseconds)\n\n".utf8) }

  /// A comment: it keeps proxies and clients from taking a quiet stream for a dead one.
  static let heartbeat = Array(": \n\n".utf8)
}

/// Why a stream is ended by the broker.
package enum KickReason: String, Sendable {
  case tokenExpired
  case shutdown

  /// Whether coming back at once, as one is, can succeed.
  var mayRetry: Bool { self == .shutdown }
}
