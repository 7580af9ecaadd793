package import BelfryModel

/// What an account chooses for itself, and what it subscribes to.
package enum AccountRoutes {
  package static let all: [Route] = [
    show.route, update.route, blocked.route, block.route, unblock.route, changeSubscriptions.route,
  ]

  // MARK: Options

  private static let autoAccept = Field(
    "autoAcceptInvitation", .flag, "whether whoever invites the account into a group has it there at once")
  private static let mayWrite = Field(
    "mayWrite", Kind<AccountRecord.Circle>.choice, "who may send to the account directly")
  private static let mayInvite = Field(
    "mayInvite", Kind<AccountRecord.Circle>.choice,
    "who may ask the account into servers, channels and groups")
  private static let mayAdd = Field(
    "mayAdd", Kind<AccountRecord.Circle>.choice,
    "who of these may put it there at once where nobody is asked; others ask it")

  private static let shape = Shape.resource(
    "Account",
    [
      .always("autoAcceptInvitation", .flag, autoAccept.property.meaning),
      .always("mayWrite", .choice(AccountRecord.Circle.self), mayWrite.property.meaning),
      .always("mayInvite", .choice(AccountRecord.Circle.self), mayInvite.property.meaning),
      .always("mayAdd", .choice(AccountRecord.Circle.self), mayAdd.property.meaning),
    ])

  package static let show = endpoint(
    .get, "/v1/account", .token, "account show", "Show an account's options", answers: .ok(shape))
  package static let update = endpoint(
    .patch, "/v1/account", .token, "account update", "Change an account's options",
    body: autoAccept, mayWrite, mayInvite, mayAdd, refusals: [.conflict], answers: .ok(shape))

  // MARK: Whom it blocks

  package static let blocked = endpoint(
    .get, "/v1/account/blocked", .token, "account blocked", "List the accounts that the account has blocked",
    query: SharedFields.limit, SharedFields.cursor, answers: .ok(.accountPage))
  package static let block = endpoint(
    .put, "/v1/account/blocked/{accid}", .token, "account block",
    "Take no direct notifications and no invitations from another account", path: SharedFields.accid,
    refusals: [.tooMany, .conflict])
  package static let unblock = endpoint(
    .delete, "/v1/account/blocked/{accid}", .token, "account unblock", "Unblock another account",
    path: SharedFields.accid, refusals: [.conflict])

  // MARK: Subscriptions

  /// A channel, with the server it is in.
  package struct ChannelPlace: Sendable {
    package let server: EntityID
    package let channel: EntityID
  }

  private static let place = Kind<ChannelPlace>.object(
    SharedFields.serverId, SharedFields.channelId, named: "ChannelPlace"
  ) { server, channel in ChannelPlace(server: server, channel: channel) }
  private static let servers = Field(
    "servers", .list(.id, counts: 1...Limits.subscriptionsPerCall), "the servers, for their own")
  private static let channels = Field(
    "channels", .list(place, counts: 1...Limits.subscriptionsPerCall), "the channels")
  private static let subscribe = Field("subscribe", .flag, "true to begin, false to end").needed

  private static let changed = Shape.resource(
    "ChangedSubscriptions",
    [
      .always(
        "failed",
        .list(
          .resource(
            "FailedSubscription",
            [
              .always("serverId", .id, "the server"),
              .sometimes("channelId", .id, "the channel; absent: the server's own"),
              .always("code", .text, "why, as in a problem document"),
              .always("detail", .text, "why, in a sentence"),
            ])), "those that failed; the others are done")
    ])

  package static let changeSubscriptions = endpoint(
    .post, "/v1/subscriptions", .token, "subscriptions change",
    "Begin or end subscriptions to many servers and channels", body: servers, channels, subscribe,
    answers: .ok(changed), options: RouteOptions(hasCommand: false))
}
