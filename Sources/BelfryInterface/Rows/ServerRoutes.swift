package import BelfryModel

/// Servers: communities with channels of their own.
package enum ServerRoutes {
  package static let all: [Route] = [
    create.route, list.route, show.route, preview.route, update.route, remove.route, subscribe.route,
    unsubscribe.route,
    subscribeChannels.route, unsubscribeChannels.route,
  ]

  static let server = "/v1/servers/{serverId}"
  private static let serverId = SharedFields.serverId

  // MARK: Fields and shapes

  private static let inviteMode = Field(
    "inviteMode", Kind<InviteMode>.choice,
    "0: all invitees must accept; 1: invitees whose option `mayAdd` allows it join at once")
  private static let applyMode = Field(
    "applyMode", Kind<ApplyMode>.choice, "whether applicants join at once (0) or need approval (1)")
  private static let membersMayInvite = Field(
    "membersMayInvite", .flag, "whether members who are not admins may invite")
  private static let adminsMayCreateChannels = Field(
    "adminsMayCreateChannels", .flag, "whether admins may create channels")
  private static let sendMode = Field(
    "sendMode", Kind<SendMode>.choice,
    "the members that may send to everybody in it: all, or only its owner and admins")
  private static let nicks = Field(
    "nicks", Kind<NickRule>.choice,
    "the nicks that users may send under: any, or only the nick of their profile")
  private static let cursor = Field("cursor", Kind<EntityID>.cursor, "the previous page's `cursor`")

  private static let shape = Shape.resource(
    "Server",
    [
      .always("serverId", .id, "its id"),
      .always("name", .text, "its name"),
      .always("owner", .account, "its owner"),
      .always("createTime", .time, "when it was created"),
      .always("inviteMode", .choice(InviteMode.self), inviteMode.property.meaning),
      .always("applyMode", .choice(ApplyMode.self), applyMode.property.meaning),
      .always("membersMayInvite", .flag, membersMayInvite.property.meaning),
      .always("adminsMayCreateChannels", .flag, adminsMayCreateChannels.property.meaning),
      .always("defaultChannelId", .id, "the default channel, which everyone is in and nobody can leave"),
      .always("memberCount", .count, "the number of members"),
      .sometimes(
        "needsSubscription", .flag,
        "true if it has more members than the subscription threshold; then notifications to all members reach only subscribers"
      ),
      .always("sendMode", .choice(SendMode.self), sendMode.property.meaning),
      .always("nicks", .choice(NickRule.self), nicks.property.meaning),
      .sometimes("icon", .text, "a picture"),
      .sometimes("ext", .text, "application data, set by the owner"),
    ])

  private static let previewShape = Shape.resource(
    "ServerPreview",
    [
      .always("serverId", .id, "its id"), .always("name", .text, "its name"),
      .always("memberCount", .count, "the number of members"),
      .always("applyMode", .choice(ApplyMode.self), applyMode.property.meaning),
      .sometimes("icon", .text, "a picture"),
    ])

  // MARK: Rows

  package static let create = endpoint(
    .post, "/v1/servers", .token, "server create", "Create a server with a default channel",
    body: SharedFields.name.needed, SharedFields.icon, SharedFields.ext, inviteMode, applyMode,
    membersMayInvite, adminsMayCreateChannels, sendMode, nicks, refusals: [.tooMany, .conflict],
    answers: .created(shape), options: RouteOptions(done: "created the server", example: ["name": "Campfire"])
  )
  package static let list = endpoint(
    .get, "/v1/servers", .token, "server list", "List the servers the account is a member of",
    query: SharedFields.limit, cursor, answers: .ok(.page("servers", of: shape, "sorted by id")),
    options: RouteOptions(
      otherCommands: ["server mine"], columns: ["serverId", "name", "owner", "memberCount", "createTime"]))
  package static let show = endpoint(
    .get, server, .token, "server show", "Show a server", path: serverId, refusals: [.notMember],
    answers: .ok(shape))
  package static let preview = endpoint(
    .get, server + "/preview", .token, "server preview",
    "Preview a server, as accounts that may apply see it", path: serverId, refusals: [.banned],
    answers: .ok(previewShape))
  package static let update = endpoint(
    .patch, server, .token, "server update", "Change a server's name, and how accounts join",
    path: serverId,
    body: SharedFields.name, SharedFields.icon, SharedFields.ext, inviteMode, applyMode, membersMayInvite,
    adminsMayCreateChannels, sendMode, nicks, refusals: [.notMember, .conflict], answers: .ok(shape),
    options: RouteOptions(done: "changed the server", example: ["name": "Campfire"]))
  package static let remove = endpoint(
    .delete, server, .token, "server remove", "Delete a server for good", path: serverId,
    operation: RemoveServer.self,
    options: RouteOptions(
      command: "server delete", done: "deleted the server", question: "Delete for good"))
  package static let subscribe = endpoint(
    .put, server + "/subscription", .token, "server subscribe", "Subscribe to a server's own notifications",
    path: serverId, operation: SetSubscription.self, refusals: [.tooMany],
    options: RouteOptions(done: "subscribed"))
  package static let unsubscribe = endpoint(
    .delete, server + "/subscription", .token, "server unsubscribe",
    "Unsubscribe from a server's own notifications", path: serverId, operation: SetSubscription.self,
    options: RouteOptions(done: "unsubscribed"))
  package static let subscribeChannels = endpoint(
    .put, server + "/channels/subscription", .token, "server subscribe-channels",
    "Subscribe to all channels of a server", path: serverId, refusals: [.notMember, .conflict, .tooMany],
    options: RouteOptions(done: "subscribed to all channels"))
  package static let unsubscribeChannels = endpoint(
    .delete, server + "/channels/subscription", .token, "server unsubscribe-channels",
    "Unsubscribe from all channels of a server", path: serverId, refusals: [.notMember, .conflict],
    options: RouteOptions(done: "unsubscribed from all channels"))
}
