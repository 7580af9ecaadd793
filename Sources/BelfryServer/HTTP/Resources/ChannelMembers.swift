import BelfryHTTP
import BelfryInterface
import BelfryModel
import BelfryStore

/// The members, lists and mutes of a channel.
enum ChannelMembers {
  static let handlers = roster + invitations + lists + mutes

  private static let roster: [Handler] = [
    ChannelRoutes.join.carriedOut { actor, server, channel in
      JoinChannel(server, id: channel, actor: actor)
    },
    ChannelRoutes.members.handled(by: members),
    ChannelRoutes.member.handled(by: member),
    ChannelRoutes.exit.handled(by: remove),
    ChannelRoutes.removeMany.carriedOut { actor, server, channel, accounts in
      RemoveFromChannel(server, id: channel, actor: actor, accounts: accounts)
    },
  ]

  /// The channel and its server, for a caller who may see both.
  private static func view(
    _ request: Request, server: EntityID, channel id: EntityID, reading others: [RecordAddress] = [],
    _ services: LoopServices
  ) async throws(Refusal) -> (SpaceView<ServerRecord>, ChannelRecord) {
    let space = SpaceID.server(server)
    let view = try await SpaceView<ServerRecord>(
      request, of: space, channel: id, for: { _ in .members }, reading: others, services)
    let channel = try view.records.channel(id, of: space)
    // An account that is blocked from a public channel may know that it exists, but sees nothing of it.
    guard try view.sees(channel, id, request) else { throw .noChannel(id, in: space) }
    return (view, channel)
  }

  /// A channel for everyone has the members of the server.
  private static func members(
    _ request: Request, _ services: LoopServices, server: EntityID, id: EntityID, limit: Int,
    cursor: PageCursor?
  ) async throws(Refusal) -> HTTPResponse {
    let (view, channel) = try await view(request, server: server, channel: id, services)
    if let member = view.member, channel.hasRoster, member.role == .member, !member.isIn(id) {
      throw Refusal(.notMember, "you are not in channel \(id)")
    }
    let page = try await services.page(
      of: channel.hasRoster ? .channelRoster(id) : .roster, in: view.space, limit, after: cursor)
    return .page("accids", page.records.map { .string($0.field) }, cursor: page.next?.text)
  }

  private static func member(
    _ request: Request, _ services: LoopServices, server: EntityID, id: EntityID, account: AccountID
  ) async throws(Refusal) -> HTTPResponse {
    let address = RecordAddress.member(account, of: .server(server))
    let (view, channel) = try await view(request, server: server, channel: id, reading: [address], services)
    let member = try view.records.member(account, of: view.space)
    let isIn = channel.hasRoster ? member?.isIn(id) == true : member.map { !$0.isBlocked(from: id) } == true
    return .json(["member": .bool(isIn)])
  }

  /// An account that removes itself leaves; the removal of another account is a removal.
  private static func remove(
    _ request: Request, _ services: LoopServices, server: EntityID, id: EntityID, account: AccountID
  ) async throws(Refusal) -> HTTPResponse {
    let actor = try request.actor
    if account == actor.account {
      _ = try await services.run(LeaveChannel(server, id: id, actor: actor), of: request)
    } else {
      _ = try await services.run(
        RemoveFromChannel(server, id: id, actor: actor, accounts: [account]), of: request)
    }
    return .noContent
  }

  // MARK: Invitations

  private static let invitations: [Handler] = [
    ChannelRoutes.invite.carriedOut(
      by: { actor, server, channel, accounts, postscript in
        InviteToChannel(server, id: channel, actor: actor, accounts: accounts, postscript: postscript)
      }, invited),
    answer(ChannelRoutes.acceptInvitation, isAccepted: true),
    answer(ChannelRoutes.declineInvitation, isAccepted: false),
    ChannelRoutes.listInvitations.handled(by: waitingInvitations),
  ]

  /// For the owner of the server and its admins.
  private static func waitingInvitations(
    _ request: Request, _ services: LoopServices, server: EntityID, id: EntityID, limit: Int,
    cursor: PageCursor?
  ) async throws(Refusal) -> HTTPResponse {
    let view = try await SpaceView<ServerRecord>(
      request, of: .server(server), channel: id, for: administrators, services)
    _ = try view.records.channel(id, of: view.space)
    return try await services.listing(
      "requests", of: .requests, in: view.space, limit, after: cursor, for: administrators, request,
      expires: true
    ) { field, text, now in
      Listed.request(field, text, now) { $0.kind == .channelInvitation && $0.channel == id }
    }
  }

  private static func answer(
    _ endpoint: Endpoint<EntityID, EntityID, RequestName, String?>, isAccepted: Bool
  ) -> Handler {
    endpoint.handled(carryingOut: AnswerChannelInvitation.self) {
      request, services, server, channel, name, postscript throws(Refusal) in
      let actor = try request.actor
      return try await services.answer(
        name, .channelInvitation, in: .server(server), channel: channel, of: request
      ) { id in
        AnswerChannelInvitation(
          server, id: channel, request: id, actor: actor, isAccepted: isAccepted, postscript: postscript)
      }
    }
  }

  private static func invited(
    _ operation: InviteToChannel, _ requests: [AccountID: RequestID]
  ) -> HTTPResponse {
    let invitations = operation.accounts.compactMap { account in
      requests[account].map { request -> JSONValue in
        ["accid": .string(account.text), "requestId": .string(request.text)]
      }
    }
    return .json(["invitations": .array(invitations)])
  }

  // MARK: Lists

  private static let lists =
    list(.allow, ChannelRoutes.allow, ChannelRoutes.unallow, ChannelRoutes.unallowMany, ChannelRoutes.allowed)
    + list(
      .block, ChannelRoutes.block, ChannelRoutes.unblock, ChannelRoutes.unblockMany, ChannelRoutes.blocked)

  private static func list(
    _ list: ChangeChannelList.List, _ adding: Endpoint<EntityID, EntityID, [AccountID]>,
    _ removing: Endpoint<EntityID, EntityID, AccountID>,
    _ removingMany: Endpoint<EntityID, EntityID, [AccountID]>,
    _ showing: Endpoint<EntityID, EntityID, Int, PageCursor?>
  ) -> [Handler] {
    [
      adding.carriedOut { actor, server, channel, accounts in
        ChangeChannelList(server, id: channel, actor: actor, list: list, adds: true, accounts: accounts)
      },
      removing.carriedOut { actor, server, channel, account in
        ChangeChannelList(server, id: channel, actor: actor, list: list, adds: false, accounts: [account])
      },
      removingMany.carriedOut { actor, server, channel, accounts in
        ChangeChannelList(server, id: channel, actor: actor, list: list, adds: false, accounts: accounts)
      },
      showing.handled { request, services, server, channel, limit, cursor throws(Refusal) in
        try await services.listing(
          "accids", of: list.table(of: channel), in: .server(server), limit, after: cursor,
          for: administrators, request, Listed.account)
      },
    ]
  }

  private static let mutes: [Handler] = [
    ChannelRoutes.mute.carriedOut { actor, server, channel, accounts, seconds in
      MuteInChannel(
        server, id: channel, actor: actor, accounts: accounts, durationMilliseconds: Int64(seconds) * 1_000)
    },
    ChannelRoutes.unmute.carriedOut { actor, server, channel, account in
      UnmuteInChannel(server, id: channel, actor: actor, accounts: [account])
    },
    ChannelRoutes.unmuteMany.carriedOut { actor, server, channel, accounts in
      UnmuteInChannel(server, id: channel, actor: actor, accounts: accounts)
    },
    ChannelRoutes.muted.handled { request, services, server, channel, limit, cursor throws(Refusal) in
      try await services.listing(
        "muted", of: .channelMuted(channel), in: .server(server), limit, after: cursor, for: administrators,
        request, expires: true, Listed.muted)
    },
  ]

  private static func administrators(_: ServerRecord) -> Access { .administrators }
}
