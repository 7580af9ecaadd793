import BelfryModel
import BelfryStore

/// Server-Sent Events as text. Source: WHATWG HTML, "Server-sent events".
enum EventText {
  /// An entry's event up to its id, which is each consumer's own; the rest is the same for all.
  static func upToID(_ entry: LogEntry) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity(entry.content.count + 128)
    appendUpToID(entry, to: &text)
    return text
  }

  static func appendUpToID(_ entry: LogEntry, to text: inout [UInt8]) {
    text += entry.updates == nil ? notificationStart : updatedStart
    entry.appendNotification(to: &text)
    text += idStart
  }

  private static let notificationStart = Array("event: notification\ndata: ".utf8)
  private static let updatedStart = Array("event: updated\ndata: ".utf8)
  private static let idStart = Array("\nid: ".utf8)

  /// The end of an event that has a cursor, which has been rendered; at most ``idBytesMost(_:)``.
  /// - Parameter step: by which the cursor has just advanced, if it has.
  static func appendID(_ cursor: FeedCursor, after step: CursorStep? = nil, to text: inout OutputSpan<UInt8>)
  {
    cursor.write(to: &text, after: step)
    text.append(UInt8(ascii: "\n"))
    text.append(UInt8(ascii: "\n"))
  }

  static func idBytesMost(_ cursor: FeedCursor) -> Int { cursor.byteCountMost + 2 }

  static func appendID(_ cursor: inout FeedCursor, to text: inout [UInt8]) {
    cursor.render()
    text.append(addingCapacity: idBytesMost(cursor)) { [cursor] in appendID(cursor, to: &$0) }
  }

  /// A notification's event without an id: no cursor passes it.
  static func ephemeral(_ entry: LogEntry) -> [UInt8] {
    Array("event: notification\ndata: \(entry.notificationJSON)\n\n".utf8)
  }

  static func read(_ ids: some Sequence<MessageID>) -> [UInt8] {
    let list = ids.map { "\"\($0.text)\"" }.joined(separator: ",")
    return Array("event: read\ndata: {\"messageServerIds\":[\(list)]}\n\n".utf8)
  }

  static func read(_ echo: ReadEcho) -> [UInt8] {
    (echo.upTo.map { read(upTo: $0) } ?? []) + (echo.items.isEmpty ? [] : read(echo.items))
  }

  static func read(upTo id: MessageID) -> [UInt8] {
    Array("event: read\ndata: {\"upTo\":\"\(id.text)\"}\n\n".utf8)
  }

  static func device(_ echo: DeviceEcho) -> [UInt8] {
    let target = RecordJSON.text(echo.target)
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
  /// What admitted the client was taken back: its key was retired.
  case tokenRevoked
  case shutdown

  /// Whether coming back at once, as one is, can succeed.
  var mayRetry: Bool { self == .shutdown }
}
