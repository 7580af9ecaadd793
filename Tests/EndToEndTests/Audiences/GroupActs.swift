import BelfryModel

/// A group with everybody one can be to it: `olga` owns it, `adam` and `abel` are admins, `mia` and `max`
/// members with two devices each; `sue` has stopped receiving its custom notifications; `mute` is muted;
/// `ann` is allow-listed; `lea` left, `ben` is blocked, `zoe` is a stranger.
enum GroupActs {
  static let cast: [String: [String]] = ServerActs.stage.cast.merging(["ann": ["phone"]]) { $1 }

  /// Open to everybody; invitations have to be confirmed.
  static let stage = Stage(
    cast: cast, setUp: [create("publicOpen")] + casting)
  /// Joining needs approval.
  static let guardedStage = Stage(cast: cast, setUp: [create("publicApproval")] + casting)

  private static func create(_ style: String) -> Line {
    Line(
      "olga", "POST", "/v1/groups",
      ["name": "Ringers", "style": .string(style), "inviteNeedConfirm": true], as: "group")
  }

  private static let casting: [Line] = [
    Line("olga", "PATCH", path, ["inviteNeedConfirm": false]),
    Line(
      "olga", "POST", path + "/invitations",
      ["accids": ServerActs.accids("adam abel mia max sue mute ann lea ben")]),
    Line("olga", "PATCH", path, ["inviteNeedConfirm": true]),
    Line("olga", "PUT", path + "/admins/adam"), Line("olga", "PUT", path + "/admins/abel"),
    Line("sue", "DELETE", path + "/receiving"),
    Line("olga", "POST", path + "/mutes", ["accids": ["mute"], "durationSeconds": 3600]),
    Line("olga", "POST", path + "/allow-list", ["accids": ["ann"]]),
    Line("lea", "DELETE", path + "/members/lea"),
    Line("olga", "POST", path + "/block-list", ["accids": ["ben"]]),
  ]

  static let members = "olga adam abel mia max sue mute ann"
  private static let path = "/v1/groups/{group}"
  private static func everyone(but names: String) -> String {
    let left = Set(names.split(separator: " "))
    return members.split(separator: " ").filter { !left.contains($0) }.joined(separator: " ")
  }

  private static let inviteZoe = Line(
    "adam", "POST", path + "/invitations", ["accids": ["zoe"], "message": "come"])
  private static let inviteZoeToo = Line("abel", "POST", path + "/invitations", ["accids": ["zoe"]])
  private static let apply = Line("zoe", "POST", path + "/applications", ["reason": "please"])
  private static func answer(_ by: String, _ request: String, _ answer: String) -> Line {
    Line(by, "POST", path + "/\(request)/\(answer)", [:])
  }

  static let all: [Act] = joining + leaving + administration + settings + sends

  private static let joining: [Act] = [
    Act("create", Line("zoe", "POST", "/v1/groups", ["name": "Loft", "style": "publicOpen"]), []),
    Act("invite", inviteZoe, [Heard(301, "zoe")]),
    Act(
      "invite without asking", after: [Line("olga", "PATCH", path, ["inviteNeedConfirm": false])], inviteZoe,
      [Heard(304, "zoe"), Heard(302, "adam"), Heard(308, members)]),
    Act(
      "invite who accepts everything",
      after: [Line("zoe", "PATCH", "/v1/account", ["autoAcceptInvitation": true])], inviteZoe,
      [Heard(304, "zoe"), Heard(302, "adam"), Heard(308, members)]),
    Act(
      "accept",
      after: [Line("zoe", "PATCH", "/v1/account", ["autoAcceptInvitation": false]), inviteZoe],
      answer("zoe", "invitations/{invitation:zoe}", "accept"), [Heard(302, "adam"), Heard(308, members)]),
    Act(
      "decline", after: [inviteZoe], answer("zoe", "invitations/{invitation:zoe}", "decline"),
      [Heard(303, "adam")]),
    Act(
      "accept the invitation of two", after: [inviteZoe, inviteZoeToo],
      answer("zoe", "invitations/{invitation:zoe}", "accept"), [Heard(302, "adam abel"), Heard(308, members)]),
    Act(
      "decline the invitation of two", after: [inviteZoe, inviteZoeToo],
      answer("zoe", "invitations/{invitation:zoe}", "decline"), [Heard(303, "adam abel")]),
    Act("join an open group", apply, [Heard(308, members)]),
  ]

  static let applications: [Act] = [
    Act("apply", apply, [Heard(305, "olga adam abel")]),
    Act(
      "approve", after: [apply], answer("adam", "applications/{application:zoe}", "accept"),
      [Heard(306, "zoe olga abel"), Heard(308, members)]),
    Act(
      "turn down", after: [apply], answer("adam", "applications/{application:zoe}", "decline"),
      [Heard(307, "zoe olga abel")]),
  ]

  private static let leaving: [Act] = [
    Act("leave", Line("mia", "DELETE", path + "/members/mia"), [Heard(309, everyone(but: "mia"))]),
    Act(
      "remove", Line("adam", "DELETE", path + "/members/mia"),
      [Heard(310, "mia"), Heard(309, everyone(but: "mia"))]),
    Act(
      "block", Line("adam", "POST", path + "/block-list", ["accids": ["mia"]]),
      [Heard(310, "mia"), Heard(309, everyone(but: "mia"))]),
    Act("block a stranger", Line("adam", "POST", path + "/block-list", ["accids": ["zoe"]]), []),
    Act("unblock", Line("adam", "DELETE", path + "/block-list/ben"), []),
    Act("destroy", Line("olga", "DELETE", path), [Heard(310, members)]),
  ]

  private static let administration: [Act] = [
    Act("hand over", Line("olga", "PUT", path + "/owner", ["accid": "mia"]), [Heard(318, members)]),
    Act("make an admin", Line("olga", "PUT", path + "/admins/mia"), [Heard(316, "mia olga adam abel")]),
    Act(
      "make no admin", Line("olga", "DELETE", path + "/admins/adam"), [Heard(317, "adam abel")]),
    Act(
      "mute", Line("adam", "POST", path + "/mutes", ["accids": ["mia"], "durationSeconds": 60]),
      [Heard(311, "mia olga abel")]),
    Act("unmute", Line("adam", "DELETE", path + "/mutes/mute"), [Heard(312, "mute olga abel")]),
    Act(
      "allow", Line("adam", "POST", path + "/allow-list", ["accids": ["mia"]]), [Heard(313, "mia olga abel")]),
    Act("allow no longer", Line("adam", "DELETE", path + "/allow-list/ann"), [Heard(314, "ann olga abel")]),
    Act("mute all", Line("adam", "PUT", path + "/mute-all"), [Heard(315, everyone(but: "adam"))]),
    Act(
      "mute all no longer", after: [Line("adam", "PUT", path + "/mute-all")],
      Line("adam", "DELETE", path + "/mute-all"), [Heard(315, everyone(but: "adam"))]),
  ]

  private static let addFile = Line(
    "mia", "POST", path + "/files",
    ["name": "bells.pdf", "url": "https://example.org/bells.pdf", "size": 10],
    as: "file")

  private static let settings: [Act] = [
    Act(
      "announce", Line("adam", "PUT", path + "/announcement", ["announcement": "practice at seven"]),
      [Heard(319, members)]),
    Act("share a file", addFile, [Heard(320, members)]),
    Act(
      "remove a file", after: [addFile], Line("mia", "DELETE", path + "/files/{file}"), [Heard(321, members)]),
    Act("update", Line("adam", "PATCH", path, ["name": "Bell ringers"]), [Heard(322, members)]),
    Act(
      "change attributes",
      Line("mia", "PUT", path + "/members/mia/attributes", ["attributes": ["bell": "tenor"]]),
      [Heard(323, everyone(but: "mia"))]),
    Act("stop receiving", Line("mia", "DELETE", path + "/receiving"), []),
  ]

  private static func send(_ by: String, to accounts: [String]? = nil) -> Line {
    var body: JSONObject = ["groupId": "{group}", "body": "hello"]
    body["toAccids"] = accounts.map { .array($0.map { .string($0) }) }
    return Line(by, "POST", "/v1/notifications", .object(body))
  }

  private static let sends: [Act] = [
    Act("send", send("mia"), [Heard(100, everyone(but: "sue"))]),
    Act("send to some", send("mia", to: ["sue", "max"]), [Heard(100, "sue max")]),
    Act(
      "send while all are muted", after: [Line("adam", "PUT", path + "/mute-all")], send("ann"),
      [Heard(100, everyone(but: "sue"))]),
  ]
}
