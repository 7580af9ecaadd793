import BelfryBytes
import BelfryFeed
package import BelfryModel
import BelfryStore

/// An event of a stream: its kind, and its data as JSON, which is rendered once for all consumers. The transport puts
/// it on the wire (``EventFraming``).
package struct LiveEvent: Sendable {
  package enum Kind: String, Sendable, CaseIterable {
    case notification, updated, retracted, preferences, read, counts, device, gap, kicked
  }

  package let kind: Kind
  package let json: [UInt8]

  init(_ kind: Kind, _ json: [UInt8]) {
    self.kind = kind
    self.json = json
  }

  private init(_ kind: Kind, _ text: String) { self.init(kind, Array(text.utf8)) }

  /// The event of an entry: a notification, or what has become of one.
  static func entry(_ entry: LogEntry) -> LiveEvent {
    if entry.isRecalled {
      return LiveEvent(.retracted, "{\"messageServerId\":\"\(entry.notificationID.text)\"}")
    }
    var json: [UInt8] = []
    json.reserveCapacity(entry.content.count + 128)
    entry.appendNotification(to: &json)
    return LiveEvent(entry.updates == nil ? .notification : .updated, json)
  }

  static func read(_ ids: some Sequence<MessageID>) -> LiveEvent {
    let list = ids.map { "\"\($0.text)\"" }.joined(separator: ",")
    return LiveEvent(.read, "{\"messageServerIds\":[\(list)]}")
  }

  static func read(upTo id: MessageID) -> LiveEvent { LiveEvent(.read, "{\"upTo\":\"\(id.text)\"}") }

  static func device(_ echo: DeviceEcho) -> LiveEvent {
    let target = RecordJSON.text(echo.target)
    let device = echo.device.map { ",\"device\":\"\($0.text)\"" } ?? ""
    return LiveEvent(
      .device,
      "{\"operation\":\"\(echo.operation.word)\",\"of\":\"\(echo.operation.scene.rawValue)\""
        + ",\"target\":\(target)\(device)}")
  }

  static func preferences(_ preferences: [Preference]) -> LiveEvent {
    var text = JSONText()
    text.field("preferences", .array(preferences.map(\.info)))
    return LiveEvent(.preferences, text.finish())
  }

  static func counts(_ counts: UnreadCounts) -> LiveEvent { LiveEvent(.counts, counts.json) }

  static func gap(_ gap: FeedGap) -> LiveEvent {
    LiveEvent(.gap, "{\"from\":\"\(gap.from.text)\",\"to\":\"\(gap.to.text)\"}")
  }

  static func kicked(_ reason: KickReason, by device: DeviceID?) -> LiveEvent {
    let by = device.map { ",\"byDevice\":\"\($0.text)\"" } ?? ""
    return LiveEvent(.kicked, "{\"reason\":\"\(reason.rawValue)\"\(by),\"retry\":\(reason.mayRetry)}")
  }
}

extension ReadEcho {
  /// The events for other devices: the id up to which everything is read, and further single ids.
  var events: [LiveEvent] {
    (upTo.map { [.read(upTo: $0)] } ?? []) + (items.isEmpty ? [] : [.read(items)])
  }
}

/// Why a stream is ended by the broker.
package enum KickReason: String, Sendable {
  case tokenExpired
  /// The key by which the client was admitted was retired, or the tokens of its account were revoked.
  case tokenRevoked
  case shutdown
  /// A later stream of the account took its place.
  case replaced
  /// The account, or a trusted caller for it, ended the stream.
  case ended

  /// True if coming back at once with the same token can succeed.
  var mayRetry: Bool { self == .shutdown }
}

/// How a transport puts events on the wire.
///
/// Only the framing depends on the transport. The hub renders an event's JSON once; the transport of each consumer
/// writes that JSON with the consumer's cursor straight into the buffer that is sent.
package protocol EventFraming: AnyObject, Sendable {
  /// The most bytes that an event takes in addition to its JSON and its cursor.
  var overheadBytesMost: Int { get }
  /// Tells the client that the stream is alive; empty where the transport does that.
  var heartbeat: [UInt8] { get }
  /// Asks the client to wait so long before it comes back; empty where that is said elsewhere.
  func reconnectDelay(milliseconds: Int) -> [UInt8]
  /// Writes an event that is no entry, and so has no cursor. There is room for it.
  func write(_ event: LiveEvent, to text: inout OutputSpan<UInt8>)
  /// Writes an event with the cursor that has passed it. There is room for both.
  /// - Parameters:
  ///   - cursor: a cursor that has been rendered.
  ///   - step: the step by which the cursor has just advanced; nil if by none.
  func write(
    _ event: LiveEvent, at cursor: FeedCursor, after step: CursorStep?, to text: inout OutputSpan<UInt8>)
}

extension EventFraming {
  func bytes(_ event: LiveEvent) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(addingCapacity: event.json.count + overheadBytesMost) { write(event, to: &$0) }
    return bytes
  }

  func append(_ event: LiveEvent, at cursor: inout FeedCursor, to bytes: inout [UInt8]) {
    cursor.render()
    bytes.append(addingCapacity: event.json.count + overheadBytesMost + cursor.byteCountMost) {
      [cursor] in write(event, at: cursor, after: nil, to: &$0)
    }
  }
}
