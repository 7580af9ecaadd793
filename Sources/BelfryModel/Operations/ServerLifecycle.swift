/// Any account may create a server and owns it; a default channel comes with it.
package struct CreateServer: Operation {
  package var space: SpaceID
  package var owner: AccountID
  package var actor: Actor
  package var name: String
  package var icon: String?
  package var ext: String?
  package var inviteMode: InviteMode = .needsConsent
  package var applyMode: ApplyMode = .joinsAtOnce
  package var defaultChannel: EntityID

  package static let defaultChannelName = "general"

  package init(id: EntityID, defaultChannel: EntityID, owner: AccountID, actor: Actor, name: String) {
    space = .server(id)
    self.defaultChannel = defaultChannel
    self.owner = owner
    self.actor = actor
    self.name = name
  }

  package var needs: [RecordAddress] { [.settings(space)] }
  package var joiners: [AccountID] { [owner] }

  package func decide(_ records: Records, context: DecisionContext) throws(Refusal) -> Decision<ServerRecord>
  {
    guard records.text(.settings(space)) == nil else {
      throw Refusal(.conflict, "server \(space.name) exists already", field: "serverId")
    }
    try context.checkServerCount(of: owner)
    var server = ServerRecord(
      name: name, owner: owner, createdAt: context.nowMilliseconds, defaultChannelId: defaultChannel)
    server.icon = icon
    server.ext = ext
    server.inviteMode = inviteMode
    server.applyMode = applyMode
    let channel = ChannelRecord(
      name: Self.defaultChannelName, type: .public, membership: .everyone, createdAt: context.nowMilliseconds)
    let member = MemberRecord(role: .owner, standing: Standing(belonging: .since(.beforeThisCommit)))

    var transaction = Transaction(space)
    transaction.preconditions = records.unchanged(needs)
    transaction.changes[.settings(space)] = try RecordJSON.text(server)
    transaction.changes[.channel(defaultChannel, of: space)] = try RecordJSON.text(channel)
    transaction.changes[.member(owner, of: space)] = member.text
    transaction.indexChanges = [IndexChange(.joined, [owner])]
    transaction.announce(
      Catalogue.serverCreate, by: actor, attach: ["serverInfo": server.info(space)], parties: [owner])
    transaction.announce(Catalogue.serverEnterLeave, by: actor, attach: EnterLeave.entered, parties: [owner])
    return Decision(transaction, server)
  }
}

/// The owner and the admins may change what a server is called and how one gets in.
package struct UpdateServer: Operation {
  package var space: SpaceID
  package var actor: Actor
  /// Nil leaves a setting as it is; an empty text clears `icon` and `ext`.
  package var name: String?
  package var icon: String?
  package var ext: String?
  package var inviteMode: InviteMode?
  package var applyMode: ApplyMode?

  package init(_ id: EntityID, actor: Actor) {
    space = .server(id)
    self.actor = actor
  }

  package var needs: [RecordAddress] { [.settings(space)] + actor.needs(in: space) }

  package func decide(_ records: Records, context: DecisionContext) throws(Refusal) -> Decision<ServerRecord>
  {
    let before = try records.server(space)
    try records.require(.administrators, actor, in: space, to: "update the server")
    var server = before
    if let name { server.name = name }
    if let icon { server.icon = icon.isEmpty ? nil : icon }
    if let ext { server.ext = ext.isEmpty ? nil : ext }
    if let inviteMode { server.inviteMode = inviteMode }
    if let applyMode { server.applyMode = applyMode }
    guard server != before else { return Decision(nil, server) }

    var transaction = Transaction(space)
    transaction.preconditions = records.unchanged(needs)
    transaction.changes[.settings(space)] = try RecordJSON.text(server)
    transaction.announce(Catalogue.serverUpdate, by: actor, attach: ["serverInfo": server.info(space)])
    return Decision(transaction, server)
  }
}

/// Only the owner may remove a server. One append tells every member, however many there are; the
/// roster stays until retention, so that whoever comes back later still learns of it.
package struct RemoveServer: Operation {
  package var space: SpaceID
  package var actor: Actor

  package init(_ id: EntityID, actor: Actor) {
    space = .server(id)
    self.actor = actor
  }

  package var needs: [RecordAddress] { [.settings(space)] + actor.needs(in: space) }

  package func decide(_ records: Records, context: DecisionContext) throws(Refusal) -> Decision<Void> {
    var server = try records.server(space)
    try records.require([.owner], actor, in: space, to: "remove the server")
    server.removedAt = context.nowMilliseconds
    var transaction = Transaction(space)
    transaction.preconditions = records.unchanged(needs)
    transaction.changes[.settings(space)] = try RecordJSON.text(server)
    transaction.announce(Catalogue.serverRemove, by: actor, parties: [server.owner])
    return Decision(transaction)
  }
}

extension DecisionContext {
  func checkServerCount(of account: AccountID) throws(Refusal) {
    guard serversOfJoiners[account, default: 0] < limits.serversPerAccount else {
      throw Refusal(
        .tooMany, "\(account) is in \(limits.serversPerAccount) servers already, the most there may be")
    }
  }
}
