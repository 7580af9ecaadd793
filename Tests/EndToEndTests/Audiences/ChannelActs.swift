import BelfryModel

/// The server of ``ServerActs`` with three channels: `lobby`, of everyone; `tower`, public, with a roster of
/// olga, mia, sue and mute, who is muted there; `cellar`, private, with olga, max and sue. Sue is subscribed
/// to all of them.
enum ChannelActs {
  static let stage = Stage(
    cast: ServerActs.stage.cast,
    setUp: ServerActs.stage.setUp + [
      open("public", "roster", members: ["mia", "sue", "mute"], as: "tower"),
      open("private", "roster", members: ["max", "sue"], as: "cellar"),
      Line("sue", "PUT", ServerActs.path + "/channels/{lobby}/subscription"),
      Line("sue", "PUT", tower + "/subscription"), Line("sue", "PUT", cellar + "/subscription"),
      Line("adam", "POST", tower + "/mutes", ["accids": ["mute"], "durationSeconds": 3600]),
    ])

  private static let lobby = ServerActs.path + "/channels/{lobby}"
  private static let tower = ServerActs.path + "/channels/{tower}"
  private static let cellar = ServerActs.path + "/channels/{cellar}"
  private static let members = ServerActs.members

  private static func members(but operator: String) -> String {
    members.split(separator: " ").filter { $0 != `operator` }.joined(separator: " ")
  }

  private static func open(
    _ type: String, _ membership: String, members: [String]? = nil, as name: String? = nil,
    by: String = "olga"
  ) -> Line {
    var body: JSONObject = [
      "name": "bells", "type": .string(type), "membership": .string(membership),
    ]
    body["members"] = members.map { .array($0.map { .string($0) }) }
    return Line(by, "POST", ServerActs.path + "/channels", .object(body), as: name)
  }

  private static func mute(_ method: String) -> Line {
    method == "POST"
      ? Line("adam", "POST", tower + "/mutes", ["accids": ["mia"], "durationSeconds": 60])
      : Line("adam", "DELETE", tower + "/mutes/mia")
  }

  private static let inviteMax = Line("mia", "POST", tower + "/invitations", ["accids": ["max"]])
  private static let inviteMaxToo = Line("sue", "POST", tower + "/invitations", ["accids": ["max"]])
  private static func answer(_ answer: String) -> Line {
    Line("max", "POST", tower + "/invitations/{channelInvitation:max@tower}/\(answer)", [:])
  }
  private static func list(_ channel: String, _ list: String, _ account: String) -> Line {
    Line("adam", "POST", channel + "/\(list)", ["accids": [.string(account)]])
  }
  private static func unlist(_ channel: String, _ list: String, _ account: String) -> Line {
    Line("adam", "DELETE", channel + "/\(list)/\(account)")
  }

  static let all: [Act] = lifecycle + rosters + lists + sends

  private static let lifecycle: [Act] = [
    Act(
      "open a channel of everyone", open("public", "everyone"), [Heard(15, members), Heard(31, members)],
      above: [Heard(31, members)]),
    Act(
      "open a public channel with a roster", open("public", "roster", members: ["mia"]),
      [Heard(15, "mia"), Heard(201, "mia"), Heard(31, members)],
      above: [Heard(201, "mia"), Heard(31, members)]),
    Act(
      "open a private channel", open("private", "roster", members: ["mia"]),
      [Heard(15, "mia"), Heard(201, "mia"), Heard(31, administrators + " mia")],
      above: [Heard(201, "mia"), Heard(31, administrators + " mia")]),
    Act(
      "open one as an admin",
      after: [Line("olga", "PATCH", ServerActs.path, ["adminsMayCreateChannels": true])],
      open("public", "everyone", by: "adam"), [Heard(15, members), Heard(31, members)],
      above: [Heard(31, members)]),
    Act(
      "update a channel of everyone", Line("adam", "PATCH", lobby, ["name": "hall"]),
      [Heard(17, members(but: "adam"))],
      above: [Heard(17, "sue")]),
    Act(
      "update a channel with a roster", Line("olga", "PATCH", tower, ["name": "spire"]),
      [Heard(17, "mia sue mute")], above: [Heard(17, "sue")]),
    Act(
      "destroy a channel of everyone", Line("olga", "DELETE", lobby),
      [Heard(16, members(but: "olga")), Heard(31, members)],
      above: [Heard(16, "sue"), Heard(31, members)]),
    Act(
      "destroy a private channel", Line("olga", "DELETE", cellar),
      [Heard(16, "max sue"), Heard(31, administrators + " max sue")],
      above: [Heard(16, "sue"), Heard(31, administrators + " max sue")]),
  ]

  private static let rosters: [Act] = [
    Act(
      "join", Line("max", "POST", tower + "/members"), [Heard(205, "olga mia sue mute")],
      above: [Heard(205, "sue")]),
    Act("invite", inviteMax, [Heard(202, "max")]),
    Act(
      "accept", after: [inviteMax], answer("accept"), [Heard(203, "mia"), Heard(205, "olga mia sue mute")],
      above: [Heard(203, "mia"), Heard(205, "sue")]),
    Act("decline", after: [inviteMax], answer("decline"), [Heard(204, "mia")]),
    Act(
      "accept the invitation of two", after: [inviteMax, inviteMaxToo], answer("accept"),
      [Heard(203, "mia sue"), Heard(205, "olga mia sue mute")],
      above: [Heard(203, "mia sue"), Heard(205, "sue")]),
    Act(
      "decline the invitation of two", after: [inviteMax, inviteMaxToo], answer("decline"),
      [Heard(204, "mia sue")]),
    Act(
      "leave", Line("mia", "DELETE", tower + "/members/mia"), [Heard(206, "olga sue mute")],
      above: [Heard(206, "sue")]),
    Act(
      "remove from a public channel", Line("adam", "DELETE", tower + "/members/mia"),
      [Heard(207, "mia"), Heard(206, "olga sue mute")], above: [Heard(207, "mia"), Heard(206, "sue")]),
    Act(
      "remove from a private channel", Line("adam", "DELETE", cellar + "/members/max"),
      [Heard(207, "max"), Heard(206, "olga sue"), Heard(31, "max")],
      above: [Heard(207, "max"), Heard(206, "sue"), Heard(31, "max")]),
  ]

  private static let administrators = "olga adam abel"
  private static let lists: [Act] = [
    Act(
      "allow", list(cellar, "allow-list", "mia"), [Heard(19, "mia " + administrators), Heard(31, "mia")]),
    Act(
      "allow no longer", after: [list(cellar, "allow-list", "mia")], unlist(cellar, "allow-list", "mia"),
      [Heard(19, "mia " + administrators), Heard(31, "mia")]),
    Act(
      "allow who sees it anyway", list(tower, "allow-list", "mia"), [Heard(19, "mia " + administrators)]),
    Act(
      "block one of the roster", list(tower, "block-list", "mia"),
      [Heard(19, "mia " + administrators), Heard(31, "mia"), Heard(206, "olga sue mute")],
      above: [Heard(19, "mia " + administrators), Heard(31, "mia"), Heard(206, "sue")]),
    Act(
      "block", list(lobby, "block-list", "mia"), [Heard(19, "mia " + administrators), Heard(31, "mia")]),
    Act(
      "unblock", after: [list(lobby, "block-list", "mia")], unlist(lobby, "block-list", "mia"),
      [Heard(19, "mia " + administrators), Heard(31, "mia")]),
    Act("mute", mute("POST"), [Heard(208, "mia olga abel")]),
    Act("unmute", after: [mute("POST")], mute("DELETE"), [Heard(208, "mia olga abel")]),
  ]

  private static func send(_ by: String, _ channel: String, to accounts: [String]? = nil) -> Line {
    var body: JSONObject = [
      "serverId": "{server}", "channelId": .string("{\(channel)}"), "body": "hello",
    ]
    body["toAccids"] = accounts.map { .array($0.map { .string($0) }) }
    return Line(by, "POST", "/v1/notifications", .object(body))
  }

  private static let sends: [Act] = [
    Act(
      "send to everyone's channel", send("mia", "lobby"), [Heard(100, members)], above: [Heard(100, "sue")]),
    Act(
      "send to everyone's channel, one of whom is blocked", after: [list(lobby, "block-list", "mia")],
      send("max", "lobby"), [Heard(100, "olga adam abel max sue mute")], above: [Heard(100, "sue")]),
    Act(
      "send to a roster", send("mia", "tower"), [Heard(100, "olga mia sue mute")], above: [Heard(100, "sue")]),
    Act("send to some of a roster", send("mia", "tower", to: ["mute"]), [Heard(100, "mute")]),
  ]
}
