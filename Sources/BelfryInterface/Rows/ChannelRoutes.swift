package import BelfryModel

/// The channels of a server.
package enum ChannelRoutes {
  package static let all: [Route] = lifecycle + roster + invitations + lists + mutes

  private static let channels = ServerRoutes.server + "/channels"
  private static let channel = channels + "/{channelId}"
  private static let serverId = SharedFields.serverId
  private static let channelId = SharedFields.channelId
  private static let accid = SharedFields.accid

  // MARK: Fields and shapes

  private static let type = Field(
    "type", Kind<ChannelRecord.Kind>.choice,
    "`public`: all members of the server see it; `private`: only its members, the accounts on its allow list, "
      + "the owner and the admins")
  private static let membership = Field(
    "membership", Kind<ChannelRecord.Membership>.choice,
    "the members of the channel: everyone in the server (the default for a public channel), or its own roster"
  )
  private static let initialMembers = Field(
    "members", .accounts(0...Limits.membersPerCall), "the first members of its roster")
  private static let cursor = Field("cursor", Kind<EntityID>.cursor, "the previous page's `cursor`")
  private static let onlyType = Field("type", Kind<ChannelRecord.Kind>.choice, "only channels of this type")
  private static let maxMembers = Field(
    "maxMembers", .integer(1...Limits.channelMembersMaximum), "the maximum size of its own roster")

  private static let shape = Shape.resource(
    "Channel",
    [
      .always("channelId", .id, "its id"),
      .always("serverId", .id, "the server it is in"),
      .always("name", .text, "its name"),
      .always("type", .choice(ChannelRecord.Kind.self), type.property.meaning),
      .always(
        "membership", .choice(ChannelRecord.Membership.self),
        "its members: everyone in the server, or its own roster"),
      .always("createTime", .time, "when it was created"),
      .sometimes("description", .text, "its description"),
      .sometimes("ext", .text, "application data, set by the owner"),
      .sometimes("maxMembers", .count, "the maximum size of its own roster"),
      .sometimes(
        "memberCount", .count,
        "the number of members; absent in the response to creating or changing a channel"),
    ])
  private static let presence = Shape.resource(
    "ChannelPresence", [.always("member", .flag, "whether the account is in the channel")])
  private static let invited = Shape.resource(
    "ChannelInvitations", [.always("invitations", .list(.pendingRequest), "one for each invitee")])
}

// MARK: - Channels

extension ChannelRoutes {
  private static let lifecycle = [
    create.route, list.route, show.route, update.route, remove.route, subscribe.route, unsubscribe.route,
  ]

  package static let create = endpoint(
    .post, channels, .token, "channel create", "Create a channel", path: serverId,
    body: SharedFields.name.needed, SharedFields.description, SharedFields.ext, type.needed, membership,
    maxMembers, initialMembers,
    operation: CreateChannel.self, refusals: [.tooMany, .full], answers: .created(shape),
    options: RouteOptions(done: "created the channel", example: ["name": "news"]))
  package static let list = endpoint(
    .get, channels, .token, "channel list", "List the channels of a server that the account can see",
    path: serverId, query: onlyType, SharedFields.limit, cursor, refusals: [.notMember],
    answers: .ok(.page("channels", of: shape, "sorted by id")))
  package static let show = endpoint(
    .get, channel, .token, "channel show", "Show a channel", path: serverId, channelId,
    refusals: [.notMember], answers: .ok(shape))
  package static let update = endpoint(
    .patch, channel, .token, "channel update",
    "Change a channel's name, description, application data or roster limit",
    path: serverId, channelId,
    body: SharedFields.name, SharedFields.description, SharedFields.ext, maxMembers,
    operation: UpdateChannel.self, answers: .ok(shape),
    options: RouteOptions(done: "changed the channel", example: ["name": "news"]))
  package static let remove = endpoint(
    .delete, channel, .token, "channel remove", "Delete a channel for good", path: serverId, channelId,
    operation: RemoveChannel.self,
    options: RouteOptions(
      command: "channel delete", done: "deleted the channel",
      question: "Delete for good"))
  package static let subscribe = endpoint(
    .put, channel + "/subscription", .token, "channel subscribe", "Subscribe to a channel's notifications",
    path: serverId, channelId, operation: SetSubscription.self, refusals: [.tooMany],
    options: RouteOptions(done: "subscribed"))
  package static let unsubscribe = endpoint(
    .delete, channel + "/subscription", .token, "channel unsubscribe",
    "Unsubscribe from a channel's notifications", path: serverId, channelId,
    operation: SetSubscription.self, options: RouteOptions(done: "unsubscribed"))
}

// MARK: - Who is in a channel

extension ChannelRoutes {
  private static let roster = [join.route, members.route, member.route, exit.route, removeMany.route]

  package static let join = endpoint(
    .post, channel + "/members", .token, "channel join", "Join a channel", path: serverId, channelId,
    operation: JoinChannel.self, refusals: [.banned, .tooMany, .full],
    options: RouteOptions(done: "joined the channel"))
  package static let members = endpoint(
    .get, channel + "/members", .token, "channel members", "List a channel's roster",
    path: serverId, channelId, query: SharedFields.limit, SharedFields.cursor, refusals: [.notMember],
    answers: .ok(.accountPage))
  package static let member = endpoint(
    .get, channel + "/members/{accid}", .token, "channel member", "Show whether an account is in a channel",
    path: serverId, channelId, accid, refusals: [.notMember], answers: .ok(presence),
    options: RouteOptions(accountMayBeLeftOut: true))
  package static let exit = endpoint(
    .delete, channel + "/members/{accid}", .token, "channel exit",
    "Remove a member from a channel (the server's owner and admins only), or leave it",
    path: serverId, channelId, accid, refusals: [.notMember, .banned, .conflict],
    options: RouteOptions(
      command: "channel remove-member", otherCommands: ["channel exit"], done: "removed the member",
      question: "Remove the member",
      ownCommand: .leaving("channel leave", "Leave a channel", done: "left the channel")))
  package static let removeMany = endpoint(
    .delete, channel + "/members", .token, "channel remove-many",
    "Remove members from a channel (the server's owner and admins only)", path: serverId, channelId,
    body: SharedFields.accids, operation: RemoveFromChannel.self,
    options: RouteOptions(done: "removed the members", question: "Remove the members"))

  private static let invitations = [
    invite.route, acceptInvitation.route, declineInvitation.route, listInvitations.route,
  ]

  package static let listInvitations = endpoint(
    .get, channel + "/invitations", .token, "channel invitations",
    "List a channel's pending invitations", path: serverId, channelId,
    query: SharedFields.limit, SharedFields.cursor, refusals: [.notMember], answers: .ok(.waitingRequests))

  package static let invite = endpoint(
    .post, channel + "/invitations", .token, "channel invite", "Invite members of the server to a channel",
    path: serverId, channelId, body: SharedFields.accids, SharedFields.postscript,
    operation: InviteToChannel.self, refusals: [.banned, .tooMany, .blocked], answers: .ok(invited),
    options: RouteOptions(done: "invited"))
  package static let acceptInvitation = answer(
    "accept", "channel accept", "Accept an invitation to a channel",
    RouteOptions(done: "accepted the invitation"))
  package static let declineInvitation = answer(
    "decline", "channel decline", "Decline an invitation to a channel",
    RouteOptions(done: "declined the invitation"))

  private static func answer(
    _ word: String, _ name: String, _ summary: String, _ options: RouteOptions
  ) -> Endpoint<EntityID, EntityID, RequestName, String?> {
    let row = endpoint(
      .post, "\(channel)/invitations/{requestId}/\(word)", .token, name, summary,
      path: serverId, channelId, SharedFields.requestId,
      body: word == "accept" ? SharedFields.unusedPostscript : SharedFields.answerPostscript,  // own text
      bodyMayBeLeftOut: true, operation: AnswerChannelInvitation.self, refusals: [.banned, .tooMany, .full],
      options: options)
    return row
  }
}

// MARK: - Its lists, and who is silent

extension ChannelRoutes {
  private static let lists = [
    allow.route, unallow.route, unallowMany.route, allowed.route, block.route, unblock.route,
    unblockMany.route, blocked.route,
  ]

  package static let allow = adding(
    "allow", "channel allow",
    "Add members to a private channel's allow list, so that they can see and join it", done: "allowed")
  package static let unallow = removing("allow", "channel unallow", done: "removed from the allow list")
  package static let unallowMany = removingMany(
    "allow", "channel unallow-many", done: "removed from the allow list")
  package static let allowed = listing("allow", "channel allowed", SharedFields.limit)
  package static let block = adding(
    "block", "channel block", "Block members from a channel", done: "blocked")
  package static let unblock = removing("block", "channel unblock", done: "unblocked")
  package static let unblockMany = removingMany("block", "channel unblock-many", done: "unblocked")
  package static let blocked = listing("block", "channel blocked", SharedFields.blockedLimit)

  private static func adding(
    _ list: String, _ name: String, _ summary: String, done: String
  ) -> Endpoint<EntityID, EntityID, [AccountID]> {
    let row = endpoint(
      .post, "\(channel)/\(list)-list", .token, name, summary, path: serverId, channelId,
      body: SharedFields.accids, operation: ChangeChannelList.self, refusals: [.tooMany],
      options: RouteOptions(done: done))
    return row
  }

  private static func removing(
    _ list: String, _ name: String, done: String
  ) -> Endpoint<EntityID, EntityID, AccountID> {
    let row = endpoint(
      .delete, "\(channel)/\(list)-list/{accid}", .token, name,
      "Remove an account from a channel's \(list) list",
      path: serverId, channelId, accid, operation: ChangeChannelList.self, refusals: [.tooMany],
      options: RouteOptions(done: done))
    return row
  }

  private static func removingMany(
    _ list: String, _ name: String, done: String
  ) -> Endpoint<EntityID, EntityID, [AccountID]> {
    let row = endpoint(
      .delete, "\(channel)/\(list)-list", .token, name, "Remove accounts from a channel's \(list) list",
      path: serverId, channelId, body: SharedFields.accids, operation: ChangeChannelList.self,
      refusals: [.tooMany], options: RouteOptions(done: done))
    return row
  }

  private static func listing(
    _ list: String, _ name: String, _ limit: some DeclaredField<Int>
  ) -> Endpoint<EntityID, EntityID, Int, PageCursor?> {
    let row = endpoint(
      .get, "\(channel)/\(list)-list", .token, name, "List the accounts on a channel's \(list) list",
      path: serverId, channelId, query: limit, SharedFields.cursor, refusals: [.notMember],
      answers: .ok(.accountPage))
    return row
  }

  private static let mutes = [mute.route, unmute.route, unmuteMany.route, muted.route]

  package static let mute = endpoint(
    .post, channel + "/mutes", .token, "channel mute", "Mute members of a channel for a while",
    path: serverId, channelId, body: SharedFields.accids, SharedFields.muteDuration.needed,
    operation: MuteInChannel.self, refusals: [.tooMany], options: RouteOptions(done: "muted"))
  package static let unmute = endpoint(
    .delete, channel + "/mutes/{accid}", .token, "channel unmute",
    "Unmute a member of a channel", path: serverId, channelId, accid,
    operation: UnmuteInChannel.self, options: RouteOptions(done: "unmuted"))
  package static let unmuteMany = endpoint(
    .delete, channel + "/mutes", .token, "channel unmute-many", "Unmute members of a channel",
    path: serverId, channelId, body: SharedFields.accids, operation: UnmuteInChannel.self,
    options: RouteOptions(done: "unmuted"))
  package static let muted = endpoint(
    .get, channel + "/mutes", .token, "channel muted", "List a channel's muted members",
    path: serverId, channelId, query: SharedFields.limit, SharedFields.cursor, refusals: [.notMember],
    answers: .ok(.page("muted", of: .muted, "in no particular order")))
}
