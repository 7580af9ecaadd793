// What the operations on servers and channels have in common: who may, and how the announcements look.

extension Records {
  /// The actor's place in the server; nil for a trusted back end that is no member itself.
  func standing(of actor: Actor, in space: SpaceID) throws(Refusal) -> MemberRecord? {
    guard let account = actor.account else { return nil }
    return try member(account, of: space)
  }

  /// Lets the roles in, and trusted back ends.
  func require(_ roles: Set<MemberRole>, _ actor: Actor, in space: SpaceID, to what: String) throws(Refusal) {
    if actor.isTrusted { return }
    guard let record = try standing(of: actor, in: space) else {
      throw Refusal(.notMember, "you are not a member of server \(space.name)")
    }
    guard roles.contains(record.role) else {
      let allowed = roles.map(\.rawValue).sorted().joined(separator: " or ")
      throw Refusal(.forbidden, "only its \(allowed) may \(what)")
    }
  }

  /// The precondition that these records are still what was read.
  func unchanged(_ addresses: [RecordAddress]) -> [RecordAddress: String?] {
    Dictionary(addresses.map { ($0, text($0)) }) { first, _ in first }
  }
}

extension Set<MemberRole> {
  static let administrators: Self = [.owner, .admin]
}

extension Actor {
  /// The actor's own records, which nearly every operation needs to see who is asking.
  func needs(in space: SpaceID) -> [RecordAddress] {
    account.map { [.member($0, of: space)] } ?? []
  }
}

extension Transaction {
  /// Announces an event of the server, or of one of its channels.
  mutating func announce(
    _ type: NotificationType, by actor: Actor, attach: JSONValue? = nil, parties: [AccountID] = [],
    channel: (id: EntityID, record: ChannelRecord)? = nil, except: [AccountID] = []
  ) {
    var content = NotificationContent(type: type.code, toType: channel == nil ? .server : .channel)
    content.serverId = EntityID(space.name)
    content.channelId = channel?.id
    content.fromAccount = actor.account
    content.fromDeviceId = actor.device
    content.attach = attach
    announcements.append(
      Announcement(content, to: type.audience(parties: parties, channel: channel, except: except)))
  }
}

extension ServerRecord {
  /// `serverInfo` of the attachments, and the server as HTTP shows it.
  package func info(_ space: SpaceID) -> JSONValue {
    var info: [String: JSONValue] = [
      "serverId": .string(space.name), "name": .string(name), "owner": .string(owner.text),
      "createTime": .integer(createdAt), "inviteMode": .integer(Int64(inviteMode.rawValue)),
      "applyMode": .integer(Int64(applyMode.rawValue)), "defaultChannelId": .string(defaultChannelId.text),
    ]
    if let icon { info["icon"] = .string(icon) }
    if let ext { info["ext"] = .string(ext) }
    return .object(info)
  }
}

extension ChannelRecord {
  /// `channelInfo` of the attachments, and the channel as HTTP shows it.
  package func info(_ id: EntityID, of space: SpaceID) -> JSONValue {
    var info: [String: JSONValue] = [
      "channelId": .string(id.text), "serverId": .string(space.name), "name": .string(name),
      "type": .string(type.rawValue), "membership": .string(membership.rawValue),
      "createTime": .integer(createdAt),
    ]
    if let description { info["description"] = .string(description) }
    return .object(info)
  }
}

/// `event` of types 31 and 32.
enum EnterLeave {
  static let entered: JSONValue = ["event": 1]
  static let left: JSONValue = ["event": 2]
}
