package import BelfryLive
package import BelfryModel
import BelfryServer
import Testing

/// Somebody with a stream, who is cut off now and then and returns with the last event id.
package final class Client {
  package let account: AccountID
  /// All that it was ever shown.
  package private(set) var received: [MessageID] = []
  /// The notifications that it shows: those that it was sent, without those that it was told are read.
  package private(set) var held: Set<MessageID> = []
  /// The notifications that it was sent while it showed them already.
  package private(set) var doubled: [MessageID] = []
  /// The body of each that was received, as it was told last.
  package private(set) var bodies: [MessageID: String] = [:]
  /// The notification of each `updated`.
  package private(set) var updates: [MessageID] = []
  /// The number of times that it was told to begin again.
  package private(set) var resets = 0
  /// The notifications that it was told are recalled.
  package private(set) var retracted: Set<MessageID> = []
  /// The bodies of notifications that were sent without being stored.
  package private(set) var ephemeral: [String] = []
  /// The targets of `device`.
  package private(set) var echoes: [JSONValue] = []
  /// The ranges that it was told are gone.
  package private(set) var gapRanges: [(from: MessageID, to: MessageID)] = []
  /// How much it was told is unread; nil if nothing yet.
  package private(set) var counts: JSONValue?
  package var gaps: Int { gapRanges.count }
  private var read: Set<MessageID> = []
  private var readUpTo = MessageID.zero
  /// How often it has come.
  package private(set) var openings = 0
  private var consumer: Consumer?
  private var cursor: FeedCursor?
  private var text: [UInt8] = []

  private let wantsCounts: Bool

  package init(_ account: AccountID, wantsCounts: Bool = false) {
    self.account = account
    self.wantsCounts = wantsCounts
  }

  package var isOpen: Bool { consumer != nil }

  /// The notifications that an account sent: no operation's notification has a body.
  package var sent: [MessageID] { received.filter { bodies[$0] != "" } }

  package func knowsRead(_ id: MessageID) -> Bool { read.contains(id) || id <= readUpTo }

  package func open(_ hub: Hub) throws {
    guard consumer == nil else { return }
    text = []
    openings += 1
    consumer = try hub.openConsumer(
      account: account, device: nil, after: cursor, expiresAtMilliseconds: .max,
      wantsCounts: wantsCounts, framing: ServerSentEvents.framing)
  }

  package func cut() {
    consumer?.close()
    consumer = nil
    counts = nil
  }

  /// Takes what is ready, as much as a socket of some size would.
  package func pull(room: Int) throws {
    guard let consumer else { return }
    var bytes = [UInt8](repeating: 0, count: room)
    let count = unsafe bytes.withUnsafeMutableBytes { room in
      var buffer = unsafe StreamBuffer(room)
      _ = consumer.pull(into: &buffer)
      return buffer.count
    }
    text += bytes[..<count]
    try takeEvents()
  }

  private func takeEvents() throws {
    while let end = text.indices.dropFirst().first(where: { text[$0] == 10 && text[$0 - 1] == 10 }) {
      let event = String(decoding: text[..<end], as: UTF8.self)
      text.removeSubrange(...end)
      var fields: [Substring: Substring] = [:]
      for line in event.split(separator: "\n") {
        guard let colon = line.firstRange(of: ": ") else { continue }
        fields[line[..<colon.lowerBound]] = line[colon.upperBound...]
      }
      if let id = fields["id"] { cursor = FeedCursor(text: String(id)) ?? cursor }
      guard let name = fields["event"], let data = fields["data"] else { continue }
      try take(name, try #require(RecordJSON.value(String(data))), hasID: fields["id"] != nil)
    }
  }

  private func take(_ name: Substring, _ data: JSONValue, hasID: Bool) throws {
    let id = data["messageServerId"]?.text.flatMap { MessageID($0) }
    let body = data["body"]?.text ?? ""
    switch name {
    case "notification" where hasID:
      received.append(try #require(id))
      if !held.insert(try #require(id)).inserted { doubled.append(try #require(id)) }
      bodies[try #require(id)] = body
    case "notification": ephemeral.append(body)
    case "updated":
      updates.append(try #require(id))
      bodies[try #require(id)] = body
    case "preferences":
      // The remaining notifications are shown again.
      held = []
      resets += 1
    case "retracted":
      held.remove(try #require(id))
      retracted.insert(try #require(id))
    case "read":
      if let upTo = data["upTo"]?.text {
        let last = try #require(MessageID(upTo))
        readUpTo = max(readUpTo, last)
        held = held.filter { $0 > last }
      }
      if case .array(let ids) = data["messageServerIds"] {
        let newlyRead = try ids.map { try #require($0.text.flatMap { MessageID($0) }) }
        read.formUnion(newlyRead)
        // Not all that ever was: what a store has forgotten is unread again, and shown again.
        held.subtract(newlyRead)
      }
    case "counts": counts = data
    case "device": echoes.append(try #require(data["target"]))
    case "gap":
      let ids = [data["from"], data["to"]].compactMap { $0?.text.flatMap { MessageID($0) } }
      try #require(ids.count == 2)
      gapRanges.append((from: ids[0], to: ids[1]))
    default: break
    }
  }
}

extension JSONValue {
  package subscript(name: String) -> JSONValue? {
    if case .object(let fields) = self { fields[name] } else { nil }
  }

  package var text: String? {
    if case .string(let text) = self { text } else { nil }
  }
}
