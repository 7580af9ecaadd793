import BelfryModel
import BelfryStore

enum Members {
  static let added = Field("accids", .accounts(1...Limits.membersPerCall), "whom to add").needed

  static let shape = Shape.resource(
    "Member",
    [
      .always("accid", .account, "who"),
      .always("role", .choice(MemberRole.self), "what they are in the server"),
      .always("subscribed", .flag, "whether they subscribed to the server's own notifications"),
    ])

  static func list(_ request: Request, _ services: LoopServices) async throws(Refusal) -> Reply {
    let space = SpaceID.server(try request.server)
    let limit = try request[SharedFields.limit]
    let cursor = try request[SharedFields.cursor]
    _ = try await Visit(request, to: space, services)
    let page = try await reading { () async throws(StoreError) in
      try await services.store.page(of: TableAddress(space, .roster), after: cursor, limit: limit)
    }
    let members = page.records.compactMap { record -> JSONValue? in
      guard let account = AccountID(record.field), let member = MemberRecord(text: record.text) else {
        return nil
      }
      return member.info(account)
    }
    return .page("members", members, cursor: page.next?.text)
  }

  static func show(_ request: Request, _ services: LoopServices) async throws(Refusal) -> Reply {
    let space = SpaceID.server(try request.server)
    let account = try request.account
    _ = try await Visit(request, to: space, services)
    let records = try await reading { () async throws(StoreError) in
      try await services.store.records([.member(account, of: space)])
    }
    guard let member = try records.member(account, of: space) else {
      throw Refusal(.notFound, "\(account) is not a member of server \(space.name)", field: "accid")
    }
    return .json(member.info(account))
  }

  /// Putting oneself out is leaving; anybody else, kicking.
  static func remove(_ request: Request, _ services: LoopServices) async throws(Refusal) -> Reply {
    let server = try request.server
    let account = try request.account
    let actor = try request.actor
    if account == actor.account {
      _ = try await services.runner.run(LeaveServer(server, actor: actor))
    } else {
      _ = try await services.runner.run(KickMembers(server, actor: actor, accounts: [account]))
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
