import BelfryHTTP
import BelfryModel
import BelfryStore

/// The answer to a send.
struct SendReceipt {
  let id: MessageID
  /// The time of the send, in milliseconds since 1970.
  let time: Int64
  /// True if it had been sent before. Then nobody receives it again.
  var isDuplicate: Bool
  private let send: SendNotification
  private let clientId: String?

  init(_ done: OperationRunner.Done<SendNotification>) throws(Refusal) {
    send = done.output
    clientId = send.content.messageClientId
    isDuplicate = done.duplicateOf != nil
    guard let id = done.duplicateOf ?? done.commit?.ids.first else {
      throw .unknownOutcome
    }
    self.id = id
    time = done.appendedAt ?? id.unixMilliseconds
  }

  /// The receipt of a notification that was sent before.
  init?(repeating asked: AskedSends) {
    guard case .same(let id, let appendedAt)? = asked.first, let send = asked.sends.first else { return nil }
    self.init(repeating: send, id: id, time: appendedAt ?? id.unixMilliseconds, send.content.messageClientId)
  }

  /// - Parameter clientId: the `messageClientId` of the first send, if it is known.
  init(repeating send: SendNotification, id: MessageID, time: Int64, _ clientId: String?) {
    self.send = send
    self.id = id
    self.time = time
    self.clientId = clientId
    isDuplicate = true
  }

  var status: Int { isDuplicate ? 200 : 201 }

  func write(to text: inout JSONText) {
    let content = send.content
    text.field("messageServerId", id: id.raw)
    if let clientId { text.field("messageClientId", clientId) }
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
