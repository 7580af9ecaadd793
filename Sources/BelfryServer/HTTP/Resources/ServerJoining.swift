import BelfryHTTP
import BelfryInterface
import BelfryModel

/// Joining a server: requests, invitation codes, roles, bans, mutes and announcing.
enum ServerJoining {
  static let handlers = requests + codes + roles + bans + mutes + [announcing]

  private static let requests: [Handler] = [
    ServerJoiningRoutes.invite.carriedOut(
      by: { actor, server, accounts, postscript in
        InviteToServer(
          server, actor: actor, accounts: accounts, postscript: postscript ?? "",
          requestId: EntityID.random().text)
      }, invitations),
    ServerJoiningRoutes.acceptInvitation.handled(
      carryingOut: AnswerServerInvitation.self, by: acceptInvitation),
    ServerJoiningRoutes.rejectInvitation.handled(
      carryingOut: AnswerServerInvitation.self, by: rejectInvitation),
    waiting(ServerJoiningRoutes.listInvitations, .invitation),
    waiting(ServerJoiningRoutes.listApplications, .application),
    ServerJoiningRoutes.apply.carriedOut(by: { actor, server, postscript in
      ApplyToServer(server, actor: actor, postscript: postscript ?? "")
    }) { _, admission in
      .json(["requestId": .string(admission.requestId), "joined": .bool(admission.hasJoined)])
    },
    answerApplication(ServerJoiningRoutes.admit, isAccepted: true),
    answerApplication(ServerJoiningRoutes.turnDown, isAccepted: false),
  ]

  private static func waiting(
    _ endpoint: Endpoint<EntityID, Int, PageCursor?>, _ kind: RequestRecord.Kind
  ) -> Handler {
    endpoint.handled { request, services, server, limit, cursor throws(Refusal) in
      try await services.waitingRequests(
        kind, in: .server(server), ServerRecord.self, limit, after: cursor, request)
    }
  }

  private typealias Answer = Endpoint<EntityID, RequestName, String?>

  private static func acceptInvitation(
    _ request: Request, _ services: LoopServices, server: EntityID, name: RequestName, postscript: String?,
    inviter: AccountID?
  ) async throws(Refusal) -> HTTPResponse {
    let actor = try request.actor
    return try await services.answer(name, .invitation, in: .server(server), of: request) { id in
      AnswerServerInvitation(
        server, actor: actor, id: id, isAccepted: true, postscript: postscript ?? "", inviter: inviter)
    }
  }

  private static func rejectInvitation(
    _ request: Request, _ services: LoopServices, server: EntityID, name: RequestName, postscript: String?
  ) async throws(Refusal) -> HTTPResponse {
    let actor = try request.actor
    return try await services.answer(name, .invitation, in: .server(server), of: request) { id in
      AnswerServerInvitation(server, actor: actor, id: id, isAccepted: false, postscript: postscript ?? "")
    }
  }

  private static func answerApplication(_ endpoint: Answer, isAccepted: Bool) -> Handler {
    endpoint.handled(carryingOut: AnswerServerApplication.self) {
      request, services, server, name, postscript throws(Refusal) in
      let actor = try request.actor
      return try await services.answer(name, .application, in: .server(server), of: request) { id in
        AnswerServerApplication(
          server, actor: actor, id: id, isAccepted: isAccepted, postscript: postscript ?? "")
      }
    }
  }

  private static func invitations(
    _ operation: InviteToServer, _ admissions: InviteToServer.Output
  ) -> HTTPResponse {
    let invitations = operation.accounts.compactMap { account in
      admissions[account].map { admission -> JSONValue in
        [
          "accid": .string(account.text), "requestId": .string(admission.requestId),
          "joined": .bool(admission.hasJoined),
        ]
      }
    }
    return .json(["invitations": .array(invitations)])
  }

  private static let codes: [Handler] = [
    ServerJoiningRoutes.createCode.carriedOut(by: { actor, server in
      CreateInviteCode(server, actor: actor, code: .random())
    }) { operation, expiresAt in
      .json(["code": .string(operation.code.text), "expiresAt": .integer(expiresAt)], status: 201)
    },
    ServerJoiningRoutes.listCodes.handled { request, services, server, limit, cursor throws(Refusal) in
      try await services.listing(
        "codes", of: .codes, in: .server(server), limit, after: cursor, for: administrators, request,
        expires: true, code)
    },
    ServerJoiningRoutes.revokeCode.carriedOut { actor, server, code in
      RevokeInviteCode(server, actor: actor, code: code)
    },
    ServerJoiningRoutes.join.carriedOut { actor, server, code in
      JoinByInviteCode(server, actor: actor, code: code, requestId: EntityID.random().text)
    },
  ]

  private static func administrators(_: ServerRecord) -> Access { .administrators }

  private static func code(_ field: String, _ text: String, _ now: Int64) -> JSONValue? {
    guard let record = ExpiringText(text: text), record.expiresAtMilliseconds > now else { return nil }
    return ["code": .string(field), "expiresAt": .integer(record.expiresAtMilliseconds)]
  }

  private static let roles: [Handler] = [
    ServerJoiningRoutes.addAdmin.carriedOut { actor, server, account in
      SetAdmin(server, actor: actor, account: account, isAdmin: true)
    },
    ServerJoiningRoutes.removeAdmin.carriedOut { actor, server, account in
      SetAdmin(server, actor: actor, account: account, isAdmin: false)
    },
    ServerJoiningRoutes.handOver.carriedOut { actor, server, account in
      HandOverServer(server, actor: actor, to: account)
    },
  ]

  private static let bans: [Handler] = [
    ServerJoiningRoutes.ban.carriedOut { actor, server, accounts in
      BanAccounts(server, actor: actor, accounts: accounts)
    },
    ServerJoiningRoutes.unban.carriedOut { actor, server, account in
      UnbanAccounts(server, actor: actor, accounts: [account])
    },
    ServerJoiningRoutes.unbanMany.carriedOut { actor, server, accounts in
      UnbanAccounts(server, actor: actor, accounts: accounts)
    },
    ServerJoiningRoutes.listBans.handled { request, services, server, limit, cursor throws(Refusal) in
      try await services.listing(
        "accids", of: .banned, in: .server(server), limit, after: cursor, for: administrators, request,
        Listed.account)
    },
  ]

  private static let mutes: [Handler] = [
    ServerJoiningRoutes.mute.carriedOut { actor, server, accounts, seconds in
      SetServerMute(server, actor: actor, accounts: accounts, durationMilliseconds: Int64(seconds) * 1_000)
    },
    ServerJoiningRoutes.unmute.carriedOut { actor, server, account in
      SetServerMute(server, actor: actor, accounts: [account], durationMilliseconds: nil)
    },
    ServerJoiningRoutes.unmuteMany.carriedOut { actor, server, accounts in
      SetServerMute(server, actor: actor, accounts: accounts, durationMilliseconds: nil)
    },
    ServerJoiningRoutes.listMuted.handled { request, services, server, limit, cursor throws(Refusal) in
      try await services.listing(
        "muted", of: .muted, in: .server(server), limit, after: cursor, for: administrators, request,
        expires: true, Listed.muted)
    },
  ]

  private static let announcing = ServerJoiningRoutes.announce.handled(carryingOut: AnnounceInServer.self) {
    request, services, server, type, accounts, channel, attach throws(Refusal) in
    let operation = AnnounceInServer(
      server, actor: try request.actor, type: type, accounts: accounts ?? [], channel: channel, attach: attach
    )
    let done = try await services.run(operation, of: request)
    var answer: JSONObject = ["type": .integer(Int64(type))]
    if let id = done.commit?.ids.first { answer["messageServerId"] = .string(id.text) }
    return .json(.object(answer), status: 201)
  }
}
