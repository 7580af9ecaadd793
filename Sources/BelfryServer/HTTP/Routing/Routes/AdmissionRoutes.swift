import BelfryModel
import BelfryStore

extension Routes {
  private static let path = "/v1/servers/{serverId}"

  /// Into a server and out of it, and who has a say there.
  static let admissions: [Route] = requests + codes + roles + bans

  private static let requests: [Route] = [
    Route(
      .post, path + "/invitations", .token, "server invite", "Invite accounts into a server",
      body: .json(SharedFields.accids, SharedFields.postscript),
      refusals: [.banned, .tooMany, .blocked, .mailboxFull],
      .operation(.ok(Admissions.invited), Admissions.invite, Admissions.show)),
    answerInvitation("accept", "server accept", "Accept an invitation into a server", true),
    answerInvitation("reject", "server reject", "Reject an invitation into a server", false),
    Route(
      .post, path + "/applications", .token, "server apply", "Apply to a server, or join an open one",
      body: .optional(SharedFields.postscript), refusals: [.banned, .tooMany],
      .operation(
        .ok(Admissions.applied),
        { ask throws(Refusal) in
          ApplyToServer(
            try ask.server, actor: try ask.actor, postscript: try ask[SharedFields.postscript] ?? "")
        }
      ) { _, admission in
        .json(["requestId": .string(admission.requestId), "joined": .bool(admission.hasJoined)])
      }),
    answerApplication("accept", "server admit", "Let in who applied to a server", true),
    answerApplication("reject", "server turn-down", "Turn down who applied to a server", false),
  ]

  private static func answerInvitation(
    _ word: String, _ name: String, _ summary: String, _ isAccepted: Bool
  ) -> Route {
    Route(
      .post, path + "/invitations/{requestId}/\(word)", .token, name, summary,
      body: .optional(SharedFields.postscript), refusals: [.banned, .tooMany],
      .operation { ask throws(Refusal) in
        AnswerServerInvitation(
          try ask.server, actor: try ask.actor, id: try ask[SharedFields.requestId], isAccepted: isAccepted,
          postscript: try ask[SharedFields.postscript] ?? "")
      })
  }

  private static func answerApplication(
    _ word: String, _ name: String, _ summary: String, _ isAccepted: Bool
  ) -> Route {
    Route(
      .post, path + "/applications/{requestId}/\(word)", .token, name, summary,
      body: .optional(SharedFields.postscript), refusals: [.banned, .tooMany],
      .operation { ask throws(Refusal) in
        AnswerServerApplication(
          try ask.server, actor: try ask.actor, id: try ask[SharedFields.requestId], isAccepted: isAccepted,
          postscript: try ask[SharedFields.postscript] ?? "")
      })
  }

  private static let codes: [Route] = [
    Route(
      .post, path + "/invite-codes", .token, "server create-code",
      "Make a code that lets in whoever knows it", body: .optional(), refusals: [.tooMany],
      .operation(.created(Admissions.code, isLocated: false), Admissions.createCode) { operation, expiresAt in
        .json(["code": .string(operation.code.text), "expiresAt": .integer(expiresAt)], status: 201)
      }),
    Route(
      .get, path + "/invite-codes", .token, "server codes", "List a server's invite codes",
      query: SharedFields.page,
      refusals: [.notMember],
      .listing(
        "codes", of: Admissions.code, "in no particular order", for: { (_: ServerRecord) in .administrators },
        { ask throws(Refusal) in TableAddress(.server(try ask.server), .codes) }, Admissions.code)),
    Route(
      .delete, path + "/invite-codes/{code}", .token, "server revoke-code", "End an invite code",
      .operation { ask throws(Refusal) in
        RevokeInviteCode(try ask.server, actor: try ask.actor, code: try ask[SharedFields.code])
      }),
    Route(
      .post, path + "/join", .token, "server join", "Join a server by an invite code",
      body: .json(SharedFields.code), refusals: [.banned, .tooMany],
      .operation { ask throws(Refusal) in
        JoinByInviteCode(
          try ask.server, actor: try ask.actor, code: try ask[SharedFields.code],
          requestId: EntityID.random().text)
      }),
  ]

  private static let roles: [Route] = [
    Route(
      .patch, path + "/members/{accid}", .token, "member update", "Change what is shown of a member",
      body: .json(Admissions.nick, Admissions.avatar, SharedFields.ext),
      .operation(.ok(Admissions.profile), Admissions.updateMember) { operation, profile in
        .json(profile.info(operation.account))
      }),
    Route(
      .put, path + "/admins/{accid}", .token, "server add-admin", "Make a member an admin of a server",
      refusals: [.tooMany],
      .operation { ask throws(Refusal) in try Admissions.setAdmin(ask, true) }),
    Route(
      .delete, path + "/admins/{accid}", .token, "server remove-admin",
      "Make an admin a plain member of a server",
      .operation { ask throws(Refusal) in try Admissions.setAdmin(ask, false) }),
    Route(
      .put, path + "/owner", .token, "server hand-over", "Hand a server over to a member",
      body: .json(SharedFields.accid), refusals: [.tooMany],
      .operation { ask throws(Refusal) in
        HandOverServer(try ask.server, actor: try ask.actor, to: try ask.account)
      }),
  ]

  private static let bans: [Route] = [
    Route(
      .post, path + "/bans", .token, "server ban", "Put accounts out of a server and keep them out",
      body: .json(SharedFields.accids), refusals: [.tooMany],
      .operation { ask throws(Refusal) in
        BanAccounts(try ask.server, actor: try ask.actor, accounts: try ask[SharedFields.accids])
      }),
    Route(
      .delete, path + "/bans/{accid}", .token, "server unban", "Let an account come back to a server",
      .operation { ask throws(Refusal) in
        UnbanAccounts(try ask.server, actor: try ask.actor, accounts: [try ask.account])
      }),
    Route(
      .get, path + "/bans", .token, "server bans", "List who is banned from a server",
      query: SharedFields.page,
      refusals: [.notMember],
      .listing(
        "accids", of: .account, "in no particular order", for: { (_: ServerRecord) in .administrators },
        { ask throws(Refusal) in TableAddress(.server(try ask.server), .banned) }, Listed.account)),
  ]
}
