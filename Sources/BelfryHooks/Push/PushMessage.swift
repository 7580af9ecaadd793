package import BelfryModel

/// The content of a push, the same for every carrier.
package struct PushMessage: Sendable, Hashable {
  package let id: MessageID
  package let space: SpaceID
  package let type: Int
  /// The text to show, with the sender's name in front if that was asked for.
  package let text: String?
  package let sender: AccountID?
  package let nick: String?
  package let payload: JSONValue?
  package let expiresAtMilliseconds: Int64?
  /// Nil if it was not asked for.
  package var unread: Int?

  package init(_ entry: LogEntry, _ content: NotificationContent, in space: SpaceID, unread: Int?) {
    id = entry.id
    self.space = space
    type = content.type
    nick = content.setting.needPushNick ? content.fromNick : nil
    sender = content.fromAccount
    let text = content.pushContent ?? content.body ?? Self.sentence(content)
    self.text = text.map { [nick] text in nick.map { "\($0): \(text)" } ?? text }
    payload = content.pushPayload
    expiresAtMilliseconds = content.expireAt
    self.unread = unread
  }

  /// A built-in notification as a sentence, without times: they would be in the broker's zone, not in the reader's.
  private static func sentence(_ content: NotificationContent) -> String? {
    var names = SpaceNames()
    names.learn(from: content)
    return NotificationSentence(content, names) { _ in nil }.text
  }
}

// MARK: - For gateways as Matrix has them

extension PushMessage {
  /// Source: Matrix specification v1.11, `POST /_matrix/push/v1/notify`.
  package func matrixBody(for gateway: MatrixGateway, sinceSeconds: Int64) -> [UInt8] {
    var notification = JSONText(capacity: 1_024)
    notification.field("event_id", id.text)
    notification.field("room_id", space.key)
    notification.field("prio", "high")
    if let unread { notification.field("counts", ["unread": .integer(Int64(unread))] as JSONValue) }
    if !gateway.isToldIDsOnly {
      notification.field("type", "belfry.notification")
      if let sender { notification.field("sender", sender.text) }
      if let nick { notification.field("sender_display_name", nick) }
      var content = JSONText(capacity: 512)
      content.field("msgtype", "m.text")
      content.field("body", text ?? "")
      content.field("notificationType", type)
      if let payload { content.field("pushPayload", payload) }
      notification.field("content", object: content)
    }
    notification.field("devices", gateway.devices(sinceSeconds))
    var body = JSONText(capacity: 1_280)
    body.field("notification", object: notification)
    return body.finish()
  }

  /// The number alone. Without an event, a gateway shows nothing.
  package static func matrixBadge(_ unread: Int, for gateway: MatrixGateway, sinceSeconds: Int64) -> [UInt8] {
    var notification = JSONText()
    notification.field("prio", "low")
    notification.field("counts", ["unread": .integer(Int64(unread))] as JSONValue)
    notification.field("devices", gateway.devices(sinceSeconds))
    var body = JSONText()
    body.field("notification", object: notification)
    return body.finish()
  }
}

extension MatrixGateway {
  fileprivate func devices(_ sinceSeconds: Int64) -> JSONValue {
    var device: JSONObject = [
      "app_id": .string(appID), "pushkey": .string(pushkey), "pushkey_ts": .integer(sinceSeconds),
      "tweaks": ["sound": "default"],
    ]
    if let data { device["data"] = .object(data) }
    return .array([.object(device)])
  }

  /// True if the answer says that the gateway no longer knows the device, so that nothing is to be sent for it. Nil if it
  /// is not the answer of a gateway.
  package func isRejected(by answer: [UInt8]) -> Bool? {
    guard case .object(let members)? = try? JSONParser.value(of: answer),
      case .array(let rejected)? = members["rejected"]
    else { return nil }
    return rejected.contains(.string(pushkey))
  }
}

// MARK: - For Web Push

extension PushMessage {
  /// JSON for the page's worker, of at most so many bytes. If there is no room, the payload is left out, and then the end
  /// of the text.
  package func webPushText(maxBytes: Int = WebPushEncryption.textMaxBytes) -> [UInt8] {
    var whole = webPushText(text, payload, isCut: false)
    if whole.count > maxBytes { whole = webPushText(text, nil, isCut: true) }
    var characters = text?.count ?? 0
    while whole.count > maxBytes, characters > 0 {
      characters /= 2
      whole = webPushText(text.map { String($0.prefix(characters)) }, nil, isCut: true)
    }
    return whole
  }

  private func webPushText(_ shown: String?, _ payload: JSONValue?, isCut: Bool) -> [UInt8] {
    var text = JSONText(capacity: 1_024)
    text.field("messageServerId", id.text)
    text.field("space", space.key)
    text.field("type", type)
    if let sender { text.field("fromAccount", sender.text) }
    if let shown { text.field("text", shown) }
    if let unread { text.field("unread", unread) }
    if let payload { text.field("pushPayload", payload) }
    if isCut { text.field("isCut", true) }
    return text.finish()
  }
}
