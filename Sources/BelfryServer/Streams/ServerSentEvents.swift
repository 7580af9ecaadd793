import BelfryBytes
package import BelfryLive
package import BelfryModel

/// Events as server-sent events: a line with the event's name, a line of data, and the cursor as the line `id`, which a
/// client sends back as `Last-Event-ID` when it returns. Source: WHATWG HTML, "Server-sent events".
package final class ServerSentEvents: EventFraming {
  package static let framing = ServerSentEvents()

  package let overheadBytesMost = 64
  /// A comment. It keeps proxies and clients from taking a quiet stream for a dead one.
  package let heartbeat = Array(": \n\n".utf8)

  private let notification = head(.notification)
  private let updated = head(.updated)
  private let retracted = head(.retracted)
  private let preferences = head(.preferences)
  private let read = head(.read)
  private let counts = head(.counts)
  private let device = head(.device)
  private let gap = head(.gap)
  private let kicked = head(.kicked)
  private let id = Array("\nid: ".utf8)

  private static func head(_ kind: LiveEvent.Kind) -> [UInt8] {
    Array("event: \(kind.rawValue)\ndata: ".utf8)
  }

  package func reconnectDelay(milliseconds: Int) -> [UInt8] { Array("retry: \(milliseconds)\n\n".utf8) }

  package func write(_ event: LiveEvent, to text: inout OutputSpan<UInt8>) {
    text.append(contentsOf: head(of: event.kind))
    text.append(contentsOf: event.json)
    end(&text)
  }

  package func write(
    _ event: LiveEvent, at cursor: FeedCursor, after step: CursorStep?, to text: inout OutputSpan<UInt8>
  ) {
    text.append(contentsOf: head(of: event.kind))
    text.append(contentsOf: event.json)
    text.append(contentsOf: id)
    cursor.write(to: &text, after: step)
    end(&text)
  }

  private func end(_ text: inout OutputSpan<UInt8>) {
    text.append(UInt8(ascii: "\n"))
    text.append(UInt8(ascii: "\n"))
  }

  /// The heads are made in advance, because each delivery needs one.
  private func head(of kind: LiveEvent.Kind) -> [UInt8] {
    switch kind {
    case .notification: notification
    case .updated: updated
    case .retracted: retracted
    case .preferences: preferences
    case .read: read
    case .counts: counts
    case .device: device
    case .gap: gap
    case .kicked: kicked
    }
  }
}
