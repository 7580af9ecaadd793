import BelfryHTTP
import BelfryInterface
import BelfryModel
import BelfryStore

/// The contents of a group apart from its members: lists, mutes, an announcement, files, attributes.
enum GroupContents {
  static let handlers = lists + mutes + receiving + contents

  private static func members(_: GroupRecord) -> Access { .members }
  private static func administrators(_: GroupRecord) -> Access { .administrators }

  private static func view(
    _ request: Request, of group: EntityID, reading others: [RecordAddress] = [], _ services: LoopServices
  ) async throws(Refusal) -> SpaceView<GroupRecord> {
    try await SpaceView(request, of: .group(group), for: members, reading: others, services)
  }

  // MARK: Lists

  private static let lists: [Handler] = [
    GroupRoutes.allow.carriedOut { actor, group, accounts in
      SetGroupAllowList(group, actor: actor, accounts: accounts, isListed: true)
    },
    GroupRoutes.unallow.carriedOut { actor, group, account in
      SetGroupAllowList(group, actor: actor, accounts: [account], isListed: false)
    },
    GroupRoutes.unallowMany.carriedOut { actor, group, accounts in
      SetGroupAllowList(group, actor: actor, accounts: accounts, isListed: false)
    },
    list(GroupRoutes.allowed, of: .allowed),
    GroupRoutes.isAllowed.handled(by: isAllowed),
    GroupRoutes.block.carriedOut { actor, group, accounts in
      SetGroupBlockList(group, actor: actor, accounts: accounts, isBlocked: true)
    },
    GroupRoutes.unblock.carriedOut { actor, group, account in
      SetGroupBlockList(group, actor: actor, accounts: [account], isBlocked: false)
    },
    GroupRoutes.unblockMany.carriedOut { actor, group, accounts in
      SetGroupBlockList(group, actor: actor, accounts: accounts, isBlocked: false)
    },
    list(GroupRoutes.blocked, of: .banned),
  ]

  private static func list(
    _ endpoint: Endpoint<EntityID, Int, PageCursor?>, of table: RecordTable
  ) -> Handler {
    endpoint.handled { request, services, group, limit, cursor throws(Refusal) in
      try await services.listing(
        "accids", of: table, in: .group(group), limit, after: cursor, for: administrators, request,
        Listed.account)
    }
  }

  /// Says if one account is on the allow list. Any member may ask.
  private static func isAllowed(
    _ request: Request, _ services: LoopServices, group: EntityID, account: AccountID
  ) async throws(Refusal) -> HTTPResponse {
    let space = SpaceID.group(group)
    let isOwn = try request.actor.account == account
    let view = try await SpaceView<GroupRecord>(
      request, of: space, for: isOwn ? members : administrators,
      reading: [.member(account, of: space)], services)
    let member = try view.records.member(account, of: view.space)
    return .json(["listed": .bool(member?.rights.isAllowListed == true)])
  }

  // MARK: Mutes

  private static let mutes: [Handler] = [
    GroupRoutes.mute.carriedOut { actor, group, accounts, seconds in
      SetGroupMute(group, actor: actor, accounts: accounts, durationMilliseconds: Int64(seconds) * 1_000)
    },
    GroupRoutes.unmute.carriedOut { actor, group, account in
      SetGroupMute(group, actor: actor, accounts: [account], durationMilliseconds: nil)
    },
    GroupRoutes.unmuteMany.carriedOut { actor, group, accounts in
      SetGroupMute(group, actor: actor, accounts: accounts, durationMilliseconds: nil)
    },
    GroupRoutes.muted.handled { request, services, group, limit, cursor throws(Refusal) in
      try await services.listing(
        "muted", of: .muted, in: .group(group), limit, after: cursor, for: administrators, request,
        expires: true, Listed.muted)
    },
    GroupRoutes.muteAll.carriedOut { actor, group in SetGroupAllMuted(group, actor: actor, isOn: true) },
    GroupRoutes.unmuteAll.carriedOut { actor, group in SetGroupAllMuted(group, actor: actor, isOn: false) },
  ]

  // MARK: Receiving

  private static let receiving: [Handler] = [
    GroupRoutes.resume.carriedOut { actor, group in SetGroupReceiving(group, actor: actor, receives: true) },
    GroupRoutes.stop.carriedOut { actor, group in SetGroupReceiving(group, actor: actor, receives: false) },
    GroupRoutes.receiving.handled { request, services, group throws(Refusal) in
      let view = try await view(request, of: group, services)
      guard let member = view.member else { throw .notMember(of: view.space) }
      return .json(["receiving": .bool(member.membership.stopped.current == nil)])
    },
  ]

  // MARK: Announcement, files, attributes

  private static let contents: [Handler] = [
    GroupRoutes.announce.carriedOut { actor, group, text in
      SetGroupAnnouncement(group, actor: actor, announcement: text)
    },
    GroupRoutes.announcement.handled { request, services, group throws(Refusal) in
      let view = try await view(request, of: group, services)
      return .json(["announcement": .string(view.settings.announcement ?? "")])
    },
    GroupRoutes.addFile.carriedOut(by: { actor, group, name, url, size in
      AddGroupFile(group, id: .random(), actor: actor, name: name, url: url, sizeBytes: Int64(size))
    }) { operation, file in .json(file.info(operation.id), status: 201) },
    GroupRoutes.files.handled { request, services, group, limit, cursor throws(Refusal) in
      try await services.listing(
        "files", of: .files, in: .group(group), limit, after: cursor, for: members, request, file)
    },
    GroupRoutes.removeFile.carriedOut { actor, group, file in
      RemoveGroupFile(group, id: file, actor: actor)
    },
    GroupRoutes.setAttributes.carriedOut(by: { actor, group, account, attributes in
      SetMemberAttributes(group, actor: actor, account: account, attributes: attributes)
    }) { _, all in .json(["attributes": .object(JSONObject(texts: all))]) },
    GroupRoutes.attributes.handled(by: attributes),
  ]

  private static func file(_ field: String, _ text: String, _: Int64) -> JSONValue? {
    guard let id = EntityID(field) else { return nil }
    return RecordJSON.value(GroupFileRecord.self, text)?.info(id)
  }

  private static func attributes(
    _ request: Request, _ services: LoopServices, group: EntityID, account: AccountID
  ) async throws(Refusal) -> HTTPResponse {
    let space = SpaceID.group(group)
    let view = try await view(request, of: group, reading: [.profile(account, in: space)], services)
    let attributes = try view.records.attributes(account, in: space)
    return .json(["attributes": .object(JSONObject(texts: attributes))])
  }
}
