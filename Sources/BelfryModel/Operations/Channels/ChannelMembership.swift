/// A member of the server joins a channel with a roster: any that they see, so a public one, and a private one if they
/// are on its allow list.
package struct JoinChannel: SpaceOperation {
  package static let name = OperationName(.channel, "join")
  package static let access = Access.members

  package var space: SpaceID
  package var actor: Actor
  package var id: EntityID

  package init(_ server: EntityID, id: EntityID, actor: Actor) {
    space = .server(server)
    self.id = id
    self.actor = actor
  }

  package var channelID: EntityID? { id }
  package var counts: [RecordTable] { [.channelRoster(id)] }

  package func carryOut(_ draft: inout Draft<ServerRecord>) throws(Refusal) {
    let account = try draft.actingAccount()
    let member = try draft.requireMember()
    let channel = try draft.records.channel(id, of: space)
    // A trusted caller may add an account to any channel, but no account that is on its block list.
    if !actor.isTrusted || member.isBlocked(from: id) {
      try draft.requireSight(of: channel, id, for: member)
    }
    try draft.requireRoster(of: channel, id, else: .conflict, "there is nothing to join")
    if member.isIn(id) { return }
    try draft.joinChannel(id, channel, account, member)
    draft.dropInvitation(to: id, of: account)
    draft.announceJoined(account, id, channel)
    try draft.announceVisibility(of: id, channel, changedFor: [account])
  }
}

/// A member of a channel's roster may leave it. A channel of everyone's, as the default channel is, can only be left with
/// the server.
package struct LeaveChannel: SpaceOperation {
  package static let name = OperationName(.channel, "exit")
  package static let access = Access.members

  package var space: SpaceID
  package var actor: Actor
  package var id: EntityID

  package init(_ server: EntityID, id: EntityID, actor: Actor) {
    space = .server(server)
    self.id = id
    self.actor = actor
  }

  package var channelID: EntityID? { id }

  package func carryOut(_ draft: inout Draft<ServerRecord>) throws(Refusal) {
    let account = try draft.actingAccount()
    let member = try draft.requireMember()
    let channel = try draft.requireBelonging(to: id)
    try draft.requireRoster(of: channel, id, else: .forbidden, "leave the server instead")
    guard member.isIn(id) else { throw .notInChannel(id) }
    draft.leaveChannel(id, account, member)
    draft.announceLeft([account], id, channel)
    try draft.announceVisibility(of: id, channel, changedFor: [account])
  }
}

/// The owner and the admins remove accounts from a channel's roster. They may join again, unless they are blocked: see
/// ``ChangeChannelList``.
package struct RemoveFromChannel: SpaceOperation {
  package static let name = OperationName(.channel, "removeUser")
  package static let access = Access.administrators

  package var space: SpaceID
  package var actor: Actor
  package var id: EntityID
  package var accounts: [AccountID]

  package init(_ server: EntityID, id: EntityID, actor: Actor, accounts: [AccountID]) {
    space = .server(server)
    self.id = id
    self.actor = actor
    self.accounts = accounts.withoutRepeats
  }

  package var channelID: EntityID? { id }
  package var concerns: [RecordAddress] { accounts.map { .member($0, of: space) } }

  package func carryOut(_ draft: inout Draft<ServerRecord>) throws(Refusal) {
    try draft.requireSome(accounts)
    let channel = try draft.records.channel(id, of: space)
    try draft.requireRoster(
      of: channel, id, else: .forbidden, "to keep an account out, block it from the channel")
    for account in accounts {
      let member = try draft.knownMember(account, of: channel, id)
      try draft.requireRankAbove(member)
      draft.leaveChannel(id, account, member)
    }
    draft.announce(
      Catalogue.channelMemberRemoved, attach: ["accids": .accids(accounts)], parties: accounts,
      channel: channel.scene(id))
    draft.announceLeft(accounts, id, channel)
    try draft.announceVisibility(of: id, channel, changedFor: accounts)
  }
}
