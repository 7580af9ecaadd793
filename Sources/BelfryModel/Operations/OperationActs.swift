// The acts of operations in words. A refusal says what the caller may not do, and the name of an operation, as programs know
// it in echoes and callbacks (`acceptApplication`), is no sentence for a person.

extension OperationName {
  /// The act as it follows "only the owner may": `approve an application`.
  package var act: String { Self.acts[self] ?? "do this" }

  package static let acts: [OperationName: String] = {
    let tables: [(scene: NotificationType.Scene, acts: [String: String])] = [
      (.server, serverActs), (.channel, channelActs), (.group, groupActs), (.room, roomActs),
    ]
    var all: [OperationName: String] = [:]
    for table in tables {
      for (word, act) in table.acts { all[OperationName(table.scene, word)] = act }
    }
    return all
  }()

  private static let serverActs: [String: String] = [
    "create": "create a server", "update": "change the server", "remove": "delete the server",
    "handOver": "hand over the server", "addAdmin": "appoint an admin", "removeAdmin": "dismiss an admin",
    "invite": "invite accounts", "acceptInvitation": "accept an invitation",
    "rejectInvitation": "decline an invitation", "apply": "apply", "join": "join",
    "acceptApplication": "approve an application", "rejectApplication": "refuse an application",
    "createCode": "create an invite code", "revokeCode": "revoke an invite code",
    "addMembers": "add members without asking them", "updateMember": "change another member's profile",
    "kick": "remove a member", "leave": "leave", "ban": "ban an account", "unban": "lift a ban",
    "subscribe": "subscribe", "unsubscribe": "end a subscription", "mute": "mute a member",
    "unmute": "unmute a member", "announce": "send an announcement",
  ]

  private static let channelActs: [String: String] = [
    "create": "create channels", "update": "change a channel", "destroy": "delete a channel",
    "inviteUser": "invite members to a channel", "invitationAccepted": "accept an invitation",
    "invitationDeclined": "decline an invitation", "join": "join a channel", "exit": "leave a channel",
    "removeUser": "remove a member from a channel", "addMute": "mute a member in a channel",
    "removeMute": "unmute a member in a channel", "addAllowed": "put accounts on a channel's allow list",
    "removeAllowed": "take accounts off a channel's allow list",
    "addBlocked": "block accounts from a channel", "removeBlocked": "unblock accounts from a channel",
  ]

  private static let groupActs: [String: String] = [
    "create": "create a group", "update": "change the group", "disable": "disable a group",
    "enable": "enable a group", "destroy": "delete the group", "assignOwner": "hand over the group",
    "addAdmin": "appoint an admin", "removeAdmin": "dismiss an admin", "invite": "invite accounts",
    "inviteAccept": "accept an invitation", "inviteDecline": "decline an invitation", "apply": "apply",
    "join": "join", "applyAccept": "approve an application", "applyDecline": "refuse an application",
    "leave": "leave", "kick": "remove a member", "mute": "mute a member", "unmute": "unmute a member",
    "muteAll": "mute everybody", "unmuteAll": "unmute everybody",
    "stopReceiving": "stop receiving notifications", "resumeReceiving": "receive notifications again",
    "allow": "put accounts on the allow list", "disallow": "take accounts off the allow list",
    "block": "ban an account", "unblock": "lift a ban", "announce": "set the announcement",
    "addFile": "share a file", "removeFile": "remove a file",
    "memberAttributes": "change another member's attributes",
  ]

  private static let roomActs: [String: String] = [
    "create": "open a room", "update": "change the room", "close": "delete the room", "enter": "enter",
    "leave": "leave", "remove": "remove an attendee", "hand": "raise or lower a hand",
    "microphone": "switch another attendee's microphone", "invite": "invite a listener to the stage",
    "answer": "answer an invitation to the stage", "setListener": "make a guest a listener",
    "stepDown": "leave the stage", "heartbeat": "send a heartbeat", "timeOut": "remove absent attendees",
    "empty": "delete an empty room",
  ]
}
