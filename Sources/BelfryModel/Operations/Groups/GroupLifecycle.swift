/// Any account may create a group and owns it. Accounts that it names are invited as by any other invitation.
package struct CreateGroup: Operation {
  package static let name = OperationName(.group, "create")

  package var space: SpaceID
  package var owner: AccountID
  package var actor: Actor
  package var groupName: String
  package var style: GroupStyle
  package var description: String?
  package var ext: String?
  package var inviteNeedConfirm = true
  /// Nil: as many as a group may have.
  package var maxMembers: Int?
  package var invitees: [AccountID] = []
  /// The reason that the invitees are told.
  package var reason: String?

  package init(id: EntityID, owner: AccountID, actor: Actor, name: String, style: GroupStyle) {
    space = .group(id)
    self.owner = owner
    self.actor = actor
    groupName = name
    self.style = style
  }

  package var needs: [RecordAddress] {
    [.settings(space)] + GroupRecord.joinNeeds(owner, space)
      + GroupRecord.invitationNeeds(invited, space, by: actor)
  }
  package var mailboxes: MailboxQuestion? { MailboxQuestion(invited, from: actor) }
  package func company(_ records: Records) -> CompanyQuestion? {
    actor.company(for: [.invite, .add], among: invited, records)
  }
  package var counts: [RecordTable] { [.roster, .requests] }
  package var joiners: [AccountID] { [owner] + invited }
  private var invited: [AccountID] { invitees.withoutRepeats.filter { $0 != owner } }

  package func decide(
    _ records: Records, context: DecisionContext
  ) throws(Refusal) -> Decision<GroupInvitations> {
    try actor.requireActing(for: owner, to: Self.name.act)
    try records.requireAbsent(GroupRecord.self, space)
    var group = GroupRecord(
      name: groupName, style: style, owner: owner, createdAt: context.nowMilliseconds,
      maxMembers: maxMembers ?? context.limits.membersPerGroup)
    group.description = description
    group.ext = ext
    group.inviteNeedConfirm = inviteNeedConfirm
    try group.checkLimits()
    try GroupRecord.check(maxMembers: group.maxMembers, context.limits)

    var draft = Draft(space, group, isNew: true, by: actor, on: records, context)
    try draft.addMember(owner, as: .owner, membersMax: group.maxMembers)
    if group.style.isPublic { draft.list(group.listing(true)) }
    var invitations = GroupInvitations()
    if !invited.isEmpty {
      try draft.requireSome(invited, field: "invitees")
      invitations = try draft.invite(invited, by: owner, message: reason, fields: ("invitees", "reason"))
    }
    return Decision(
      try draft.finish(Self.name, target: [GroupRecord.idField: .string(space.name)]), invitations)
  }
}

/// The owner and the admins may change a group's name, its description, and its options.
package struct UpdateGroup: SpaceOperation {
  package static let name = OperationName(.group, "update")
  package static let access = Access.administrators

  package var space: SpaceID
  package var actor: Actor
  /// Nil leaves a setting as it is; an empty text clears `description` and `ext`.
  package var groupName: String?
  package var description: String?
  package var ext: String?
  package var inviteNeedConfirm: Bool?
  package var maxMembers: Int?

  package init(_ id: EntityID, actor: Actor) {
    space = .group(id)
    self.actor = actor
  }

  package var counts: [RecordTable] { [.roster] }

  package func carryOut(_ draft: inout Draft<GroupRecord>) throws(Refusal) -> GroupRecord {
    let before = draft.settings
    if let groupName { draft.settings.name = groupName }
    if let description { draft.settings.description = description.isEmpty ? nil : description }
    if let ext { draft.settings.ext = ext.isEmpty ? nil : ext }
    if let inviteNeedConfirm { draft.settings.inviteNeedConfirm = inviteNeedConfirm }
    try draft.settings.checkLimits()
    if let maxMembers { try change(maxMembers, &draft) }
    if draft.settings != before {
      draft.announce(Catalogue.groupUpdated, attach: ["groupInfo": draft.settings.info(space)])
    }
    return draft.settings
  }

  private func change(_ maxMembers: Int, _ draft: inout Draft<GroupRecord>) throws(Refusal) {
    try GroupRecord.check(maxMembers: maxMembers, draft.limits)
    let members = draft.context.counts[.roster, default: 0]
    guard maxMembers >= members else {
      throw .invalid("maxMembers", "must not be below the current number of members, \(members)")
    }
    draft.settings.maxMembers = maxMembers
    // An account may join before this is committed.
    draft.limit(.roster, to: maxMembers)
  }
}

/// A trusted caller disables a group, or enables it again. A disabled group takes no sends and nobody joins
/// it. Its members may still leave, and read earlier entries.
package struct SetGroupDisabled: SpaceOperation {
  package static let name = OperationName(.group, "disable")
  package static let enabling = OperationName(.group, "enable")
  package static let names = [name, enabling]
  package static let access = Access.trusted

  package var space: SpaceID
  package var actor: Actor
  package var isDisabled: Bool

  package init(_ id: EntityID, actor: Actor, isDisabled: Bool) {
    space = .group(id)
    self.actor = actor
    self.isDisabled = isDisabled
  }

  package var echoName: OperationName { isDisabled ? Self.name : Self.enabling }

  package func carryOut(_ draft: inout Draft<GroupRecord>) {
    guard draft.settings.isDisabled != isDisabled else { return }
    draft.settings.isDisabled = isDisabled
    draft.announce(Catalogue.groupUpdated, attach: ["groupInfo": draft.settings.info(space)])
  }
}

/// Only the owner may destroy a group. One append notifies every member. The roster is kept until retention,
/// so that members who were away learn of it later.
package struct DestroyGroup: SpaceOperation {
  package static let name = OperationName(.group, "destroy")
  package static let access = Access.owner

  package var space: SpaceID
  package var actor: Actor

  package init(_ id: EntityID, actor: Actor) {
    space = .group(id)
    self.actor = actor
  }

  package func carryOut(_ draft: inout Draft<GroupRecord>) {
    draft.settings.removedAt = draft.nowMilliseconds
    if draft.settings.style.isPublic { draft.list(draft.settings.listing(false)) }
    draft.announce(
      Catalogue.groupLeft, attach: GroupExit.destroyed.attach(draft.settings, space), happensToAll: true)
  }
}

extension GroupRecord {
  /// Checks the limits on the texts that people write, each by the wire's name of its field.
  func checkLimits() throws(Refusal) {
    if name.isEmpty { throw .invalid("name", "must not be empty") }
    try NotificationContent.check(name, "name", characters: Limits.nameCharacters)
    try NotificationContent.check(description, "description", characters: Limits.descriptionCharacters)
    try NotificationContent.check(ext, "ext", bytes: 0...Limits.extBytes)
  }

  static func check(maxMembers: Int, _ limits: Limits) throws(Refusal) {
    guard (1...limits.membersPerGroup).contains(maxMembers) else {
      throw .invalid("maxMembers", "must be 1 to \(limits.membersPerGroup)")
    }
  }

  func listing(_ isListed: Bool) -> ListingChange {
    ListingChange(.groups, isListed: isListed, createdAt: createdAt)
  }
}
