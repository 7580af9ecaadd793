/// A back end announces in a server what it keeps itself: a group of roles, a category of channels, a visitor, a quick comment.
/// The accounts that it names receive it, and so do the members under the threshold rule; of a channel, if one is named.
package struct AnnounceInServer: SpaceOperation {
  package static let name = OperationName(.server, "announce")
  package static let access = Access.trusted

  package var space: SpaceID
  package var actor: Actor
  package var type: Int
  package var accounts: [AccountID]
  package var channelID: EntityID?
  package var attach: JSONValue?

  package init(
    _ id: EntityID, actor: Actor, type: Int, accounts: [AccountID], channel: EntityID?, attach: JSONValue?
  ) {
    space = .server(id)
    self.actor = actor
    self.type = type
    self.accounts = accounts.withoutRepeats
    channelID = channel
    self.attach = attach
  }

  package var concerns: [RecordAddress] { accounts.map { .member($0, of: space) } }

  package func carryOut(_ draft: inout Draft<ServerRecord>) throws(Refusal) {
    var row = try Catalogue.announcedType(type)
    try NotificationContent.check(attach, "attach", jsonBytes: Limits.attachBytes)
    var scene: NotificationType.ChannelScene?
    if let channelID {
      scene = try draft.records.channel(channelID, of: space).scene(channelID)
      row.others = .channel
    }
    draft.announce(row, attach: attach, parties: accounts, channel: scene)
  }
}
