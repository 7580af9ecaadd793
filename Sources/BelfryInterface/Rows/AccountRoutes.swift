package import BelfryModel

/// The options of an account, and its subscriptions.
package enum AccountRoutes {
  package static let all: [Route] = [
    show.route, update.route, invitations.route, preferences.route, prefer.route, blocked.route, block.route,
    unblock.route, changeSubscriptions.route,
  ]

  // MARK: Options

  private static let autoAccept = Field(
    "autoAcceptInvitation", .flag,
    "whether accounts that may add this account without asking (`mayAdd`) may do so even in a group with "
      + "`inviteNeedConfirm` true"
  )
  private static let mayWrite = Field(
    "mayWrite", Kind<AccountRecord.Circle>.choice, "the accounts that may send to the account directly")
  private static let mayInvite = Field(
    "mayInvite", Kind<AccountRecord.Circle>.choice,
    "the accounts that may invite the account to servers, channels and groups")
  private static let mayAdd = Field(
    "mayAdd", Kind<AccountRecord.Circle>.choice,
    "the accounts that may add the account at once to a space that does not ask invitees to accept; "
      + "invitations from other accounts wait for the account's answer"
  )

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
    body: autoAccept, mayWrite, mayInvite, mayAdd, refusals: [.conflict], answers: .ok(shape),
    options: RouteOptions(done: "changed the options", example: ["mayWrite": "sharedSpace"]))

  // MARK: Invitations

  private static let lastInvitation = Field(
    "cursor", Kind<EntityID>.cursor, "the previous page's `cursor`")
  private static let invitation = Shape.resource(
    "AccountInvitation",
    [
      .always("requestId", .id, "the id to answer the invitation with"),
      .sometimes("serverId", .id, "the server that the account is invited to, or that the channel is in"),
      .sometimes("channelId", .id, "the channel that the account is invited to"),
      .sometimes("groupId", .id, "the group that the account is invited to"),
      .always("name", .text, "the name of the channel, the server or the group"),
      .always("accid", .account, "the invited account"),
      .always("expiresAt", .time, "when the invitation expires"),
      .always("inviters", .list(.account), "the accounts that sent the invitation"),
      .sometimes("message", .text, "the message of the invitation"),
    ])
  package static let invitations = endpoint(
    .get, "/v1/account/invitations", .token, "account invitations",
    "List an account's pending invitations", query: SharedFields.limit, lastInvitation,
    answers: .ok(.page("requests", of: invitation, "sorted by id")),
    options: RouteOptions(columns: ["name", "inviters", "expiresAt", "serverId", "channelId", "groupId"]))

  // MARK: Preferences

  private static let preference = Kind<Preference>.object(
    Field(
      "space", .space,
      "`server:7`, `group:9`, `room:3`, or `account:` and the account's own name for its direct messages; "
        + "absent: everywhere"),
    Field(
      "types", .list(.integer(0...Int(Int32.max)), counts: 1...Limits.typesPerPreference),
      "type codes; absent: all types"),
    Field(
      "level", Kind<Preference.Level>.choice,
      "`all`, `parties` (only notifications that name the account or are about it) or `none`"
    ).needed,
    Field("until", .time, "when the preference ends; absent: never"), named: "Preference"
  ) { space, types, level, until in Preference(space: space, types: types, level: level, until: until) }
  private static let allPreferences = Field(
    "preferences", .list(preference, counts: 0...Limits.preferencesPerAccount),
    "the complete list; the most specific preference applies: space and types, then space, then types"
  ).needed
  package static let preferenceShape = Shape.resource(
    "AnsweredPreference",
    [
      .sometimes("space", .space, "the space; absent: everywhere"),
      .sometimes("types", .list(.integer([0...Int.max])), "type codes; absent: all types"),
      .always("level", .choice(Preference.Level.self), "which of these notifications the account receives"),
      .sometimes("until", .time, "when the preference ends; absent: never"),
    ])
  package static let preferencesShape = Shape.resource(
    "Preferences", [.always("preferences", .list(preferenceShape), "the complete list")])

  package static let preferences = endpoint(
    .get, "/v1/account/preferences", .token, "account preferences",
    "Show an account's notification preferences",
    answers: .ok(preferencesShape))
  package static let prefer = endpoint(
    .put, "/v1/account/preferences", .token, "account prefer", "Set an account's notification preferences",
    body: allPreferences, refusals: [.conflict], answers: .ok(preferencesShape),
    options: RouteOptions(hasCommand: false))

  // MARK: Blocked accounts

  package static let blocked = endpoint(
    .get, "/v1/account/blocked", .token, "account blocked", "List the accounts that an account has blocked",
    query: SharedFields.limit, SharedFields.cursor, answers: .ok(.accountPage))
  package static let block = endpoint(
    .put, "/v1/account/blocked/{accid}", .token, "account block",
    "Block another account: no direct notifications or invitations from it", path: SharedFields.accid,
    refusals: [.tooMany, .conflict], options: RouteOptions(done: "blocked"))
  package static let unblock = endpoint(
    .delete, "/v1/account/blocked/{accid}", .token, "account unblock", "Unblock another account",
    path: SharedFields.accid, refusals: [.conflict], options: RouteOptions(done: "unblocked"))

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
    "servers", .list(.id, counts: 1...Limits.subscriptionsPerCall),
    "the servers, for notifications to the server itself and not to its channels")
  private static let channels = Field(
    "channels", .list(place, counts: 1...Limits.subscriptionsPerCall), "the channels")
  private static let subscribe = Field("subscribe", .flag, "true to subscribe, false to unsubscribe").needed

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
              .sometimes("channelId", .id, "the channel; absent if the place is the server itself"),
              .always("code", .text, "the error code, as in a problem document"),
              .always("detail", .text, "an explanation"),
            ])), "the places that failed; the others succeeded")
    ])

  package static let changeSubscriptions = endpoint(
    .post, "/v1/subscriptions", .token, "subscriptions change",
    "Subscribe to many servers and channels, or unsubscribe", body: servers, channels, subscribe,
    answers: .ok(changed), options: RouteOptions(hasCommand: false))
}
