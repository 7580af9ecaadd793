/// A member changes its profile. The owner and the admins may change the profiles of members whom they could
/// kick.
package struct UpdateMember: SpaceOperation {
  package static let name = OperationName(.server, "updateMember")
  package static let access = Access.ownRule

  package var space: SpaceID
  package var actor: Actor
  package var account: AccountID
  /// Nil leaves it as it is; an empty text clears it.
  package var nick: String?
  package var avatar: String?
  package var ext: String?

  package init(_ id: EntityID, actor: Actor, account: AccountID) {
    space = .server(id)
    self.actor = actor
    self.account = account
  }

  package var accounts: [AccountID] { [account] }
  package var concerns: [RecordAddress] { space.speaking(of: account) }

  package func carryOut(_ draft: inout Draft<ServerRecord>) throws(Refusal) -> ProfileRecord {
    let isOwn = actor.account == account
    try draft.require(isOwn ? .members : .administrators, to: Self.name.act)
    let member = try draft.knownMember(account, field: "accid")
    if !isOwn, !actor.isTrusted { try draft.requireRankAbove(member) }
    let before = try draft.records.profile(account, in: space)
    var profile = before
    if let nick { profile.nick = nick.isEmpty ? nil : nick }
    if let avatar { profile.avatar = avatar.isEmpty ? nil : avatar }
    if let ext { profile.ext = ext.isEmpty ? nil : ext }
    try profile.checkLimits()
    // The nick is copied even if the profile stays the same: a member record of an earlier build has no nick.
    if member.nick != profile.nick {
      var named = member
      named.nick = profile.nick
      draft.set(named, for: account)
    }
    guard profile != before else { return profile }
    draft.change(
      .profile(account, in: space), to: profile == ProfileRecord() ? nil : try RecordJSON.text(profile))
    draft.announce(
      Catalogue.serverMemberUpdate, attach: ["memberInfo": profile.info(account, member.role)],
      parties: [account])
    return profile
  }
}

extension SpaceID {
  /// The records of a member whose info is announced.
  func speaking(of account: AccountID) -> [RecordAddress] {
    [.member(account, of: self), .profile(account, in: self)]
  }
}
