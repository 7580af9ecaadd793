import BelfryHTTP
import BelfryInterface
import BelfryModel
import BelfryStore

enum Members {
  static let handlers: [Handler] = [
    MemberRoutes.list.handled { request, services, server, limit, cursor throws(Refusal) in
      try await services.listing(
        "members", of: .roster, in: .server(server), limit, after: cursor, for: members, request, member)
    },
    MemberRoutes.add.carriedOut(by: { actor, server, accounts in
      AddMembers(server, actor: actor, accounts: accounts, requestId: EntityID.random().text)
    }) { _, added in .json(["added": .accids(added)]) },
    MemberRoutes.show.handled(by: show),
    MemberRoutes.update.carriedOut(by: update) { operation, profile in
      .json(profile.info(operation.account))
    },
    MemberRoutes.remove.handled(by: remove),
    MemberRoutes.removeMany.carriedOut { actor, server, accounts in
      KickMembers(server, actor: actor, accounts: accounts)
    },
  ]

  private static func members(_: ServerRecord) -> Access { .members }

  private static func member(_ field: String, _ text: String, _: Int64) -> JSONValue? {
    guard let account = AccountID(field) else { return nil }
    return MemberRecord(text: text)?.info(account)
  }

  private static func show(
    _ request: Request, _ services: LoopServices, server: EntityID, account: AccountID
  ) async throws(Refusal) -> HTTPResponse {
    let space = SpaceID.server(server)
    let view = try await SpaceView<ServerRecord>(
      request, of: space, for: members, reading: [.member(account, of: space), .profile(account, in: space)],
      services)
    guard let member = try view.records.member(account, of: space) else {
      throw Refusal(.notFound, "\(account) is not a member of server \(space.name)", field: "accid")
    }
    let profile = try view.records.profile(account, in: space)
    return .json(member.info(account).with(profile.texts))
  }

  private static func update(
    _ actor: Actor, server: EntityID, account: AccountID, nick: String?, avatar: String?, ext: String?
  ) -> UpdateMember {
    var operation = UpdateMember(server, actor: actor, account: account)
    operation.nick = nick
    operation.avatar = avatar
    operation.ext = ext
    return operation
  }

  /// An account that removes itself leaves; the removal of another account is a kick.
  private static func remove(
    _ request: Request, _ services: LoopServices, server: EntityID, account: AccountID
  ) async throws(Refusal) -> HTTPResponse {
    let actor = try request.actor
    if account == actor.account {
      _ = try await services.run(LeaveServer(server, actor: actor), of: request)
    } else {
      _ = try await services.run(KickMembers(server, actor: actor, accounts: [account]), of: request)
    }
    return .noContent
  }
}

extension MemberRecord {
  fileprivate func info(_ account: AccountID) -> JSONValue {
    [
      "accid": .string(account.text), "role": .string(role.rawValue),
      "subscribed": .bool(membership.subscription.current != nil),
    ]
  }
}
