import BelfryModel

extension Routes {
  static let servers: [Route] = [
    Route(
      .post, "/v1/servers", .token, "server create", "Create a server, with a default channel",
      body: .json(
        SharedFields.name.needed, SharedFields.icon, SharedFields.ext, Servers.inviteMode, Servers.applyMode,
        Servers.membersMayInvite, Servers.adminsMayCreateChannels),
      refusals: [.tooMany, .conflict],
      .reply(.created(Servers.shape), by: Servers.create)),
    Route(
      .get, "/v1/servers", .token, "server list", "List the servers the account is a member of",
      query: [SharedFields.limit, Servers.after],
      .reply(.ok(.page("servers", of: Servers.shape, "by id")), by: Servers.list)),
    Route(
      .get, "/v1/servers/{serverId}", .token, "server show", "Show a server",
      refusals: [.notMember],
      .reply(.ok(Servers.shape), by: Servers.show)),
    Route(
      .patch, "/v1/servers/{serverId}", .token, "server update",
      "Change what a server is called and how one gets in",
      body: .json(
        SharedFields.name, SharedFields.icon, SharedFields.ext, Servers.inviteMode, Servers.applyMode,
        Servers.membersMayInvite,
        Servers.adminsMayCreateChannels),
      refusals: [.notMember, .conflict],
      .reply(.ok(Servers.shape), by: Servers.update)),
    Route(
      .delete, "/v1/servers/{serverId}", .token, "server remove", "Remove a server for good",
      .operation { ask throws(Refusal) in RemoveServer(try ask.server, actor: try ask.actor) }),
    Route(
      .put, "/v1/servers/{serverId}/subscription", .token, "server subscribe",
      "Subscribe to a server's own notifications", refusals: [.tooMany],
      .operation { ask throws(Refusal) in try Servers.subscription(ask, true) }),
    Route(
      .delete, "/v1/servers/{serverId}/subscription", .token, "server unsubscribe",
      "End the subscription to a server's own notifications",
      .operation { ask throws(Refusal) in try Servers.subscription(ask, false) }),

    Route(
      .get, "/v1/servers/{serverId}/members", .token, "member list", "List a server's members",
      query: SharedFields.page, refusals: [.notMember],
      .reply(.ok(.page("members", of: Members.shape, "in no particular order")), by: Members.list)),
    Route(
      .post, "/v1/servers/{serverId}/members", .trusted, "member add",
      "Add many accounts at once, with nobody's consent",
      body: .json(Members.added), refusals: [.tooMany, .banned],
      .operation(
        .ok(.object([.always("added", .list(.account), "those who were no members yet")])),
        { ask throws(Refusal) in
          AddMembers(
            try ask.server, actor: try ask.actor, accounts: try ask[Members.added],
            requestId: EntityID.random().text)
        }
      ) { _, added in .json(["added": .accids(added)]) }),
    Route(
      .get, "/v1/servers/{serverId}/members/{accid}", .token, "member show", "Show a member of a server",
      refusals: [.notMember],
      .reply(.ok(Members.shape), by: Members.show)),
    Route(
      .delete, "/v1/servers/{serverId}/members/{accid}", .token, "member remove",
      "Leave a server, when it is oneself; put a member out, as its owner or an admin",
      refusals: [.notMember, .conflict],
      .reply(.noContent, by: Members.remove)),
  ]

  static let channels: [Route] = [
    Route(
      .post, "/v1/servers/{serverId}/channels", .token, "channel create", "Create a channel",
      body: .json(
        SharedFields.name.needed, SharedFields.description, Channels.type.needed, Channels.membership,
        Channels.members),
      refusals: [.tooMany],
      .operation(.created(Channels.shape), Channels.creation) { operation, channel in
        .json(channel.info(operation.id, of: operation.space), status: 201)
          .located(at: "/v1/servers/\(operation.space.name)/channels/\(operation.id)")
      }),
    Route(
      .get, "/v1/servers/{serverId}/channels", .token, "channel list",
      "List the channels of a server that the account may know of",
      query: [SharedFields.limit, Channels.cursor], refusals: [.notMember],
      .reply(.ok(.page("channels", of: Channels.shape, "by id")), by: Channels.list)),
    Route(
      .get, "/v1/servers/{serverId}/channels/{channelId}", .token, "channel show", "Show a channel",
      refusals: [.notMember],
      .reply(.ok(Channels.shape), by: Channels.show)),
    Route(
      .patch, "/v1/servers/{serverId}/channels/{channelId}", .token, "channel update",
      "Rename or describe a channel",
      body: .json(SharedFields.name, SharedFields.description),
      .operation(.ok(Channels.shape), Channels.update) { operation, channel in
        .json(channel.info(operation.id, of: operation.space))
      }),
    Route(
      .delete, "/v1/servers/{serverId}/channels/{channelId}", .token, "channel remove",
      "Close a channel for good",
      .operation { ask throws(Refusal) in
        RemoveChannel(try ask.server, id: try ask.channel, actor: try ask.actor)
      }),
    Route(
      .put, "/v1/servers/{serverId}/channels/{channelId}/subscription", .token, "channel subscribe",
      "Subscribe to a channel's notifications", refusals: [.tooMany],
      .operation { ask throws(Refusal) in try Channels.subscription(ask, true) }),
    Route(
      .delete, "/v1/servers/{serverId}/channels/{channelId}/subscription", .token, "channel unsubscribe",
      "End the subscription to a channel's notifications",
      .operation { ask throws(Refusal) in try Channels.subscription(ask, false) }),
  ]
}

extension Routes {
  /// To more than one server or channel at once.
  static let subscriptions: [Route] = [
    Route(
      .post, "/v1/subscriptions", .token, "subscriptions change",
      "Begin or end subscriptions to many servers and channels", isCommand: false,
      body: .json(Subscriptions.servers, Subscriptions.channels, Subscriptions.subscribe),
      .reply(.ok(Subscriptions.shape), by: Subscriptions.change)),
    Route(
      .put, "/v1/servers/{serverId}/channels/subscription", .token, "server subscribe-channels",
      "Subscribe to all channels of a server", refusals: [.notMember, .conflict, .tooMany],
      Subscriptions.changeAll(true)),
    Route(
      .delete, "/v1/servers/{serverId}/channels/subscription", .token, "server unsubscribe-channels",
      "End the subscriptions to all channels", refusals: [.notMember, .conflict],
      Subscriptions.changeAll(false)),
  ]
}
