/// Words of other systems for what has another name here.
enum WordsElsewhere {
  /// The last words of commands that mean the same, the best first.
  static let verbs: [String: [String]] = [
    "kick": ["remove-member", "remove"], "rm": ["delete", "remove"],
    "destroy": ["delete"], "disband": ["delete"], "ban": ["block"], "unban": ["unblock"],
    "join": ["enter", "apply"], "attend": ["enter"], "exit": ["leave"], "quit": ["leave"],
    "stage": ["invite-on-stage"], "raise": ["raise-hand"], "lower": ["lower-hand"], "mic": ["microphone"],
    "promote": ["add-admin"], "demote": ["remove-admin"], "transfer": ["hand-over"],
    "users": ["members"], "participants": ["members"], "requests": ["applications"],
    "info": ["show"], "get": ["show"], "ls": ["list"], "set": ["update"], "edit": ["update"],
    "rename": ["update"], "change": ["update"], "new": ["create"], "make": ["create"], "open": ["create"],
    "enable": ["update"], "disable": ["update"], "pause": ["update"], "options": ["show", "update"],
    "silence": ["mute"], "mutes": ["muted"], "mine": ["list"], "blacklist": ["ban", "block"],
    "whitelist": ["allow"], "block": ["ban"], "unblock": ["unban"], "dissolve": ["delete"],
    "dismiss": ["delete"],
    "mute-member": ["mute"], "unmute-member": ["unmute"], "kick-member": ["remove-member"],
    "add-member": ["invite", "add"], "change-owner": ["hand-over"], "role": ["add-admin"],
    "notice": ["announce"],
    "upload": ["add-file"], "mute": ["microphone"], "unmute": ["microphone"], "speak": ["microphone"],
    "handsup": ["raise-hand"], "take-seat": ["accept-stage"], "devices": ["streams"], "sessions": ["streams"],
    "logout": ["end-all"], "dnd": ["prefer"],
  ]

  /// Single words that mean a whole command.
  static let wholes = [
    "inbox": "unread", "feed": "unread", "messages": "unread", "pending": "unread",
    "publish": "send", "pub": "send", "post": "send", "notify": "send", "produce": "send", "emit": "send",
    "watch": "tail", "listen": "tail", "consume": "tail", "stream": "tail", "follow": "tail",
    "sub": "subscribe",
    "ack": "read", "seen": "read", "start": "serve", "status": "stats", "why": "explain",
    "dump": "backup", "login": "token", "mark-read": "read", "push": "send", "message": "send",
    "run": "serve",
    "health": "stats", "metrics": "stats", "badge": "notification counts",
  ]

  /// Two words that mean a command of another group, where the last word alone would lead to a wrong one.
  static let commands = [
    "server users": "member list", "server channels": "channel list", "webhook delete": "webhook remove",
    "key delete": "key revoke", "notification delete": "notification recall",
    "notification revoke": "notification recall", "notification send": "send",
    "notification resend": "resend",
    "notification read": "read", "notification mark": "read", "notification unread": "unread",
    "webhook add": "webhook create", "webhook ping": "webhook test", "key add": "key create",
  ]

  /// Two words that may mean two commands. Neither is the other name of one: `group remove` removes a member, and somebody who
  /// expects the same of `server remove` must not delete the server.
  static let ambiguous = [
    "notification show": "unread or explain", "notification list": "unread",
    "server remove": "member remove or server delete",
    "channel remove": "channel remove-member or channel delete",
  ]

  /// Groups of commands that are about the same accounts.
  private static let related = ["server": "member", "member": "server"]

  /// The command of the group that a word means.
  static func command(_ word: String, in group: String, of table: CommandTable) -> Command? {
    let names = ([word] + (verbs[word] ?? [])).map { "\(group) \($0)" }
    return names.lazy.compactMap { name in table.commands.first { $0.name == name } }.first
  }

  /// The same if the group has no such command but another group may have it: `server kick` is `member remove`.
  static func command(_ word: String, near group: String, of table: CommandTable) -> Command? {
    if let name = commands["\(group) \(word)"] { return table.commands.first { $0.name == name } }
    return command(word, in: group, of: table)
      ?? related[group].flatMap { command(word, in: $0, of: table) }
  }
}
