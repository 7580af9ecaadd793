import BelfryClient
import BelfryModel
import FoundationEssentials

/// One event of a feed as a line for a program: `{"event": …, "cursor": …, "data": …}`. An entry of a server's log also has
/// its `audience`.
struct FeedLine: Encodable {
  private enum Key: String, CodingKey { case event, cursor, data, audience }
  private enum DataKey: String, CodingKey {
    case preferences, messageServerId, messageServerIds, upTo, from, to, reason, retry, byDevice
  }

  private let event: FeedEvent
  private let audience: String?

  init(_ event: FeedEvent, audience: String? = nil) {
    self.event = event
    self.audience = audience
  }

  func encode(to encoder: any Encoder) throws {
    var line = encoder.container(keyedBy: Key.self)
    try line.encode(event.name, forKey: .event)
    try line.encodeIfPresent(audience, forKey: .audience)
    switch event {
    case .notification(let notification, let cursor), .updated(let notification, let cursor):
      try line.encode(cursor, forKey: .cursor)
      try line.encode(notification, forKey: .data)
    case .device(let value):
      try line.encode(value, forKey: .data)
    case .preferences(let preferences):
      var data = line.nestedContainer(keyedBy: DataKey.self, forKey: .data)
      try data.encode(preferences, forKey: .preferences)
    case .retracted(let id, let cursor):
      try line.encode(cursor, forKey: .cursor)
      var data = line.nestedContainer(keyedBy: DataKey.self, forKey: .data)
      try data.encode(id, forKey: .messageServerId)
    case .counts(let counts):
      try line.encode(counts, forKey: .data)
    case .other(_, let data):
      try line.encode(data, forKey: .data)
    case .read(let mark):
      var data = line.nestedContainer(keyedBy: DataKey.self, forKey: .data)
      switch mark {
      case .ids(let ids): try data.encode(ids, forKey: .messageServerIds)
      case .upTo(let id): try data.encode(id, forKey: .upTo)
      }
    case .gap(let from, let to):
      var data = line.nestedContainer(keyedBy: DataKey.self, forKey: .data)
      try data.encode(from, forKey: .from)
      try data.encode(to, forKey: .to)
    case .kicked(let reason, let retry, let device):
      var data = line.nestedContainer(keyedBy: DataKey.self, forKey: .data)
      try data.encode(reason, forKey: .reason)
      try data.encode(retry, forKey: .retry)
      try data.encodeIfPresent(device, forKey: .byDevice)
    case .connected, .disconnected:
      break
    }
  }
}

extension FeedLine {
  /// One event as a line for a person. An event without a time has the time of its arrival.
  ///
  /// - Parameters:
  ///   - audience: of an entry of a server's log, the audience.
  static func text(
    _ event: FeedEvent, nowMilliseconds: Int64, _ names: SpaceNames, audience: String? = nil,
    on console: Console
  ) -> String {
    let words: [String]
    switch event {
    case .notification(let notification, _):
      return columns(
        notification.time, notification.messageServerId.text, notification.content, names,
        for: audience, on: console)
    case .updated(let notification, _):
      return columns(
        notification.updateTime ?? nowMilliseconds, "updated \(notification.messageServerId)",
        notification.content, names, for: audience, on: console)
    case .read(.ids(let ids)): words = ["read"] + ids.map(\.text)
    case .read(.upTo(.last)): words = ["read everything"]
    case .read(.upTo(let id)): words = ["read everything up to \(id)"]
    case .preferences: words = ["preferences have changed: unread notifications follow again"]
    case .retracted(let id, _): words = ["recalled \(id)"]
    case .counts(let counts): words = ["\(counts.unread)\(counts.isCapped ? " and more" : "") unread"]
    case .gap(let from, let to): words = ["gap: notifications between \(from) and \(to) may be missing"]
    case .device(let value): words = [device(value)]
    case .other(let event, let data): words = [event, data]
    case .connected, .disconnected, .kicked: words = [event.name]
    }
    let time = TimeText.of(unixMilliseconds: nowMilliseconds, in: console.timeZone)
    let text = time + "  " + VisibleText.of(words.joined(separator: " "))
    return WrappedText.line([(text, event.color)], on: console)
  }

  /// An operation by another device of the account: `on device phone: group create (group 12)`.
  private static func device(_ value: JSONValue) -> String {
    guard case .object(let event) = value, case .string(let scene)? = event["of"],
      case .string(let operation)? = event["operation"]
    else { return "on another device: " + ((try? JSONLine.text(value)) ?? "") }
    var target: [String] = []
    if case .object(let ids)? = event["target"] {
      target = ids.map { name, id in
        let word = name.hasSuffix("Id") ? String(name.dropLast(2)) : name
        if case .string(let text) = id { return "\(word) \(text)" }
        return "\(word) \((try? JSONLine.text(id)) ?? "")"
      }
    }
    let device = if case .string(let name)? = event["device"] { "device \(name)" } else { "another device" }
    return "on \(device): \(scene) \(spaced(operation))"
      + (target.isEmpty ? "" : " (\(target.joined(separator: ", ")))")
  }

  /// `acceptInvitation` as `accept invitation`.
  private static func spaced(_ name: String) -> String {
    name.reduce(into: "") { text, character in
      if character.isUppercase { text.append(" ") }
      text.append(character.lowercased())
    }
  }

  /// The command that accepts the invitation or application that an event is. It has a line of its own: a text of others
  /// contains no line ends, so that none can imitate it.
  ///
  /// - Parameter account: the account that the command acts for by `--as`.
  static func acceptingLine(_ event: FeedEvent, as account: String?, on console: Console) -> String? {
    let content: NotificationContent
    switch event {
    case .notification(let notification, _), .updated(let notification, _): content = notification.content
    default: return nil
    }
    return NotificationText.accepting(content, as: account).map {
      console.colored("  To accept: " + VisibleText.of($0), .faint)
    }
  }

  /// The last cell of an entry of a log: who may see it.
  private static func meaning(of audience: String?) -> String {
    audience.map { ExplanationText.meaning(of: $0) ?? $0 } ?? ""
  }

  /// The sender and the content stand out, because readers look for them; the time, the id and the space are faint.
  private static func columns(
    _ time: Int64, _ id: String, _ content: NotificationContent, _ names: SpaceNames,
    for audience: String?, on console: Console
  ) -> String {
    let receivers = audience.flatMap { Audience(text: $0) }?.named ?? []
    let cells: [(text: String, color: Color?)] = [
      (TimeText.of(unixMilliseconds: time, in: console.timeZone), .faint), (id, .faint),
      (names.text(content), .faint), (NotificationText.type(content.type), .faint),
      (NotificationText.sender(content), .bold),
      (NotificationText.substance(content, names, to: receivers, in: console.timeZone), nil),
      (meaning(of: audience), .faint),
    ]
    return WrappedText.line(
      cells.filter { !$0.text.isEmpty }.map { (VisibleText.of($0.text), $0.color) }, on: console)
  }
}

extension FeedEvent {
  /// The colour of the line, if it is not a notification.
  fileprivate var color: Color {
    switch self {
    case .gap: .yellow
    default: .faint
    }
  }

  fileprivate var name: String {
    switch self {
    case .notification: "notification"
    case .read: "read"
    case .updated: "updated"
    case .retracted: "retracted"
    case .preferences: "preferences"
    case .counts: "counts"
    case .gap: "gap"
    case .kicked: "kicked"
    case .device: "device"
    case .connected: "connected"
    case .disconnected: "disconnected"
    case .other(let event, _): event
    }
  }
}
