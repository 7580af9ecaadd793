/// The form of a custom send, told apart by what is given (reference §1).
package enum SendForm: Sendable, Hashable {
  case server(EntityID)
  case channel(EntityID, of: EntityID)
  case serverMembers(EntityID, [AccountID])
  case channelMembers(EntityID, of: EntityID, [AccountID])
  case accounts([AccountID])

  package init(_ content: NotificationContent) throws(Refusal) {
    if content.groupId != nil {
      throw Refusal(.notFound, "there is no group \(content.groupId?.text ?? "")", field: "groupId")
    }
    if content.roomId != nil {
      throw Refusal(.notFound, "there is no room \(content.roomId?.text ?? "")", field: "roomId")
    }
    switch (content.serverId, content.channelId, content.toAccids) {
    case (let server?, nil, nil): self = .server(server)
    case (let server?, let channel?, nil): self = .channel(channel, of: server)
    case (let server?, nil, let accounts?): self = .serverMembers(server, accounts)
    case (let server?, let channel?, let accounts?): self = .channelMembers(channel, of: server, accounts)
    case (nil, nil, let accounts?): self = .accounts(accounts)
    case (nil, .some, _): throw .invalid("serverId", "is needed beside channelId")
    case (nil, nil, nil): throw .invalid("serverId", "or toAccids is needed: a notification needs receivers")
    }
  }

  package var toType: ToType {
    switch self {
    case .server: .server
    case .channel: .channel
    case .serverMembers: .serverMembers
    case .channelMembers: .channelMembers
    case .accounts: .accounts
    }
  }
}
