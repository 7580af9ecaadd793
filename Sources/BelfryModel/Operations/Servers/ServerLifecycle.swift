/// Any account may create a server and owns it; a default channel comes with it.
package struct CreateServer: Operation {
  package static let name = OperationName(.server, "create")
  package static let defaultChannelName = "general"

  package var space: SpaceID
  package var owner: AccountID
  package var actor: Actor
  package var serverName: String
  package var icon: String?
  package var ext: String?
  package var inviteMode: InviteMode = .needsConsent
  package var applyMode: ApplyMode = .joinsAtOnce
  package var membersMayInvite = false
  package var sendMode = SendMode.everybody
  package var nicks = NickRule.any
  package var adminsMayCreateChannels = false
  package var defaultChannel: EntityID

  package init(id: EntityID, defaultChannel: EntityID, owner: AccountID, actor: Actor, name: String) {
    space = .server(id)
    self.defaultChannel = defaultChannel
    self.owner = owner
    self.actor = actor
    serverName = name
  }

  package var needs: [RecordAddress] {
    [.settings(space), .member(owner, of: space), .former(owner, of: space)]
  }
  package var counts: [RecordTable] { [.roster] }
  package var joiners: [AccountID] { [owner] }

  package func decide(_ records: Records, context: DecisionContext) throws(Refusal) -> Decision<ServerRecord>
  {
    guard actor.isTrusted || actor.account == owner else {
      throw Refusal(.forbidden, "only an app or operator token may create a server for another account")
    }
    try records.requireAbsent(ServerRecord.self, space)
    var server = ServerRecord(
      name: serverName, owner: owner, createdAt: context.nowMilliseconds, defaultChannelId: defaultChannel)
    server.icon = icon
    server.ext = ext
    server.inviteMode = inviteMode
    server.applyMode = applyMode
    server.membersMayInvite = membersMayInvite
    server.sendMode = sendMode == .everybody ? nil : sendMode
    server.nicks = nicks == .any ? nil : nicks
    server.adminsMayCreateChannels = adminsMayCreateChannels
    try server.checkLimits()
    let channel = ChannelRecord(
      name: Self.defaultChannelName, type: .public, membership: .everyone, createdAt: context.nowMilliseconds)

    var draft = Draft(space, server, isNew: true, by: actor, on: records, context)
    draft.change(.channel(defaultChannel, of: space), to: try RecordJSON.text(channel))
    try draft.addMember(owner, as: .owner, membersMax: context.limits.membersPerServer)
    draft.announce(Catalogue.serverCreate, attach: ["serverInfo": server.info(space)], parties: [owner])
    draft.announceJoined([owner])
    return Decision(try draft.finish(Self.name, target: ["serverId": .string(space.name)]), server)
  }
}

/// The owner and the admins may change a server's name, its picture, and how accounts join it.
package struct UpdateServer: SpaceOperation {
  package static let name = OperationName(.server, "update")
  package static let access = Access.administrators

  package var space: SpaceID
  package var actor: Actor
  /// Nil leaves a setting as it is; an empty text clears `icon` and `ext`.
  package var serverName: String?
  package var icon: String?
  package var ext: String?
  package var inviteMode: InviteMode?
  package var applyMode: ApplyMode?
  package var membersMayInvite: Bool?
  package var sendMode: SendMode?
  package var nicks: NickRule?
  package var adminsMayCreateChannels: Bool?

  package init(_ id: EntityID, actor: Actor) {
    space = .server(id)
    self.actor = actor
  }

  package func carryOut(_ draft: inout Draft<ServerRecord>) throws(Refusal) -> ServerRecord {
    let before = draft.settings
    if let serverName { draft.settings.name = serverName }
    if let icon { draft.settings.icon = icon.isEmpty ? nil : icon }
    if let ext { draft.settings.ext = ext.isEmpty ? nil : ext }
    if let inviteMode { draft.settings.inviteMode = inviteMode }
    if let applyMode { draft.settings.applyMode = applyMode }
    if let membersMayInvite { draft.settings.membersMayInvite = membersMayInvite }
    if let sendMode { draft.settings.sendMode = sendMode == .everybody ? nil : sendMode }
    if let nicks { draft.settings.nicks = nicks == .any ? nil : nicks }
    if let adminsMayCreateChannels { draft.settings.adminsMayCreateChannels = adminsMayCreateChannels }
    try draft.settings.checkLimits()
    if draft.settings != before {
      draft.announce(Catalogue.serverUpdate, attach: ["serverInfo": draft.settings.info(space)])
    }
    return draft.settings
  }
}

/// Only the owner may remove a server. One append notifies every member, however many there are; the roster is kept until
/// retention, so that members who were away learn of it later.
package struct RemoveServer: SpaceOperation {
  package static let name = OperationName(.server, "remove")
  package static let access = Access.owner

  package var space: SpaceID
  package var actor: Actor

  package init(_ id: EntityID, actor: Actor) {
    space = .server(id)
    self.actor = actor
  }

  package func carryOut(_ draft: inout Draft<ServerRecord>) {
    draft.settings.removedAt = draft.nowMilliseconds
    draft.announce(Catalogue.serverRemove)
  }
}
