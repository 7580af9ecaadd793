package import BelfryModel

/// Joining a server, bans, mutes, and roles.
package enum ServerJoiningRoutes {
  package static let all: [Route] = requests + codes + roles + bans + mutes + [announce.route]

  private static let server = ServerRoutes.server
  private static let serverId = SharedFields.serverId
  private static let accid = SharedFields.accid

  // MARK: Shapes

  private static let admission = Shape.resource(
    "Admission",
    [
      .always("accid", .account, "the invited account"),
      .always("requestId", .id, "the id to answer the invitation with"),
      .always("joined", .flag, "true if the account joined at once; otherwise the invitation is pending"),
    ])
  private static let invited = Shape.resource(
    "ServerInvitations", [.always("invitations", .list(admission), "one for each invitee")])
  private static let applied = Shape.resource(
    "ServerApplication",
    [
      .always("requestId", .id, "the id to answer the application with"),
      .always("joined", .flag, "true if the account joined at once; otherwise the application is pending"),
    ])
  private static let code = Shape.resource(
    "IssuedInviteCode",
    [
      .always("code", .code, "the code that any account can join with"),
      .always("expiresAt", .time, "when the code expires"),
    ])
}

// MARK: - Invitations and applications

extension ServerJoiningRoutes {
  private static let requests = [
    invite.route, acceptInvitation.route, rejectInvitation.route, listInvitations.route, apply.route,
    admit.route, turnDown.route, listApplications.route,
  ]

  package static let listInvitations = endpoint(
    .get, server + "/invitations", .token, "server invitations",
    "List a server's pending invitations", path: serverId,
    query: SharedFields.limit, SharedFields.cursor, refusals: [.notMember], answers: .ok(.waitingRequests))
  package static let listApplications = endpoint(
    .get, server + "/applications", .token, "server applications",
    "List a server's pending applications", path: serverId,
    query: SharedFields.limit, SharedFields.cursor, refusals: [.notMember], answers: .ok(.waitingRequests))

  package static let invite = endpoint(
    .post, server + "/invitations", .token, "server invite", "Invite accounts to a server",
    path: serverId, body: SharedFields.accids, SharedFields.postscript, operation: InviteToServer.self,
    refusals: [.banned, .tooMany, .blocked, .mailboxFull], answers: .ok(invited),
    options: RouteOptions(done: "invited"))
  private static let inviter = Field(
    "inviter", .account,
    "the inviter to name in the notification that the invitation was accepted (type 9); if absent, the first inviter"
  )
  package static let acceptInvitation = endpoint(
    .post, server + "/invitations/{requestId}/accept", .token, "server accept",
    "Accept an invitation to a server", path: serverId, SharedFields.requestId,
    body: SharedFields.unusedPostscript, inviter, bodyMayBeLeftOut: true,
    operation: AnswerServerInvitation.self,
    refusals: [.banned, .tooMany], options: RouteOptions(done: "accepted the invitation"))
  package static let rejectInvitation = answer(
    "invitations", "reject", "server reject", "Decline an invitation to a server",
    AnswerServerInvitation.self,
    RouteOptions(
      command: "server decline", otherCommands: ["server reject"], done: "declined the invitation"))
  package static let apply = endpoint(
    .post, server + "/applications", .token, "server apply", "Apply to a server, or join an open one",
    path: serverId, body: SharedFields.postscript, bodyMayBeLeftOut: true, operation: ApplyToServer.self,
    refusals: [.banned, .tooMany], answers: .ok(applied), options: RouteOptions(done: "applied"))
  package static let admit = answer(
    "applications", "accept", "server admit", "Approve an application to a server",
    AnswerServerApplication.self,
    RouteOptions(command: "server approve", otherCommands: ["server admit"], done: "approved"))
  package static let turnDown = answer(
    "applications", "reject", "server turn-down", "Refuse an application to a server",
    AnswerServerApplication.self,
    RouteOptions(command: "server refuse", otherCommands: ["server turn-down"], done: "refused"))

  private static func answer(
    _ what: String, _ word: String, _ name: String, _ summary: String,
    _ operation: any SpaceOperation.Type, _ options: RouteOptions
  ) -> Endpoint<EntityID, RequestName, String?> {
    let row = endpoint(
      .post, "\(server)/\(what)/{requestId}/\(word)", .token, name, summary,
      path: serverId, SharedFields.requestId,
      body: word == "accept" ? SharedFields.unusedPostscript : SharedFields.answerPostscript,  // own text
      bodyMayBeLeftOut: true, operation: operation, refusals: [.banned, .tooMany], options: options)
    return row
  }
}

// MARK: - Invite codes

extension ServerJoiningRoutes {
  private static let codes = [createCode.route, listCodes.route, revokeCode.route, join.route]

  package static let createCode = endpoint(
    .post, server + "/invite-codes", .token, "server create-code",
    "Create an invite code", path: serverId, bodyMayBeLeftOut: true,
    operation: CreateInviteCode.self, refusals: [.tooMany], answers: .created(code, isLocated: false),
    options: RouteOptions(done: "created the code"))
  package static let listCodes = endpoint(
    .get, server + "/invite-codes", .token, "server codes", "List a server's invite codes", path: serverId,
    query: SharedFields.limit, SharedFields.cursor, refusals: [.notMember],
    answers: .ok(.page("codes", of: code, "in no particular order")))
  package static let revokeCode = endpoint(
    .delete, server + "/invite-codes/{code}", .token, "server revoke-code", "Revoke an invite code",
    path: serverId, SharedFields.code, operation: RevokeInviteCode.self,
    options: RouteOptions(done: "revoked the code"))
  package static let join = endpoint(
    .post, server + "/join", .token, "server join", "Join a server with an invite code", path: serverId,
    body: SharedFields.code, operation: JoinByInviteCode.self, refusals: [.banned, .tooMany],
    options: RouteOptions(done: "joined the server"))
}

// MARK: - Roles and bans

extension ServerJoiningRoutes {
  private static let roles = [addAdmin.route, removeAdmin.route, handOver.route]
  private static let bans = [ban.route, unban.route, unbanMany.route, listBans.route]

  package static let addAdmin = endpoint(
    .put, server + "/admins/{accid}", .token, "server add-admin", "Make a member an admin of a server",
    path: serverId, accid, operation: SetAdmin.self, refusals: [.tooMany],
    options: RouteOptions(done: "made an admin"))
  package static let removeAdmin = endpoint(
    .delete, server + "/admins/{accid}", .token, "server remove-admin",
    "Remove the admin role from a member of a server", path: serverId, accid, operation: SetAdmin.self,
    options: RouteOptions(done: "removed the admin role"))
  package static let handOver = endpoint(
    .put, server + "/owner", .token, "server hand-over", "Hand a server over to another member",
    path: serverId,
    body: accid, operation: HandOverServer.self, refusals: [.tooMany],
    options: RouteOptions(done: "handed over", question: "Hand over"))

  package static let ban = endpoint(
    .post, server + "/bans", .token, "server ban", "Ban accounts from a server",
    path: serverId, body: SharedFields.accids, operation: BanAccounts.self, refusals: [.tooMany],
    options: RouteOptions(done: "banned"))
  package static let unban = endpoint(
    .delete, server + "/bans/{accid}", .token, "server unban", "Unban an account from a server",
    path: serverId, accid, operation: UnbanAccounts.self, options: RouteOptions(done: "unbanned"))
  package static let unbanMany = endpoint(
    .delete, server + "/bans", .token, "server unban-many", "Unban accounts from a server",
    path: serverId, body: SharedFields.accids, operation: UnbanAccounts.self,
    options: RouteOptions(done: "unbanned"))
  package static let listBans = endpoint(
    .get, server + "/bans", .token, "server bans", "List the accounts that are banned from a server",
    path: serverId,
    query: SharedFields.limit, SharedFields.cursor, refusals: [.notMember],
    answers: .ok(.accountPage))
}

// MARK: - Who is silent

extension ServerJoiningRoutes {
  private static let mutes = [mute.route, unmute.route, unmuteMany.route, listMuted.route]

  package static let mute = endpoint(
    .post, server + "/mutes", .token, "server mute",
    "Mute members of a server for a while, also in its channels", path: serverId,
    body: SharedFields.accids, SharedFields.muteDuration.needed, operation: SetServerMute.self,
    options: RouteOptions(done: "muted"))
  package static let unmute = endpoint(
    .delete, server + "/mutes/{accid}", .token, "server unmute", "Unmute a member of a server",
    path: serverId, accid, operation: SetServerMute.self, options: RouteOptions(done: "unmuted"))
  package static let unmuteMany = endpoint(
    .delete, server + "/mutes", .token, "server unmute-many", "Unmute members of a server",
    path: serverId, body: SharedFields.accids, operation: SetServerMute.self,
    options: RouteOptions(done: "unmuted"))
  package static let listMuted = endpoint(
    .get, server + "/mutes", .token, "server muted", "List a server's muted members",
    path: serverId, query: SharedFields.limit, SharedFields.cursor, refusals: [.notMember],
    answers: .ok(.page("muted", of: .muted, "in no particular order")))
}

// MARK: - What back ends announce

extension ServerJoiningRoutes {
  private static let type = Field(
    "type", .announcedType, "18, 20 to 30, 34 or 35; the other types come from operations")
  private static let accids = Field(
    "accids", .accounts(0...Limits.accountsPerCall), "the accounts that the change concerns, members or not")
  private static let channelId = Field("channelId", .id, "the channel that it happened in")
  private static let attach = Field(
    "attach", .json(bytesMax: Limits.attachBytes), "the details, passed on as they are")
  private static let announced = Shape.resource(
    "Announced",
    [
      .sometimes("messageServerId", .message, "the notification's id; absent if no member receives it"),
      .always("type", .integer([0...Int.max]), "its type"),
    ])

  package static let announce = endpoint(
    .post, server + "/announcements", .trusted, "server announce",
    "Announce a change of roles, categories, visitors or quick comments that a back end manages",
    path: serverId,
    body: type.needed, accids, channelId, attach, operation: AnnounceInServer.self,
    answers: .created(announced, isLocated: false),
    options: RouteOptions(done: "announced", example: ["type": "18", "accids": "bob"]))
}
