package import BelfryModel

/// The options of an account, and its subscriptions.
package enum AccountRoutes {
  package static let all: [Route] = [
    show.route, update.route, preferences.route, prefer.route, blocked.route, block.route, unblock.route,
    changeSubscriptions.route,
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

  // MARK: Preferences

  private static let preference = Kind<Preference>.object(
    Field(
      "space", .space,
      "`server:7`, `group:9`, `room:3`, or `account:` and the account for what is sent to it alone or with others; "
        + "absent: everywhere"),
    Field(
      "types", .list(.integer(0...Int(Int32.max)), counts: 1...Limits.typesPerPreference),
      "codes of types; absent: all"),
    Field(
      "level", Kind<Preference.Level>.choice,
      "all of it, only what names the account or is about it, or none of it"
    ).needed,
    Field("until", .time, "when it ends; absent: never"), named: "Preference"
  ) { space, types, level, until in Preference(space: space, types: types, level: level, until: until) }
  private static let allPreferences = Field(
    "preferences", .list(preference, counts: 0...Limits.preferencesPerAccount),
    "all of them; the most specific one holds: a space goes before types, both before either"
  ).needed
  package static let preferenceShape = Shape.resource(
    "AnsweredPreference",
    [
      .sometimes("space", .space, "where; absent: everywhere"),
      .sometimes("types", .list(.integer([0...Int.max])), "codes of types; absent: all"),
      .always("level", .choice(Preference.Level.self), "what the account wants to hear of it"),
      .sometimes("until", .time, "when it ends; absent: never"),
    ])
  package static let preferencesShape = Shape.resource(
    "Preferences", [.always("preferences", .list(preferenceShape), "all of them")])

  package static let preferences = endpoint(
    .get, "/v1/account/preferences", .token, "account preferences", "Show what an account wants to hear",
    answers: .ok(preferencesShape))
  package static let prefer = endpoint(
    .put, "/v1/account/preferences", .token, "account prefer", "Say what an account wants to hear",
    body: allPreferences, refusals: [.conflict], answers: .ok(preferencesShape),
    options: RouteOptions(hasCommand: false))

  // MARK: Blocked accounts

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
