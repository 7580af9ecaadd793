import BelfryModel
import BelfryStore

// What can be seen of groups.

extension Groups {
  /// To strangers a private group is not there.
  private static func look(
    _ request: Request, _ services: LoopServices, reading others: [RecordAddress] = [],
    membersOnly: Bool = false
  ) async throws(Refusal) -> Look<GroupRecord> {
    try await Look(
      request, at: .group(try request.group), for: { membersOnly ? .members : access($0) }, reading: others,
      services)
  }

  /// Who may see what a group is and who is in it.
  static let access: @Sendable (GroupRecord) -> Access = { $0.style.isPublic ? .anyAccount : .members }

  static func show(_ request: Request, _ services: LoopServices) async throws(Refusal) -> Reply {
    let look = try await look(request, services)
    var more: JSONObject = [
      "memberCount": .integer(Int64(try await services.count(.roster, of: look.space)))
    ]
    if let role = look.member?.role { more["role"] = .string(role.rawValue) }
    if try request[withMembers] == true {
      let page = try await reading { () async throws(StoreError) in
        try await services.store.page(of: TableAddress(look.space, .roster), after: nil, limit: 200)
      }
      more["members"] = .array(page.records.compactMap { member($0.field, $0.text, 0) })
    }
    return .json(look.settings.info(look.space).with(more))
  }

  static func member(_ field: String, _ text: String, _: Int64) -> JSONValue? {
    MemberRecord(text: text).map { ["accid": .string(field), "role": .string($0.role.rawValue)] }
  }

  static func file(_ field: String, _ text: String, _: Int64) -> JSONValue? {
    guard let id = EntityID(field) else { return nil }
    return RecordJSON.value(GroupFileRecord.self, text)?.info(id)
  }

  static func showAnnouncement(_ request: Request, _ services: LoopServices) async throws(Refusal) -> Reply {
    let look = try await look(request, services, membersOnly: true)
    return .json(["announcement": .string(look.settings.announcement ?? "")])
  }

  static func showAttributes(_ request: Request, _ services: LoopServices) async throws(Refusal) -> Reply {
    let (account, space) = (try request.account, SpaceID.group(try request.group))
    let address = RecordAddress.profile(account, in: space)
    let look = try await look(request, services, reading: [address], membersOnly: true)
    let attributes = try look.records.attributes(account, in: space)
    return .json(["attributes": .object(JSONObject(texts: attributes))])
  }

  /// Whether one account stands on the allow list: for any member.
  static func showAllowed(_ request: Request, _ services: LoopServices) async throws(Refusal) -> Reply {
    let address = RecordAddress.member(try request.account, of: .group(try request.group))
    let look = try await look(request, services, reading: [address], membersOnly: true)
    let member = try look.records.member(try request.account, of: look.space)
    return .json(["listed": .bool(member?.rights.isAllowListed == true)])
  }

  static func showReceiving(_ request: Request, _ services: LoopServices) async throws(Refusal) -> Reply {
    let look = try await look(request, services, membersOnly: true)
    return .json(["receiving": .bool(look.member?.membership.stopped.current == nil)])
  }

  // MARK: Lists of groups

  static let minePageLimit = Field("limit", .integer(1...Limits.pageMembersMaximum), "how many at most")
    .otherwise(20, 20)
  static let mineCursor = Field("cursor", Kind<EntityID>.cursor, "the cursor of the page before")
  static let mineShape = Shape.object([
    .always("groups", .list(shape), "by id"),
    .always("count", .count, "in how many groups the account is"),
    .always("cursor", .orNull(.cursor), "where the list goes on; null at its end"),
  ])
  static let details = Field(
    "details", .flag, "whether to tell each group's member count and the account's role")

  static func mine(_ request: Request, _ services: LoopServices) async throws(Refusal) -> Reply {
    let account = try request.known().account()
    let (limit, after) = (try request[minePageLimit], try request[mineCursor])
    let index = try await reading { () async throws(StoreError) in
      try await services.store.index(of: account)
    }
    let all = index.filter { $0.isMember && $0.space.kind == .group }
      .compactMap { EntityID($0.space.name) }.sorted()
    let rest = all.filter { id in after.map { $0 < id } ?? true }
    let page = rest.prefix(limit).map { SpaceID.group($0) }
    let groups = try await describe(
      page, services, for: try request[details] == true ? account : nil)
    var answer = JSONText(capacity: 256 * (groups.count + 1))
    answer.field("groups", .array(groups))
    answer.field("count", all.count)
    answer.field("cursor", rest.count > limit ? page.last.map { .string($0.name) } ?? .null : .null)
    return .json(answer)
  }

  /// Public groups, the newest first.
  static func directory(_ request: Request, _ services: LoopServices) async throws(Refusal) -> Reply {
    let (limit, after) = (try request[SharedFields.limit], try request[SharedFields.cursor])
    let page = try await reading { () async throws(StoreError) in
      try await services.store.page(of: .groups, after: after, limit: limit)
    }
    return .page("groups", try await describe(page.spaces, services, for: nil), cursor: page.next?.text)
  }

  /// One that was destroyed is listed until its log has drained; it is not shown.
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
