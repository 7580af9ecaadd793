import BelfryModel
import ModelSamples

extension AnnouncementRow {
  static let channels = channelLives + channelMembers + channelInvitations + channelLists + channelMutes

  private static let desk = ChannelDesk.self
  private static let olivia = ServerDesk.olivia
  private static let adam = ServerDesk.adam
  private static let app = ServerDesk.app

  private static let channelLives: [AnnouncementRow] = [
    row(
      "open a channel of everyone", RefusalTests.open(olivia, membership: .everyone, members: ["mia"]),
      ["15 to ? channel:20", "31 to all channel:20"]),
    row(
      "open a public channel with a roster", RefusalTests.open(olivia, members: ["mia"]),
      ["15 to ? roster:20 -olivia", "201 to named +mia", "31 to all channel:20"]),
    row(
      "open a private channel", RefusalTests.open(olivia, type: .private, members: ["mia"]),
      ["15 to ? roster:20 -olivia", "201 to named +mia", "31 to viewers channel:20 +olivia,adam"]),
    row("open as an app", RefusalTests.open(app), ["15 to ? roster:20", "31 to all channel:20"]),
    row("rename a public channel", desk.rename(11, adam), ["17 to ? roster:11 -adam"]),
    row("rename a private channel", desk.rename(12, adam), ["17 to ? roster:12 -adam"]),
    row("rename a channel of everyone", desk.rename(10, adam), ["17 to ? channel:10 -adam"]),
    row(
      "close a public channel", desk.close(11, olivia), ["16 to ? roster:11 -olivia", "31 to all channel:11"]),
    row(
      "close a private channel", desk.close(12, olivia),
      ["16 to ? roster:12 -olivia", "31 to viewers channel:12 +olivia,adam"]),
    row(
      "close a channel of everyone", desk.close(13, olivia),
      ["16 to ? channel:13 -olivia", "31 to all channel:13"]),
  ]

  private static let channelMembers: [AnnouncementRow] = [
    row("join a public channel", desk.join(11, "pia"), ["205 to ? roster:11 -pia"]),
    row("join a private channel, allow-listed", desk.join(12, "ann"), ["205 to ? roster:12 -ann"]),
    row("join a private channel, admin", desk.join(12, "adam"), ["205 to ? roster:12 -adam"]),
    row(
      "be entered into a private channel", desk.joinAsApp(12, "pia"),
      ["205 to ? roster:12 -pia", "31 to named +pia"]),
    row("join again", desk.join(11, "cleo"), []),
    row("leave a public channel", desk.leave(11, "cleo"), ["206 to ? roster:11 -cleo"]),
    row(
      "leave a private channel", desk.leave(12, "cleo"), ["206 to ? roster:12 -cleo", "31 to named +cleo"]),
    row(
      "leave a private channel, allow-listed", desk.leave(12, "ann"), ["206 to ? roster:12 -ann"],
      after: [desk.join(12, "ann")]),
    row(
      "remove from a public channel", desk.remove(11, adam, ["mia", "cleo", "mia"]),
      ["207 to named +mia,cleo", "206 to ? roster:11 -mia,cleo"]),
    row(
      "remove from a private channel", desk.remove(12, olivia, ["cleo", "ann", "adam"]),
      [
        "207 to named +cleo,ann,adam", "206 to ? roster:12 -cleo,ann,adam", "31 to named +cleo",
      ], after: [desk.join(12, "ann"), desk.join(12, "adam")]),
  ]

  private static let channelInvitations: [AnnouncementRow] = [
    row("invite", desk.invite(12, "cleo", ["pia", "ann"]), ["202 to named +pia", "202 to named +ann"]),
    row("invite again", desk.invite(11, "meg", ["ida"]), ["202 to named +ida"]),
    row(
      "accept into a public channel", desk.answer(11, "ida", accepts: true),
      ["203 to named +cleo", "205 to ? roster:11 -ida"]),
    row(
      "accept into a private channel", desk.answer(12, "ida", accepts: true),
      ["203 to named +cleo", "205 to ? roster:12 -ida", "31 to named +ida"]),
    row("decline", desk.answer(12, "ida", accepts: false), ["204 to named +cleo"]),
    row(
      "accept when the inviter has gone", desk.answer(11, "ida", accepts: true),
      ["205 to ? roster:11 -ida", "203 for cleo"], after: [RefusalTests.leave("cleo")]),
    row(
      "decline what nobody invited to", desk.answer(11, "pia", accepts: false), [],
      after: [
        InviteToChannel(ServerDesk.server, id: 11, actor: app, accounts: ["pia"], postscript: nil)
      ]),
  ]

  private static let channelLists: [AnnouncementRow] = [
    row("allow in public", desk.list(11, adam, .allow, ["pia"]), ["19 to named +pia,olivia,adam"]),
    row(
      "allow in private", desk.list(12, adam, .allow, ["pia", "cleo", "ann", "olivia"]),
      ["19 to named +pia,cleo,olivia,adam", "31 to named +pia"]),
    row("allow the blocked", desk.list(12, adam, .allow, ["ben"]), ["19 to named +ben,olivia,adam"]),
    row("allow again", desk.list(12, adam, .allow, ["ann"]), []),
    row(
      "no longer allow", desk.list(12, adam, .allow, adds: false, ["ann", "pia"]),
      ["19 to named +ann,olivia,adam", "31 to named +ann"]),
    row(
      "no longer allow a member", desk.list(12, adam, .allow, adds: false, ["ann"]),
      ["19 to named +ann,olivia,adam"], after: [desk.join(12, "ann")]),
    row("no longer allow who has gone", desk.list(12, adam, .allow, adds: false, ["fay"]), []),
    row(
      "block in public", desk.list(11, adam, .block, ["pia", "cleo", "ben"]),
      ["19 to named +pia,cleo,olivia,adam", "206 to ? roster:11 -cleo", "31 to named +pia,cleo"]),
    row(
      "block in private", desk.list(12, adam, .block, ["pia", "ann", "cleo"]),
      ["19 to named +pia,ann,cleo,olivia,adam", "206 to ? roster:12 -cleo", "31 to named +ann,cleo"]),
    row(
      "block in a channel of everyone", desk.list(13, adam, .block, ["pia"]),
      ["19 to named +pia,olivia,adam", "31 to named +pia"]),
    row("block again", desk.list(13, adam, .block, ["ben"]), []),
    row(
      "unblock in public", desk.list(11, adam, .block, adds: false, ["ben", "pia"]),
      ["19 to named +ben,olivia,adam", "31 to named +ben"]),
    row(
      "unblock in private", desk.list(12, adam, .block, adds: false, ["ben"]),
      ["19 to named +ben,olivia,adam"]),
    row(
      "unblock who has gone", desk.list(11, adam, .block, adds: false, ["ben"]),
      ["19 to named +olivia,adam", "19 for ben"], after: [RefusalTests.leave("ben")]),
    row(
      "unblock who is allowed", desk.list(12, adam, .block, adds: false, ["ben"]),
      ["19 to named +ben,olivia,adam", "31 to named +ben"], after: [desk.list(12, adam, .allow, ["ben"])]),
  ]

  private static let channelMutes: [AnnouncementRow] = [
    row("mute in a roster", desk.mute(12, adam, ["cleo", "max"]), ["208 to named +cleo,max,olivia"]),
    row("mute among everyone", desk.mute(10, olivia, ["pia", "adam"]), ["208 to named +pia,adam"]),
    row("mute as an app", desk.mute(11, app, ["cleo"]), ["208 to named +cleo,olivia,adam"]),
    row("mute again", desk.mute(11, adam, ["meg"]), ["208 to named +meg,olivia"]),
    row("unmute", desk.unmute(11, adam, ["meg", "cleo"]), ["208 to named +meg,olivia"]),
    row("unmute who has gone", desk.unmute(11, adam, ["fay"]), ["208 to named +olivia", "208 for fay"]),
    row("unmute who is not muted", desk.unmute(11, adam, ["cleo", "sam"]), []),
  ]

  private static func row(
    _ name: String, _ operation: any Operation, _ announced: [String], after steps: [any Operation] = []
  ) -> AnnouncementRow {
    AnnouncementRow(
      testDescription: name,
      desk: {
        var desk = try ChannelDesk.desk()
        for step in steps { _ = try desk.carryOut(step) }
        return desk
      }, operation: operation, announced: announced)
  }
}
