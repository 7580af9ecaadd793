import BelfryHTTP
import BelfryInterface
import BelfryModel
import BelfryStore

enum Groups {
  static let handlers = lifecycle + joining + roles

  private static let lifecycle: [Handler] = [
    GroupRoutes.create.handled(by: create),
    GroupRoutes.list.handled(by: directory),
    GroupRoutes.mine.handled(by: mine),
    GroupRoutes.show.handled(by: show),
    GroupRoutes.update.carriedOut(by: update) { operation, group in .json(group.info(operation.space)) },
    GroupRoutes.destroy.carriedOut { actor, group in DestroyGroup(group, actor: actor) },
    GroupRoutes.members.handled { request, services, group, limit, cursor throws(Refusal) in
      try await services.listing(
        "members", of: .roster, in: .group(group), limit, after: cursor, for: access, request, member)
    },
    GroupRoutes.remove.handled(by: removeMember),
    GroupRoutes.removeMany.carriedOut { actor, group, accounts in
      RemoveGroupMembers(group, actor: actor, accounts: accounts)
    },
    GroupRoutes.disable.carriedOut { actor, group in SetGroupDisabled(group, actor: actor, isDisabled: true)
    },
    GroupRoutes.enable.carriedOut { actor, group in SetGroupDisabled(group, actor: actor, isDisabled: false)
    },
  ]

  private static let joining: [Handler] = [
    GroupRoutes.invite.carriedOut(by: { actor, group, accounts, message in
      InviteToGroup(group, actor: actor, accounts: accounts, message: message)
    }) { _, invitations in .json(invitations.info) },
    answerInvitation(GroupRoutes.acceptInvitation, isAccepted: true),
    answerInvitation(GroupRoutes.declineInvitation, isAccepted: false),
    waiting(GroupRoutes.listInvitations, .invitation),
    GroupRoutes.apply.carriedOut(by: { actor, group, reason in
      ApplyToGroup(group, actor: actor, reason: reason)
    }) { _, outcome in
      switch outcome {
      case .joined: .json(["joined": true])
      case .waiting(let request): .json(["joined": false, "requestId": .string(request.text)])
      }
    },
    answerApplication(GroupRoutes.approve, isApproved: true),
    answerApplication(GroupRoutes.refuse, isApproved: false),
    waiting(GroupRoutes.listApplications, .application),
  ]

  private typealias Answer = Endpoint<EntityID, RequestName, String?>

  private static func answerInvitation(_ endpoint: Answer, isAccepted: Bool) -> Handler {
    endpoint.handled(carryingOut: AnswerGroupInvitation.self) {
      request, services, group, name, reason throws(Refusal) in
      let actor = try request.actor
      return try await services.answer(name, .invitation, in: .group(group), of: request) { id in
        AnswerGroupInvitation(group, actor: actor, request: id, isAccepted: isAccepted, reason: reason)
      }
    }
  }

  private static func answerApplication(_ endpoint: Answer, isApproved: Bool) -> Handler {
    endpoint.handled(carryingOut: AnswerGroupApplication.self) {
      request, services, group, name, reason throws(Refusal) in
      let actor = try request.actor
      return try await services.answer(name, .application, in: .group(group), of: request) { id in
        AnswerGroupApplication(group, actor: actor, request: id, isApproved: isApproved, reason: reason)
      }
    }
  }

  private static func waiting(
    _ endpoint: Endpoint<EntityID, Int, PageCursor?>, _ kind: RequestRecord.Kind
  ) -> Handler {
    endpoint.handled { request, services, group, limit, cursor throws(Refusal) in
      try await services.waitingRequests(
        kind, in: .group(group), GroupRecord.self, limit, after: cursor, request)
    }
  }

  private static let roles: [Handler] = [
    GroupRoutes.assignOwner.carriedOut { actor, group, account in
      HandOverGroup(group, actor: actor, to: account)
    },
    GroupRoutes.addAdmin.carriedOut { actor, group, account in
      SetGroupAdmin(group, actor: actor, account: account, isAdmin: true)
    },
    GroupRoutes.removeAdmin.carriedOut { actor, group, account in
      SetGroupAdmin(group, actor: actor, account: account, isAdmin: false)
    },
  ]
}

// MARK: - Making and changing

extension Groups {
  private static func create(
    _ request: Request, _ services: LoopServices, name: String, style: GroupStyle, description: String?,
    ext: String?, inviteNeedConfirm: Bool?, maxMembers: Int?, invitees: [AccountID]?, reason: String?
  ) async throws(Refusal) -> HTTPResponse {
    let caller = try request.known()
    var operation = CreateGroup(
      id: .random(), owner: try caller.account(), actor: caller.actor, name: name, style: style)
    operation.description = description
    operation.ext = ext
    operation.inviteNeedConfirm = inviteNeedConfirm ?? true
    operation.maxMembers = maxMembers
    operation.invitees = invitees ?? []
    operation.reason = reason
    let invitations = try await services.run(operation, of: request).output
    let space = operation.space
    let group = try await services.records([.settings(space)]).settings(GroupRecord.self, space)
    let info = group.info(space).with([
      "memberCount": .integer(Int64(invitations.joined.count + 1)), "invitations": invitations.info,
    ])
    return .json(info, status: 201).located(at: "/v1/groups/\(space.name)")
  }

  private static func update(
    _ actor: Actor, group: EntityID, name: String?, description: String?, ext: String?,
    inviteNeedConfirm: Bool?, maxMembers: Int?
  ) -> UpdateGroup {
    var operation = UpdateGroup(group, actor: actor)
    operation.groupName = name
    operation.description = description
    operation.ext = ext
    operation.inviteNeedConfirm = inviteNeedConfirm
    operation.maxMembers = maxMembers
    return operation
  }

  /// An account that removes itself leaves; the removal of another account is a removal.
  private static func removeMember(
    _ request: Request, _ services: LoopServices, group: EntityID, account: AccountID
  ) async throws(Refusal) -> HTTPResponse {
    let actor = try request.actor
    if account == actor.account {
      _ = try await services.run(LeaveGroup(group, actor: actor), of: request)
    } else {
      _ = try await services.run(RemoveGroupMembers(group, actor: actor, accounts: [account]), of: request)
    }
    return .noContent
  }
}

// MARK: - Looking

extension Groups {
  /// The callers who may see a group and its members. To strangers a private group does not exist.
  static func access(_ group: GroupRecord) -> Access { group.style.isPublic ? .anyAccount : .members }

  static func member(_ field: String, _ text: String, _: Int64) -> JSONValue? {
    MemberRecord(text: text).map { ["accid": .string(field), "role": .string($0.role.rawValue)] }
  }

  private static func show(
    _ request: Request, _ services: LoopServices, group: EntityID, withMembers: Bool?
  ) async throws(Refusal) -> HTTPResponse {
    let view = try await SpaceView(request, of: .group(group), for: access, services)
    var more: JSONObject = [
      "memberCount": .integer(Int64(try await services.count(.roster, of: view.space))),
      "administrators": .accids(view.settings.admins),
      "isBlockedByMe": .bool(view.member?.membership.stopped.current != nil),
    ]
    if let role = view.member?.role { more["role"] = .string(role.rawValue) }
    if withMembers == true {
      let page = try await services.page(of: .roster, in: view.space, 200, after: nil)
      more["members"] = .array(page.records.compactMap { member($0.field, $0.text, 0) })
    }
    return .json(view.settings.info(view.space).with(more))
  }

  private static func mine(
    _ request: Request, _ services: LoopServices, limit: Int, after: EntityID?, details: Bool?
  ) async throws(Refusal) -> HTTPResponse {
    let account = try request.known().account()
    let index = try await reading { () async throws(StoreError) in
      try await services.store.index(of: account)
    }
    let all = index.filter { $0.isMember && $0.space.kind == .group }
      .compactMap { EntityID($0.space.name) }.sorted()
    let rest = all.filter { id in after.map { $0 < id } ?? true }
    let page = rest.prefix(limit).map { SpaceID.group($0) }
    let groups = try await describe(page, services, for: details == true ? account : nil)
    var answer = JSONText(capacity: 256 * (groups.count + 1))
    answer.field("groups", .array(groups))
    answer.field("count", all.count)
    answer.field("cursor", rest.count > limit ? page.last.map { .string($0.name) } ?? .null : .null)
    return .json(answer)
  }

  /// Lists public groups, the newest first.
  private static func directory(
    _ request: Request, _ services: LoopServices, limit: Int, cursor: PageCursor?
  ) async throws(Refusal) -> HTTPResponse {
    let page = try await reading { () async throws(StoreError) in
      try await services.store.page(of: .groups, after: cursor, limit: limit)
    }
    return .page("groups", try await describe(page.spaces, services, for: nil), cursor: page.next?.text)
  }

  /// A destroyed group stays in the directory until its log has drained. It is not shown.
  private static func describe(
    _ spaces: [SpaceID], _ services: LoopServices, for account: AccountID?
  ) async throws(Refusal) -> [JSONValue] {
    let (records, counts) = try await reading { () async throws(StoreError) in
      (
        try await services.store.records(
          spaces.flatMap { space in
            [.settings(space)] + (account.map { [.member($0, of: space)] } ?? [])
          }),
        account == nil ? [] : try await services.store.counts(spaces.map { TableAddress($0, .roster) })
      )
    }
    var groups: [JSONValue] = []
    for (position, space) in spaces.enumerated() {
      guard let group = try records.json(GroupRecord.self, .settings(space)), group.removedAt == nil else {
        continue
      }
      guard let account else {
        groups.append(group.info(space))
        continue
      }
      let role = try records.member(account, of: space)?.role ?? .member
      groups.append(
        group.info(space).with([
          "memberCount": .integer(Int64(counts[position])), "role": .string(role.rawValue),
        ]))
    }
    return groups
  }
}

extension GroupInvitations {
  fileprivate var info: JSONValue {
    [
      "joined": .accids(joined),
      "asked": .array(
        asked.map { ["accid": .string($0.account.text), "requestId": .string($0.request.text)] }),
    ]
  }
}
