import BelfryModel
import BelfryStore

extension Routes {
  private static let path = "/v1/groups/{groupId}"

  static let groups: [Route] =
    groupLifecycle + groupJoining + groupRoles + groupLists + groupContents + accounts

  private static let groupLifecycle: [Route] = [
    Route(
      .post, "/v1/groups", .token, "group create", "Create a group, and invite into it",
      body: .json(
        SharedFields.name.needed, Groups.style.needed, SharedFields.description, SharedFields.ext,
        Groups.inviteNeedConfirm,
        Groups.maxMembers, Groups.invitees, Groups.reason),
      refusals: [.tooMany, .conflict, .blocked, .mailboxFull],
      .reply(.created(Groups.created), by: Groups.create)),
    Route(
      .get, "/v1/groups", .token, "group list", "List the public groups", query: SharedFields.page,
      .reply(.ok(.page("groups", of: Groups.shape, "the newest first")), by: Groups.directory)),
    Route(
      .get, "/v1/groups/mine", .token, "group mine", "List the groups the account is a member of",
      query: [Groups.minePageLimit, Groups.mineCursor, Groups.details],
      .reply(.ok(Groups.mineShape), by: Groups.mine)),
    Route(
      .get, path, .token, "group show", "Show a group", query: [Groups.withMembers], refusals: [.notMember],
      .reply(.ok(Groups.shapeWithMembers), by: Groups.show)),
    Route(
      .patch, path, .token, "group update", "Change what a group is called, and its options",
      body: .json(
        SharedFields.name, SharedFields.description, SharedFields.ext, Groups.inviteNeedConfirm,
        Groups.maxMembers),
      refusals: [.tooMany],
      .operation(.ok(Groups.shape), Groups.update) { operation, group in .json(group.info(operation.space)) }),
    Route(
      .delete, path, .token, "group destroy", "Destroy a group for good",
      .operation { ask throws(Refusal) in DestroyGroup(try ask.group, actor: try ask.actor) }),
    Route(
      .get, path + "/members", .token, "group members", "List a group's members", query: SharedFields.page,
      refusals: [.notMember],
      .listing(
        "members", of: Groups.member, "in no particular order", for: Groups.access,
        { ask throws(Refusal) in TableAddress(.group(try ask.group), .roster) }, Groups.member)),
    Route(
      .delete, path + "/members/{accid}", .token, "group remove",
      "Leave a group, when it is oneself; put a member out, as its owner or an admin",
      refusals: [.notMember, .conflict],
      .reply(.noContent, by: Groups.removeMember)),
  ]

  private static let groupJoining: [Route] = [
    Route(
      .post, path + "/invitations", .token, "group invite", "Invite accounts into a group",
      body: .json(SharedFields.accids, Groups.message),
      refusals: [.tooMany, .banned, .blocked, .mailboxFull],
      .operation(
        .ok(Groups.invited),
        { ask throws(Refusal) in
          InviteToGroup(
            try ask.group, actor: try ask.actor, accounts: try ask[SharedFields.accids],
            message: try ask[Groups.message])
        }
      ) { _, invitations in .json(invitations.info) }),
    answer("invitations", "accept", "group accept", "Accept an invitation into a group"),
    answer("invitations", "decline", "group decline", "Decline an invitation into a group"),
    Route(
      .post, path + "/applications", .token, "group apply", "Apply to a public group, or join an open one",
      body: .optional(Groups.reason), refusals: [.tooMany, .banned],
      .operation(
        .ok(Groups.applied),
        { ask throws(Refusal) in
          ApplyToGroup(try ask.group, actor: try ask.actor, reason: try ask[Groups.reason])
        }
      ) { _, outcome in
        switch outcome {
        case .joined: .json(["joined": true])
        case .waiting(let request): .json(["joined": false, "requestId": .string(request.text)])
        }
      }),
    answer("applications", "accept", "group approve", "Let in who applied to a group"),
    answer("applications", "decline", "group refuse", "Turn down who applied to a group"),
  ]

  private static func answer(_ what: String, _ word: String, _ name: String, _ summary: String) -> Route {
    let answer: Answer =
      what == "invitations"  // own text
      ? .operation { ask throws(Refusal) in
        AnswerGroupInvitation(
          try ask.group, actor: try ask.actor, request: try ask[SharedFields.requestId],
          isAccepted: word == "accept", reason: try ask[Groups.reason])  // own text
      }
      : .operation { ask throws(Refusal) in
        AnswerGroupApplication(
          try ask.group, actor: try ask.actor, request: try ask[SharedFields.requestId],
          isApproved: word == "accept", reason: try ask[Groups.reason])  // own text
      }
    return Route(
      .post, path + "/\(what)/{requestId}/\(word)", .token, name, summary, body: .optional(Groups.reason),
      refusals: [.tooMany, .banned], answer)
  }

  private static let groupRoles: [Route] = [
    Route(
      .put, path + "/owner", .token, "group assign-owner", "Hand a group over to a member",
      body: .json(SharedFields.accid), refusals: [.tooMany],
      .operation { ask throws(Refusal) in
        HandOverGroup(try ask.group, actor: try ask.actor, to: try ask.account)
      }),
    Route(
      .put, path + "/admins/{accid}", .token, "group add-admin", "Make a member an admin of a group",
      refusals: [.tooMany],
      .operation { ask throws(Refusal) in
        SetGroupAdmin(try ask.group, actor: try ask.actor, account: try ask.account, isAdmin: true)
      }),
    Route(
      .delete, path + "/admins/{accid}", .token, "group remove-admin",
      "Make an admin a plain member of a group",
      .operation { ask throws(Refusal) in
        SetGroupAdmin(try ask.group, actor: try ask.actor, account: try ask.account, isAdmin: false)
      }),
  ]

  private static let groupLists: [Route] =
    list(
      "allow-list", "allow", "Let accounts send while all are muted", "No longer let an account do that",
      .allowed
    ) { ask, accounts, isListed throws(Refusal) in
      SetGroupAllowList(try ask.group, actor: try ask.actor, accounts: accounts, isListed: isListed)
    }
    + list(
      "block-list", "block", "Put accounts out and keep them out", "Let an account come back", .banned
    ) { ask, accounts, isBlocked throws(Refusal) in
      SetGroupBlockList(try ask.group, actor: try ask.actor, accounts: accounts, isBlocked: isBlocked)
    } + [
      Route(
        .get, path + "/allow-list/{accid}", .token, "group is-allowed",
        "Say whether a member is on a group's allow list", refusals: [.notMember],
        .reply(
          .ok(.object([.always("listed", .flag, "whether the account is on the list")])),
          by: Groups.showAllowed)),
      Route(
        .post, path + "/mutes", .token, "group mute", "Keep members of a group from sending for a while",
        body: .json(SharedFields.accids, Groups.duration.needed), refusals: [.tooMany],
        .operation { ask throws(Refusal) in
          try Groups.mute(ask, try ask[SharedFields.accids], seconds: try ask[Groups.duration.needed])
        }),
      Route(
        .delete, path + "/mutes/{accid}", .token, "group unmute", "Let a muted member send again",
        .operation { ask throws(Refusal) in try Groups.mute(ask, [try ask.account], seconds: nil) }),
      Route(
        .get, path + "/mutes", .token, "group muted", "List a group's muted members",
        query: SharedFields.page,
        refusals: [.notMember],
        .listing(
          "muted", of: Listed.muted, "in no particular order", for: { (_: GroupRecord) in .administrators },
          { ask throws(Refusal) in TableAddress(.group(try ask.group), .muted) }, Listed.muted)),
      Route(
        .put, path + "/mute-all", .token, "group mute-all",
        "Let only the allow-listed, the owner and the admins send",
        .operation { ask throws(Refusal) in
          SetGroupAllMuted(try ask.group, actor: try ask.actor, isOn: true)
        }),
      Route(
        .delete, path + "/mute-all", .token, "group unmute-all", "Let all members send again",
        .operation { ask throws(Refusal) in
          SetGroupAllMuted(try ask.group, actor: try ask.actor, isOn: false)
        }),
    ]

  /// Adding to a list, removing from it, and the list.
  private static func list<Asked: SpaceOperation>(
    _ word: String, _ name: String, _ adding: String, _ removing: String, _ table: RecordTable,
    _ operation: @escaping @Sendable (Request, [AccountID], Bool) throws(Refusal) -> Asked
  ) -> [Route] {
    [
      Route(
        .post, path + "/\(word)", .token, "group \(name)", adding, body: .json(SharedFields.accids),
        refusals: [.tooMany],
        .operation { ask throws(Refusal) in try operation(ask, try ask[SharedFields.accids], true) }),
      Route(
        .delete, path + "/\(word)/{accid}", .token, "group un\(name)", removing,
        .operation { ask throws(Refusal) in try operation(ask, [try ask.account], false) }),
      Route(
        .get, path + "/\(word)", .token, "group \(name)ed", "List the accounts on a group's \(word)",
        query: SharedFields.page, refusals: [.notMember],
        .listing(
          "accids", of: .account, "in no particular order", for: { (_: GroupRecord) in .administrators },
          { ask throws(Refusal) in TableAddress(.group(try ask.group), table) }, Listed.account)),
    ]
  }

  private static let groupContents: [Route] = [
    Route(
      .put, path + "/receiving", .token, "group resume", "Receive a group's custom notifications again",
      refusals: [.tooMany],
      .operation { ask throws(Refusal) in
        SetGroupReceiving(try ask.group, actor: try ask.actor, receives: true)
      }),
    Route(
      .delete, path + "/receiving", .token, "group stop", "Receive no more of a group's custom notifications",
      .operation { ask throws(Refusal) in
        SetGroupReceiving(try ask.group, actor: try ask.actor, receives: false)
      }),
    Route(
      .get, path + "/receiving", .token, "group receiving",
      "Say whether the account receives a group's custom notifications", refusals: [.notMember],
      .reply(.ok(.object([.always("receiving", .flag, "whether it does")])), by: Groups.showReceiving)),
    Route(
      .put, path + "/announcement", .token, "group announce", "Set a group's announcement",
      body: .json(Groups.announcement.needed),
      .operation { ask throws(Refusal) in
        SetGroupAnnouncement(
          try ask.group, actor: try ask.actor, announcement: try ask[Groups.announcement.needed])
      }),
    Route(
      .get, path + "/announcement", .token, "group announcement", "Show a group's announcement",
      refusals: [.notMember],
      .reply(
        .ok(.object([.always("announcement", .text, "empty if there is none")])), by: Groups.showAnnouncement)
    ),
    Route(
      .post, path + "/files", .token, "group add-file",
      "Share a file with a group: where it lies, not its bytes",
      body: .json(Groups.fileName.needed, Groups.url.needed, Groups.size.needed), refusals: [.tooMany],
      .operation(.created(Groups.file, isLocated: false), Groups.addFile) { operation, file in
        .json(file.info(operation.id), status: 201)
      }),
    Route(
      .get, path + "/files", .token, "group files", "List a group's shared files", query: SharedFields.page,
      refusals: [.notMember],
      .listing(
        "files", of: Groups.file, "in no particular order", for: { (_: GroupRecord) in .members },
        { ask throws(Refusal) in TableAddress(.group(try ask.group), .files) }, Groups.file)),
    Route(
      .delete, path + "/files/{fileId}", .token, "group remove-file", "Remove a shared file from a group",
      .operation { ask throws(Refusal) in
        RemoveGroupFile(try ask.group, id: try ask[SharedFields.fileId], actor: try ask.actor)
      }),
    Route(
      .put, path + "/members/{accid}/attributes", .token, "group set-attributes",
      "Change a member's attributes in a group", body: .json(Groups.attributes),
      .operation(.ok(attributes), Groups.attributes) { _, all in
        .json(["attributes": .object(JSONObject(texts: all))])
      }),
    Route(
      .get, path + "/members/{accid}/attributes", .token, "group attributes",
      "Show a member's attributes in a group", refusals: [.notMember],
      .reply(.ok(attributes), by: Groups.showAttributes)),
  ]

  private static let attributes = Shape.object([
    .always("attributes", .map(.text), "texts by name")
  ])

  private static let accounts: [Route] = [
    Route(
      .get, "/v1/account/blocked", .token, "account blocked",
      "List the accounts that the account has blocked",
      query: SharedFields.page,
      .reply(.ok(.page("accids", of: .account, "in no particular order")), by: Accounts.listBlocked)),
    Route(
      .put, "/v1/account/blocked/{accid}", .token, "account block",
      "Take no direct notifications and no invitations from another account",
      refusals: [.tooMany, .conflict],
      .reply(.noContent, by: Accounts.block)),
    Route(
      .delete, "/v1/account/blocked/{accid}", .token, "account unblock", "Unblock another account",
      refusals: [.conflict],
      .reply(.noContent, by: Accounts.unblock)),
    Route(
      .get, "/v1/account", .token, "account show", "Show an account's options",
      .reply(.ok(Accounts.shape), by: Accounts.show)),
    Route(
      .patch, "/v1/account", .token, "account update", "Change an account's options",
      body: .json(Accounts.autoAccept, Accounts.mayWrite, Accounts.mayInvite, Accounts.mayAdd),
      refusals: [.conflict],
      .reply(.ok(Accounts.shape), by: Accounts.update)),
  ]
}
