import BelfryBytes
import BelfryHTTP
package import BelfryLive
package import BelfryModel

/// Events as frames of a WebSocket: `{"notification":{…},"cursor":"…"}`, one a frame.
package final class SocketEvents: EventFraming {
  package static let framing = SocketEvents()

  /// The heads of the frames for the longest event, and the text around its JSON.
  package let overheadBytesMost = 128
  /// Empty, because a socket pings and the client answers.
  package let heartbeat: [UInt8] = []

  private let heads = Dictionary(
    uniqueKeysWithValues: LiveEvent.Kind.allCases.map { ($0, Array("{\"\($0.rawValue)\":".utf8)) })
  private let notification = Array("{\"notification\":".utf8)
  private let cursorName = Array(",\"cursor\":\"".utf8)
  private let end = Array("}".utf8)
  private let endOfCursor = Array("\"}".utf8)

  /// Empty, because the client receives the delay when the socket connects.
  package func reconnectDelay(milliseconds: Int) -> [UInt8] { [] }

  package func write(_ event: LiveEvent, to text: inout OutputSpan<UInt8>) {
    let head = head(of: event.kind)
    let count = head.count + event.json.count + end.count
    guard count <= WebSocketFrame.payloadBytesMax else {
      return WebSocketFrame.append(message: head + event.json + end, to: &text)
    }
    WebSocketFrame.appendHead(.text, payloadBytes: count, to: &text)
    text.append(contentsOf: head)
    text.append(contentsOf: event.json)
    text.append(contentsOf: end)
  }

  package func write(
    _ event: LiveEvent, at cursor: FeedCursor, after step: CursorStep?, to text: inout OutputSpan<UInt8>
  ) {
    let head = head(of: event.kind)
    let cursorBytes = cursor.byteCount(after: step)
    let count = head.count + event.json.count + cursorName.count + cursorBytes + endOfCursor.count
    guard count <= WebSocketFrame.payloadBytesMax else {
      var message = head + event.json + cursorName
      message.append(addingCapacity: cursorBytes) { cursor.write(to: &$0, after: step) }
      return WebSocketFrame.append(message: message + endOfCursor, to: &text)
    }
    WebSocketFrame.appendHead(.text, payloadBytes: count, to: &text)
    text.append(contentsOf: head)
    text.append(contentsOf: event.json)
    text.append(contentsOf: cursorName)
    cursor.write(to: &text, after: step)
    text.append(contentsOf: endOfCursor)
  }

  /// Nearly all events are notifications, so their head is not looked up.
  private func head(of kind: LiveEvent.Kind) -> [UInt8] {
    kind == .notification ? notification : heads[kind] ?? []
  }
}
