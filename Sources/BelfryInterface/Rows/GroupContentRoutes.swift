package import BelfryModel

// The contents of a group other than its members: lists, mutes, an announcement, files, attributes.

// MARK: - Lists

extension GroupRoutes {
  static let lists = [
    allow.route, unallow.route, unallowMany.route, allowed.route, block.route, unblock.route,
    unblockMany.route, blocked.route, isAllowed.route,
  ]

  package static let allow = adding(
    "allow", "group allow", "Add accounts to a group's allow list: they may send while everybody is muted",
    RouteOptions(done: "allowed"))
  package static let unallow = removing(
    "allow", "group unallow", "Remove an account from a group's allow list",
    RouteOptions(done: "removed from the allow list"))
  package static let unallowMany = removingMany(
    "allow", "group unallow-many", "Remove accounts from a group's allow list",
    RouteOptions(done: "removed from the allow list"))
  package static let allowed = listing(
    "allow", "group allowed", "List the accounts on a group's allow list", SharedFields.limit)
  package static let block = adding(
    "block", "group block", "Ban accounts from a group",
    RouteOptions(command: "group ban", otherCommands: ["group block"], done: "banned"))
  package static let unblock = removing(
    "block", "group unblock", "Unban an account from a group",
    RouteOptions(command: "group unban", otherCommands: ["group unblock"], done: "unbanned"))
  package static let unblockMany = removingMany(
    "block", "group unblock-many", "Unban accounts from a group",
    RouteOptions(command: "group unban-many", otherCommands: ["group unblock-many"], done: "unbanned"))
  package static let blocked = listing(
    "block", "group blocked", "List the accounts that are banned from a group", SharedFields.blockedLimit,
    RouteOptions(command: "group bans", otherCommands: ["group blocked"]))

  package static let isAllowed = endpoint(
    .get, group + "/allow-list/{accid}", .token, "group is-allowed",
    "Show whether an account is on a group's allow list; only the owner and admins may ask about others",
    path: groupId, accid,
    refusals: [.notMember],
    answers: .ok(
      .resource("ListedAccount", [.always("listed", .flag, "whether the account is on the list")])),
    options: RouteOptions(accountMayBeLeftOut: true))

  private static func adding(
    _ list: String, _ name: String, _ summary: String, _ options: RouteOptions
  ) -> Endpoint<EntityID, [AccountID]> {
    let row = endpoint(
      .post, "\(group)/\(list)-list", .token, name, summary, path: groupId, body: SharedFields.accids,
      operation: operation(of: list), refusals: [.tooMany], options: options)
    return row
  }

  private static func removing(
    _ list: String, _ name: String, _ summary: String, _ options: RouteOptions
  ) -> Endpoint<EntityID, AccountID> {
    let row = endpoint(
      .delete, "\(group)/\(list)-list/{accid}", .token, name, summary, path: groupId, accid,
      operation: operation(of: list), options: options)
    return row
  }

  private static func removingMany(
    _ list: String, _ name: String, _ summary: String, _ options: RouteOptions
  ) -> Endpoint<EntityID, [AccountID]> {
    let row = endpoint(
      .delete, "\(group)/\(list)-list", .token, name, summary, path: groupId, body: SharedFields.accids,
      operation: operation(of: list), options: options)
    return row
  }

  private static func operation(of list: String) -> any SpaceOperation.Type {
    list == "allow" ? SetGroupAllowList.self : SetGroupBlockList.self  // own text
  }

  private static func listing(
    _ list: String, _ name: String, _ summary: String, _ limit: some DeclaredField<Int>,
    _ options: RouteOptions = RouteOptions()
  ) -> Endpoint<EntityID, Int, PageCursor?> {
    let row = endpoint(
      .get, "\(group)/\(list)-list", .token, name, summary, path: groupId, query: limit, SharedFields.cursor,
      refusals: [.notMember], answers: .ok(.accountPage), options: options)
    return row
  }
}

// MARK: - Mutes

extension GroupRoutes {
  static let mutes = [
    mute.route, unmute.route, unmuteMany.route, muted.route, muteAll.route, unmuteAll.route,
  ]

  package static let mute = endpoint(
    .post, group + "/mutes", .token, "group mute", "Mute members of a group for a while",
    path: groupId, body: SharedFields.accids, SharedFields.muteDuration.needed, operation: SetGroupMute.self,
    refusals: [.tooMany], options: RouteOptions(done: "muted"))
  package static let unmute = endpoint(
    .delete, group + "/mutes/{accid}", .token, "group unmute", "Unmute a member of a group",
    path: groupId, accid, operation: SetGroupMute.self, options: RouteOptions(done: "unmuted"))
  package static let unmuteMany = endpoint(
    .delete, group + "/mutes", .token, "group unmute-many", "Unmute members of a group", path: groupId,
    body: SharedFields.accids, operation: SetGroupMute.self, options: RouteOptions(done: "unmuted"))
  package static let muted = endpoint(
    .get, group + "/mutes", .token, "group muted", "List a group's muted members", path: groupId,
    query: SharedFields.limit, SharedFields.cursor, refusals: [.notMember],
    answers: .ok(.page("muted", of: .muted, "in no particular order")))
  package static let muteAll = endpoint(
    .put, group + "/mute-all", .token, "group mute-all",
    "Mute all members of a group except the owner, the admins and the accounts on the allow list",
    path: groupId,
    operation: SetGroupAllMuted.self, options: RouteOptions(done: "muted everybody"))
  package static let unmuteAll = endpoint(
    .delete, group + "/mute-all", .token, "group unmute-all", "Unmute all members of a group", path: groupId,
    operation: SetGroupAllMuted.self, options: RouteOptions(done: "unmuted everybody"))
}

// MARK: - Contents

extension GroupRoutes {
  static let contents = [
    resume.route, stop.route, receiving.route, announce.route, announcement.route, addFile.route, files.route,
    removeFile.route, setAttributes.route, attributes.route,
  ]

  package static let resume = endpoint(
    .put, group + "/receiving", .token, "group resume", "Receive a group's custom notifications again",
    path: groupId, operation: SetGroupReceiving.self, refusals: [.tooMany],
    options: RouteOptions(done: "started receiving again"))
  package static let stop = endpoint(
    .delete, group + "/receiving", .token, "group stop",
    "Stop receiving a group's custom notifications", path: groupId, operation: SetGroupReceiving.self,
    options: RouteOptions(done: "stopped receiving"))
  package static let receiving = endpoint(
    .get, group + "/receiving", .token, "group receiving",
    "Show whether the account receives a group's custom notifications", path: groupId,
    refusals: [.notMember],
    answers: .ok(
      .resource("GroupReceiving", [.always("receiving", .flag, "whether the account receives them")])))

  private static let announcementText = Field(
    "announcement", .text(characters: 0...Limits.announcementCharacters), "the announcement; empty for none"
  ).needed
  package static let announce = endpoint(
    .put, group + "/announcement", .token, "group announce", "Set a group's announcement", path: groupId,
    body: announcementText, operation: SetGroupAnnouncement.self,
    options: RouteOptions(
      done: "set the announcement", example: ["announcement": "\"Practice is at seven\""]))
  package static let announcement = endpoint(
    .get, group + "/announcement", .token, "group announcement", "Show a group's announcement",
    path: groupId, refusals: [.notMember],
    answers: .ok(
      .resource(
        "GroupAnnouncement", [.always("announcement", .text, "the announcement; empty if there is none")])))

  private static let fileName = Field(
    "name", .text(characters: 1...Limits.nameCharacters), "the file's name"
  ).needed
  private static let url = Field(
    "url", .text(bytes: 1...Limits.urlBytes), "the file's URL, which Belfry neither checks nor opens"
  ).needed
  private static let size = Field("size", .integer(0...Int(Int64.max >> 10)), "bytes").needed
  private static let file = Shape.resource(
    "GroupFile",
    [
      .always("fileId", .id, "its id"), .always("name", .text, "the file's name"),
      .always("url", .text, "the file's URL"), .always("size", .count, "bytes"),
      .always("owner", .orNull(.account), "the account that shared it"),
      .always("createTime", .time, "when it was shared"),
    ])
  package static let addFile = endpoint(
    .post, group + "/files", .token, "group add-file",
    "Share a file with a group, by its URL", path: groupId, body: fileName, url, size,
    operation: AddGroupFile.self, refusals: [.tooMany], answers: .created(file, isLocated: false),
    options: RouteOptions(
      done: "added the file",
      example: ["name": "minutes.pdf", "url": "https://files.example/minutes.pdf", "size": "20480"]))
  package static let files = endpoint(
    .get, group + "/files", .token, "group files", "List a group's shared files", path: groupId,
    query: SharedFields.limit, SharedFields.cursor, refusals: [.notMember],
    answers: .ok(.page("files", of: file, "in no particular order")))
  package static let removeFile = endpoint(
    .delete, group + "/files/{fileId}", .token, "group remove-file", "Remove a shared file from a group",
    path: groupId, SharedFields.fileId, operation: RemoveGroupFile.self,
    options: RouteOptions(done: "removed the file"))

  private static let changedAttributes = Field(
    "attributes", .texts,
    "the attributes to change, as texts by name; an empty text removes an attribute, and all others stay "
      + "(in total at most \(Limits.attributesBytes) bytes of JSON)"
  ).needed
  private static let attributesShape = Shape.resource(
    "MemberAttributes", [.always("attributes", .map(.text), "the attributes, texts by name")])
  package static let setAttributes = endpoint(
    .put, group + "/members/{accid}/attributes", .token, "group set-attributes",
    "Change a member's attributes in a group", path: groupId, accid, body: changedAttributes,
    operation: SetMemberAttributes.self, answers: .ok(attributesShape),
    options: RouteOptions(
      done: "changed the attributes", example: ["attributes": "'{\"seat\": \"3\"}'"]))
  package static let attributes = endpoint(
    .get, group + "/members/{accid}/attributes", .token, "group attributes",
    "Show a member's attributes in a group", path: groupId, accid, refusals: [.notMember],
    answers: .ok(attributesShape))
}
