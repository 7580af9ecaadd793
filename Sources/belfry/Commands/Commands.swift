extension CommandTable {
  /// Every command, a row each, in the order in which the help lists them.
  static let belfry = CommandTable(
    commands: [
      .serve, .token,
      .send, .resend, .tail, .unread, .read,
      .subscribe, .unsubscribe,
      .serverCreate, .serverList, .serverShow, .serverUpdate, .serverRemove,
      .channelCreate, .channelList, .channelShow, .channelUpdate, .channelRemove,
      .memberList, .memberShow, .memberAdd, .memberRemove,
      .stats, .explain, .types,
    ],
    groups: [
      "server": "create, list, show, update and remove servers",
      "channel": "create, list, show, update and remove a server's channels",
      "member": "list, show, add and remove a server's members",
    ])
}
