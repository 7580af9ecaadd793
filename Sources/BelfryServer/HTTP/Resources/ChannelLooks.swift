import BelfryModel
import BelfryStore

/// Who is in a channel.
enum ChannelLooks {
  static let membership = Shape.object([.always("member", .flag, "whether the account is in the channel")])
  static let invited = Shape.object([
    .always(
      "invitations",
      .list(
        .object([
          .always("accid", .account, "who"), .always("requestId", .id, "what they answer with"),
        ])), "one for each invitee")
  ])

  /// The channel, and the server around it, for whoever may see both.
  private static func look(
    _ request: Request, _ services: LoopServices, reading others: [RecordAddress] = []
  ) async throws(Refusal) -> (Look<ServerRecord>, ChannelRecord) {
    let (space, id) = (SpaceID.server(try request.server), try request.channel)
    let look = try await Look<ServerRecord>(
      request, at: space, channel: id, for: { _ in .members }, reading: others, services)
    let channel = try look.records.channel(id, of: space)
    let isTrusted = try request.actor.isTrusted
    // Who is blocked from a public one may know of it, and see nothing of it.
    guard isTrusted || look.member?.sees(channel, id) == true else { throw .noChannel(id, in: space) }
    return (look, channel)
  }

  /// A channel of everyone's has the server's members.
  static func members(_ request: Request, _ services: LoopServices) async throws(Refusal) -> Reply {
    let (look, channel) = try await look(request, services)
    let id = try request.channel
    if let member = look.member, channel.hasRoster, member.role == .member, !member.isIn(id) {
      throw Refusal(.notMember, "you are not in channel \(id)")
    }
    let page = try await services.page(
      of: channel.hasRoster ? .channelRoster(id) : .roster, in: look.space, request)
    return .page("accids", page.records.map { .string($0.field) }, cursor: page.next?.text)
  }

  static func member(_ request: Request, _ services: LoopServices) async throws(Refusal) -> Reply {
    let (account, id) = (try request.account, try request.channel)
    let address = RecordAddress.member(account, of: .server(try request.server))
    let (look, channel) = try await look(request, services, reading: [address])
    let member = try look.records.member(account, of: look.space)
    let isIn = channel.hasRoster ? member?.isIn(id) == true : member.map { !$0.isBlocked(from: id) } == true
    return .json(["member": .bool(isIn)])
  }

  /// Putting oneself out is leaving; anybody else, removing.
  static func remove(_ request: Request, _ services: LoopServices) async throws(Refusal) -> Reply {
    let (server, id) = (try request.server, try request.channel)
    let (account, actor) = (try request.account, try request.actor)
    if account == actor.account {
      _ = try await services.runner.run(LeaveChannel(server, id: id, actor: actor))
    } else {
      _ = try await services.runner.run(RemoveFromChannel(server, id: id, actor: actor, accounts: [account]))
    }
    return .noContent
  }

  static func invite(_ request: Request) throws(Refusal) -> InviteToChannel {
    InviteToChannel(
      try request.server, id: try request.channel, actor: try request.actor,
      accounts: try request[SharedFields.accids], postscript: try request[SharedFields.postscript])
  }

  static func show(_ operation: InviteToChannel, _ requests: [AccountID: RequestID]) -> Reply {
    let invitations = operation.accounts.compactMap { account in
      requests[account].map { request -> JSONValue in
        ["accid": .string(account.text), "requestId": .string(request.text)]
      }
    }
    return .json(["invitations": .array(invitations)])
  }

  static func change(
    _ list: ChangeChannelList.List, _ request: Request, adds: Bool, _ accounts: [AccountID]
  ) throws(Refusal) -> ChangeChannelList {
    ChangeChannelList(
      try request.server, id: try request.channel, actor: try request.actor, list: list, adds: adds,
      accounts: accounts)
  }
}
