import BelfryModel

/// The body that makes a channel.
struct CreateChannelRequest {
  var name: String
  var description: String?
  var type: ChannelRecord.Kind
  var membership: ChannelRecord.Membership
  /// The first members of the roster.
  var members: [AccountID]

  init(_ fields: consuming Fields) throws(Refusal) {
    name = try fields.needed(try fields.name("name"), "name")
    description = try fields.description()
    type = try fields.needed(try fields.choice("type", ChannelRecord.Kind.self), "type")
    let membership = try fields.choice("membership", ChannelRecord.Membership.self)
    members = try fields.accounts("members", counts: 0...Limits.membersPerCall) ?? []
    try fields.finish()
    self.membership = membership ?? (type == .private ? .roster : .everyone)
    if self.membership == .everyone, !members.isEmpty {
      throw .invalid("members", "a channel of everyone's has no roster to put them in")
    }
  }
}

/// The body that changes a channel. What is left out stays; an empty description clears it.
struct UpdateChannelRequest {
  var name: String?
  var description: String?

  init(_ fields: consuming Fields) throws(Refusal) {
    name = try fields.name("name")
    description = try fields.description()
    try fields.finish()
  }
}

extension Fields {
  fileprivate mutating func description() throws(Refusal) -> String? {
    let description = try text("description")
    try NotificationContent.check(description, "description", characters: Limits.descriptionCharacters)
    return description
  }
}
