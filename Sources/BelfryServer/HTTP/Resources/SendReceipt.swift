import BelfryHTTP
import BelfryModel
import BelfryStore

/// What a sender gets back.
struct SendReceipt {
  let id: MessageID
  /// When it was sent, milliseconds since 1970.
  let time: Int64
  /// It had been sent before, and nobody receives it again.
  var isDuplicate: Bool
  private let send: SendNotification

  init(_ done: OperationRunner.Done<SendNotification>) throws(Refusal) {
    send = done.output
    isDuplicate = done.duplicateOf != nil
    guard let id = done.duplicateOf ?? done.commit?.ids.first else {
      throw .unknownOutcome
    }
    self.id = id
    time = done.appendedAt ?? id.unixMilliseconds
  }

  /// Of what was sent before.
  init?(repeating asked: AskedSends) {
    guard case .same(let id, let appendedAt)? = asked.first, let send = asked.sends.first else { return nil }
    (self.id, self.send) = (id, send)
    time = appendedAt ?? id.unixMilliseconds
    isDuplicate = true
  }

  var status: Int { isDuplicate ? 200 : 201 }

  func write(to text: inout JSONText) {
    let content = send.content
    text.field("messageServerId", id: id.raw)
    if let clientId = content.messageClientId { text.field("messageClientId", clientId) }
    text.field("time", time)
    text.field("duplicate", isDuplicate)
    text.field("type", content.type)
    text.field("toType", content.toType.rawValue)
    if let server = content.serverId { text.field("serverId", id: server.number) }
    if let channel = content.channelId { text.field("channelId", id: channel.number) }
    if let group = content.groupId { text.field("groupId", id: group.number) }
    if let room = content.roomId { text.field("roomId", id: room.number) }
  }

  var response: HTTPResponse {
    var text = JSONText()
    write(to: &text)
    return .json(text, status: status)
  }
}
