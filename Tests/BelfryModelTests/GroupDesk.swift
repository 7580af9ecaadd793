import BelfryBytes
import BelfryModel
import ModelSamples

/// Group 5: `olga` is its owner, `adam` and `abe` are admins, `mia` and `max` members, `mo` is muted for an
/// hour, `ali` on the allow list. `fay` has left, `ben` is blocked, adam has invited `ivy`, and `ann` has
/// applied; `sam` and `sue` are strangers, and so is `zed`, who accepts every invitation at once. Mia has
/// shared file 1, fay file 2.
struct GroupDesk {
  static let group: EntityID = 5
  static let space = SpaceID.group(group)

  static let olga = Actor(account: "olga", device: "olga-1")
  static let adam = Actor(account: "adam")
  static let mia = Actor(account: "mia", device: "mia-1")
  static let sam = Actor(account: "sam")
  static let app = Actor(account: nil, isTrusted: true)

  static func invitation(_ account: AccountID) -> RequestID { RequestID(.invitation, of: account, in: space) }
  static func application(_ account: AccountID) -> RequestID {
    RequestID(.application, of: account, in: space)
  }

  /// The same people for each style, so that a group of each style has seen all that may happen in any.
  static func desk(_ style: GroupStyle = .publicApproval) throws -> Desk {
    var desk = try Desk(history)
    var group = desk.group
    group?.style = style
    desk.texts[.settings(space)] = try group.map { group throws(Refusal) in try RecordJSON.text(group) }
    return desk
  }

  private static let history: [any Operation] = [
    founding, asking(true), admin(olga, "adam"), admin(olga, "abe"), mute(olga, ["mo"], 3_600_000),
    allow(olga, ["ali"]), addFile(mia, 1), addFile(Actor(account: "fay"), 2),
    LeaveGroup(group, actor: Actor(account: "fay")), block(olga, ["ben"]), invite(adam, ["ivy"]),
    apply("ann"), UpdateAccount("zed", actor: app, autoAcceptInvitation: true),
  ]

  private static var founding: CreateGroup {
    var create = create(group, .publicApproval, ["adam", "abe", "mia", "max", "mo", "ali", "fay"])
    create.owner = "olga"
    create.actor = olga
    create.inviteNeedConfirm = false
    return create
  }
}

// MARK: - The operations of the tables

extension GroupDesk {
  static func create(
    _ id: EntityID = 6, _ style: GroupStyle = .privateOwnerInvites, _ invitees: [AccountID] = []
  ) -> CreateGroup {
    var create = CreateGroup(id: id, owner: "mia", actor: mia, name: "Ringers", style: style)
    create.invitees = invitees
    create.reason = "practice"
    return create
  }
  static func rename(_ actor: Actor, _ name: String = "Tuesday") -> UpdateGroup {
    var update = UpdateGroup(group, actor: actor)
    update.groupName = name
    return update
  }
  static func asking(_ asks: Bool) -> UpdateGroup {
    var update = UpdateGroup(group, actor: olga)
    update.inviteNeedConfirm = asks
    return update
  }
  static func holding(_ maxMembers: Int) -> UpdateGroup {
    var update = UpdateGroup(group, actor: olga)
    update.maxMembers = maxMembers
    return update
  }
  static func invite(_ actor: Actor, _ accounts: [AccountID]) -> InviteToGroup {
    InviteToGroup(group, actor: actor, accounts: accounts, message: "come")
  }
  static func answer(_ actor: Actor, isAccepted: Bool = true) -> AnswerGroupInvitation {
    AnswerGroupInvitation(
      group, actor: actor, request: invitation("ivy"), isAccepted: isAccepted, reason: "no time")
  }
  static func apply(_ account: AccountID, _ reason: String = "please") -> ApplyToGroup {
    ApplyToGroup(group, actor: Actor(account: account), reason: reason)
  }
  static func admit(_ actor: Actor, isApproved: Bool = true) -> AnswerGroupApplication {
    AnswerGroupApplication(
      group, actor: actor, request: application("ann"), isApproved: isApproved, reason: "full")
  }
  static func leave(_ account: AccountID) -> LeaveGroup {
    LeaveGroup(group, actor: Actor(account: account))
  }
  static func remove(_ actor: Actor, _ accounts: [AccountID]) -> RemoveGroupMembers {
    RemoveGroupMembers(group, actor: actor, accounts: accounts)
  }
  static func handOver(_ actor: Actor, to account: AccountID) -> HandOverGroup {
    HandOverGroup(group, actor: actor, to: account)
  }
  static func admin(_ actor: Actor, _ account: AccountID, _ isAdmin: Bool = true) -> SetGroupAdmin {
    SetGroupAdmin(group, actor: actor, account: account, isAdmin: isAdmin)
  }
  static func allow(
    _ actor: Actor, _ accounts: [AccountID], _ isListed: Bool = true
  ) -> SetGroupAllowList {
    SetGroupAllowList(group, actor: actor, accounts: accounts, isListed: isListed)
  }
  static func block(
    _ actor: Actor, _ accounts: [AccountID], _ isBlocked: Bool = true
  ) -> SetGroupBlockList {
    SetGroupBlockList(group, actor: actor, accounts: accounts, isBlocked: isBlocked)
  }
  static func mute(_ actor: Actor, _ accounts: [AccountID], _ duration: Int64? = 60_000) -> SetGroupMute {
    SetGroupMute(group, actor: actor, accounts: accounts, durationMilliseconds: duration)
  }
  static func muteAll(_ actor: Actor, _ isOn: Bool = true) -> SetGroupAllMuted {
    SetGroupAllMuted(group, actor: actor, isOn: isOn)
  }
  static func receive(_ account: AccountID, _ receives: Bool) -> SetGroupReceiving {
    SetGroupReceiving(group, actor: Actor(account: account), receives: receives)
  }
  static func pin(_ actor: Actor, _ announcement: String = "at seven") -> SetGroupAnnouncement {
    SetGroupAnnouncement(group, actor: actor, announcement: announcement)
  }
  static func addFile(_ actor: Actor, _ id: EntityID, name: String = "method.pdf") -> AddGroupFile {
    AddGroupFile(
      group, id: id, actor: actor, name: name, url: "https://files.example/\(id)", sizeBytes: 100)
  }
  static func removeFile(_ actor: Actor, _ id: EntityID) -> RemoveGroupFile {
    RemoveGroupFile(group, id: id, actor: actor)
  }
  static func attributes(
    _ actor: Actor, _ account: AccountID, _ attributes: [UTF8Text: String] = ["bell": "treble"]
  ) -> SetMemberAttributes {
    SetMemberAttributes(group, actor: actor, account: account, attributes: attributes)
  }
}

extension Desk {
  var group: GroupRecord? { settings(GroupRecord.self, GroupDesk.space) }
  func groupMember(_ account: AccountID) -> MemberRecord? { member(account, of: GroupDesk.space) }

  /// The accounts in a table of the group.
  func accounts(in table: RecordTable) -> Set<AccountID> {
    let fields = texts.keys.filter { $0.tableAddress == TableAddress(GroupDesk.space, table) }.map(\.field)
    return Set(fields.compactMap { AccountID($0) })
  }
}
