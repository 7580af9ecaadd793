import BelfryModel
import BelfryStore

/// What a sender gets back.
struct SendReceipt {
  static let shape = Shape.resource(
    "Receipt",
    [
      .always("messageServerId", .message, "the notification's id, of a duplicate the first one's"),
      .always("time", .time, "when it was sent"),
      .always("duplicate", .flag, "whether it had been sent before; nobody receives it again then"),
      .always("type", .integer([0...Int.max]), "its type"),
      .always("toType", .choice(ToType.self), "what it is addressed to"),
      .sometimes("messageClientId", .text, "the sender's id for it, or one that was made"),
      .sometimes("serverId", .id, "the server it is for"),
      .sometimes("channelId", .id, "the channel it is for"),
      .sometimes("groupId", .id, "the group it is for"),
      .sometimes("roomId", .id, "the room it is for"),
    ])

  let id: MessageID
  /// It had been sent before, and nobody receives it again.
  let isDuplicate: Bool
  private let send: SendNotification

  init(_ done: OperationRunner.Done<SendNotification>) throws(Refusal) {
    send = done.output
    isDuplicate = done.duplicateOf != nil
    guard let id = done.duplicateOf ?? done.commit?.ids.first else {
      throw Refusal(.unavailable, "the store did not say what it did")
    }
    self.id = id
  }

  var status: Int { isDuplicate ? 200 : 201 }

  func write(to text: inout JSONText) {
    let content = send.content
    text.field("messageServerId", id: id.raw)
    if let clientId = content.messageClientId { text.field("messageClientId", clientId) }
    text.field("time", id.unixMilliseconds)
    text.field("duplicate", isDuplicate)
    text.field("type", content.type)
    text.field("toType", content.toType.rawValue)
    if let server = content.serverId { text.field("serverId", id: server.number) }
    if let channel = content.channelId { text.field("channelId", id: channel.number) }
    if let group = content.groupId { text.field("groupId", id: group.number) }
    if let room = content.roomId { text.field("roomId", id: room.number) }
  }

  var reply: Reply {
    var text = JSONText()
    write(to: &text)
    return .json(text, status: status)
  }
}
