import BelfryInterface

extension CommandTable {
  /// Every command, in the order in which the help lists them: those with a form of their own, and one for
  /// each row of the interface that offers one.
  static let belfry = CommandTable(
    commands: own + Command.made(from: Routes.all),
    groups: [
      "secret": "the secrets that sign tokens: rotation",
      "key": "keys for back ends: create, list, revoke",
      "server": "servers: settings, invitations, bans, roles",
      "channel": "a server's channels: rosters, lists, mutes",
      "member": "a server's members",
      "group": "groups: members, roles, lists, mutes, files",
      "room": "rooms: attendees, hands, the stage, microphones",
      "account": "accounts: show, update, streams, tokens, pushers",
      "webhook": "webhooks: copies of notifications for other systems",
      "notification": "update, recall, count notifications",
    ],
    pairs: [
      (["serve", "check-config"], "run a broker, and check its configuration"),
      (["backup", "restore", "move"], "back up, restore and move the data"),
      (["send", "resend"], "send a notification, or resend one"),
      (["stats", "cluster"], "show what a broker did, and the Redis nodes"),
      (["types", "openapi"], "describe the notifications, and the HTTP interface"),
      (["unread", "read"], "list what is unread, and mark it read"),
      (["subscribe", "unsubscribe"], "subscribe to servers and channels, or unsubscribe"),
      (["completions", "man", "version"], "completions, the manual page, the version"),
    ], topics: HelpTopic.all)

  private static let own: [Command] = [
    .serve, .checkConfig, .token, .secretList, .secretRotate, .secretRetire, .backup, .restore, .move,
    .send, .resend, .tail, .unread, .read, .subscribe, .unsubscribe, .prefer,
    .explain, .statistics, .types, .openAPI, .completions, .man, .version,
  ]
}
