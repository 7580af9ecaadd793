package import BelfryModel

/// Groups: conversations with members, roles and lists.
package enum GroupRoutes {
  package static let all: [Route] = lifecycle + joining + roles + lists + mutes + contents

  static let group = "/v1/groups/{groupId}"
  static let groupId = SharedFields.groupId
  static let accid = SharedFields.accid

  // MARK: Fields

  private static let style = Field(
    "style", Kind<GroupStyle>.choice, "how accounts join, and whether everybody can find it")
  private static let inviteNeedConfirmMeaning =
    "whether invitees must accept, except those whose `mayAdd` and `autoAcceptInvitation` let the inviter add them; "
    + "if false, `mayAdd` alone decides"
  private static let inviteNeedConfirm = Field(
    "inviteNeedConfirm", .flag,
    inviteNeedConfirmMeaning)
  private static let maxMembers = Field(
    "maxMembers", .integer(1...1_000_000), "the maximum number of members")
  private static let invitees = Field(
    "invitees", .accounts(1...Limits.accountsPerCall), "accounts to invite right away")
  private static let reason = Field(
    "reason", .text(characters: 0...Limits.messageCharacters), "a short reason")
  private static let invitationReason = Field(
    "reason", .text(characters: 0...Limits.messageCharacters),
    "the reason for the invitations, which the invitees are told")
  private static let unusedReason = Field(
    "reason", .text(characters: 0...Limits.messageCharacters),
    "ignored, because only the notification of a decline or a refusal has a message")
  private static let message = Field(
    "message", .text(characters: 0...Limits.messageCharacters), "a message to the invitees")
  private static let withMembers = Field("members", .flag, "whether to include up to 200 members")
  private static let mineLimit = Field(
    "limit", .integer(1...Limits.pageMembersMaximum), "the maximum number of results"
  )
  .otherwise(20, 20)
  private static let mineCursor = Field("cursor", Kind<EntityID>.cursor, "the previous page's `cursor`")
  private static let details = Field(
    "details", .flag, "whether to include each group's member count and the account's role")

  // MARK: Shapes

  private static let properties: [Property] = [
    .always("groupId", .id, "its id"),
    .always("name", .text, "its name"),
    .always("owner", .account, "its owner"),
    .always("style", .choice(GroupStyle.self), "how accounts join, and whether everybody can find it"),
    .always("createTime", .time, "when it was created"),
    .always("inviteNeedConfirm", .flag, inviteNeedConfirmMeaning),
    .always("maxMembers", .count, "the maximum number of members"),
    .always(
      "isAllMuted", .flag, "whether only the owner, the admins and the accounts on the allow list may send"),
    .always("isDisabled", .flag, "whether the group is disabled: no sends and no new members"),
    .sometimes("memberCount", .count, "the number of members"),
    .sometimes("role", .choice(MemberRole.self), "the account's role in it"),
    .sometimes("description", .text, "its description"),
    .sometimes("ext", .text, "application data, set by the owner"),
  ]
  private static let shape = Shape.resource("Group", properties)
  private static let member = Shape.resource(
    "GroupMember",
    [
      .always("accid", .account, "the member"),
      .always("role", .choice(MemberRole.self), "the role in the group"),
    ])
  private static let shapeWithMembers = Shape.resource(
    "GroupDetails",
    properties + [
      .always("administrators", .list(.account), "its admins, without the owner"),
      .always(
        "isBlockedByMe", .flag, "whether the account has stopped receiving the group's custom notifications"),
      .sometimes("members", .list(member), "up to 200 members"),
    ])
  private static let invited = Shape.resource(
    "GroupInvitations",
    [
      .always("joined", .list(.account), "accounts that joined at once"),
      .always("asked", .list(.pendingRequest), "accounts that received an invitation"),
    ])
  private static let created = Shape.resource(
    "CreatedGroup", properties + [.always("invitations", invited, "the outcome for each invitee")])
  private static let mineShape = Shape.resource(
    "OwnGroupPage",
    [
      .always("groups", .list(shape), "sorted by id"),
      .always("count", .count, "the number of groups that the account is in"),
      .always("cursor", .orNull(.cursor), "the cursor of the next page; null at the end of the list"),
    ])
  private static let applied = Shape.resource(
    "GroupApplication",
    [
      .always("joined", .flag, "whether the account joined at once"),
      .sometimes(
        "requestId", .id, "the id of the application, which the owner or an admin approves or refuses"),
    ])
}

// MARK: - Groups and their members

extension GroupRoutes {
  private static let lifecycle = [
    create.route, list.route, mine.route, show.route, update.route, destroy.route, members.route,
    remove.route, removeMany.route, disable.route, enable.route,
  ]

  package static let create = endpoint(
    .post, "/v1/groups", .token, "group create", "Create a group and invite accounts to it",
    body: SharedFields.name.needed, style.needed, SharedFields.description, SharedFields.ext,
    inviteNeedConfirm, maxMembers, invitees, invitationReason,
    refusals: [.tooMany, .conflict, .blocked, .mailboxFull], answers: .created(created),
    options: RouteOptions(done: "created the group", example: ["name": "Ringers"]))
  package static let list = endpoint(
    .get, "/v1/groups", .token, "group list", "List the public groups",
    query: SharedFields.limit, SharedFields.cursor,
    answers: .ok(.page("groups", of: shape, "newest first")))
  package static let mine = endpoint(
    .get, "/v1/groups/mine", .token, "group mine", "List the groups the account is a member of",
    query: mineLimit, mineCursor, details, answers: .ok(mineShape))
  package static let show = endpoint(
    .get, group, .token, "group show", "Show a group", path: groupId, query: withMembers,
    refusals: [.notMember], answers: .ok(shapeWithMembers))
  package static let update = endpoint(
    .patch, group, .token, "group update", "Change a group's name and options", path: groupId,
    body: SharedFields.name, SharedFields.description, SharedFields.ext, inviteNeedConfirm, maxMembers,
    operation: UpdateGroup.self, refusals: [.tooMany], answers: .ok(shape),
    options: RouteOptions(done: "changed the group", example: ["name": "Ringers"]))
  package static let destroy = endpoint(
    .delete, group, .token, "group destroy", "Delete a group for good", path: groupId,
    operation: DestroyGroup.self,
    options: RouteOptions(
      command: "group delete", otherCommands: ["group destroy"], done: "deleted the group",
      question: "Delete for good"))
  package static let members = endpoint(
    .get, group + "/members", .token, "group members", "List a group's members", path: groupId,
    query: SharedFields.limit, SharedFields.cursor, refusals: [.notMember],
    answers: .ok(.page("members", of: member, "in no particular order")))
  package static let remove = endpoint(
    .delete, group + "/members/{accid}", .token, "group remove",
    "Remove a member from a group (its owner and admins only), or leave it",
    path: groupId, accid, refusals: [.notMember, .conflict],
    options: RouteOptions(
      command: "group remove-member", otherCommands: ["group remove"], done: "removed the member",
      question: "Remove the member",
      ownCommand: .leaving("group leave", "Leave a group", done: "left the group")))
  package static let removeMany = endpoint(
    .delete, group + "/members", .token, "group remove-many",
    "Remove members from a group (its owner and admins only)", path: groupId,
    body: SharedFields.accids, operation: RemoveGroupMembers.self,
    options: RouteOptions(done: "removed the members", question: "Remove the members"))
  package static let disable = endpoint(
    .put, group + "/disabled", .trusted, "group disable", "Disable a group: no sends and no new members",
    path: groupId, operation: SetGroupDisabled.self, options: RouteOptions(done: "disabled the group"))
  package static let enable = endpoint(
    .delete, group + "/disabled", .trusted, "group enable",
    "Enable a disabled group",
    path: groupId, operation: SetGroupDisabled.self, options: RouteOptions(done: "enabled the group"))
}

// MARK: - Getting in

extension GroupRoutes {
  private static let joining = [
    invite.route, acceptInvitation.route, declineInvitation.route, listInvitations.route, apply.route,
    approve.route, refuse.route, listApplications.route,
  ]

  package static let listInvitations = endpoint(
    .get, group + "/invitations", .token, "group invitations",
    "List a group's pending invitations", path: groupId,
    query: SharedFields.limit, SharedFields.cursor, refusals: [.notMember], answers: .ok(.waitingRequests))
  package static let listApplications = endpoint(
    .get, group + "/applications", .token, "group applications",
    "List a group's pending applications", path: groupId,
    query: SharedFields.limit, SharedFields.cursor, refusals: [.notMember], answers: .ok(.waitingRequests))

  package static let invite = endpoint(
    .post, group + "/invitations", .token, "group invite", "Invite accounts to a group", path: groupId,
    body: SharedFields.accids, message, operation: InviteToGroup.self,
    refusals: [.tooMany, .banned, .disabled, .blocked, .mailboxFull], answers: .ok(invited),
    options: RouteOptions(done: "invited"))
  package static let acceptInvitation = answer(
    "invitations", "accept", "group accept", "Accept an invitation to a group", AnswerGroupInvitation.self,
    RouteOptions(done: "accepted the invitation"))
  package static let declineInvitation = answer(
    "invitations", "decline", "group decline", "Decline an invitation to a group",
    AnswerGroupInvitation.self, RouteOptions(done: "declined the invitation"))
  package static let apply = endpoint(
    .post, group + "/applications", .token, "group apply", "Apply to a public group, or join an open one",
    path: groupId, body: reason, bodyMayBeLeftOut: true, operation: ApplyToGroup.self,
    refusals: [.tooMany, .banned, .disabled], answers: .ok(applied), options: RouteOptions(done: "applied"))
  package static let approve = answer(
    "applications", "accept", "group approve", "Approve an application to a group",
    AnswerGroupApplication.self, RouteOptions(done: "approved"))
  package static let refuse = answer(
    "applications", "decline", "group refuse", "Refuse an application to a group",
    AnswerGroupApplication.self, RouteOptions(done: "refused"))

  private static func answer(
    _ what: String, _ word: String, _ name: String, _ summary: String,
    _ operation: any SpaceOperation.Type, _ options: RouteOptions
  ) -> Endpoint<EntityID, RequestName, String?> {
    let row = endpoint(
      .post, "\(group)/\(what)/{requestId}/\(word)", .token, name, summary,
      path: groupId, SharedFields.requestId, body: word == "accept" ? unusedReason : reason,  // own text
      bodyMayBeLeftOut: true, operation: operation,
      refusals: [.tooMany, .banned, .disabled], options: options)
    return row
  }

  private static let roles = [assignOwner.route, addAdmin.route, removeAdmin.route]

  package static let assignOwner = endpoint(
    .put, group + "/owner", .token, "group assign-owner", "Hand a group over to another member",
    path: groupId,
    body: accid, operation: HandOverGroup.self, refusals: [.tooMany],
    options: RouteOptions(
      command: "group hand-over", otherCommands: ["group assign-owner"], done: "handed over",
      question: "Hand over"))
  package static let addAdmin = endpoint(
    .put, group + "/admins/{accid}", .token, "group add-admin", "Make a member an admin of a group",
    path: groupId, accid, operation: SetGroupAdmin.self, refusals: [.tooMany],
    options: RouteOptions(done: "made an admin"))
  package static let removeAdmin = endpoint(
    .delete, group + "/admins/{accid}", .token, "group remove-admin",
    "Remove the admin role from a member of a group", path: groupId, accid, operation: SetGroupAdmin.self,
    options: RouteOptions(done: "removed the admin role"))
}
