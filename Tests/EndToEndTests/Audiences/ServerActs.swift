import BelfryModel

/// A server with everybody one can be to it.
///
/// `olga` owns it; `adam` and `abel` are admins; `mia` and `max` plain members with two devices each; `sue`
/// subscribed to it; `mute` is muted in a channel; `lea` left, `ben` is banned, `zoe` is a stranger.
enum ServerActs {
  static let stage = Stage(
    cast: [
      "olga": ["phone"], "adam": ["phone"], "abel": ["phone"], "mia": ["phone", "laptop"],
      "max": ["phone", "laptop"], "sue": ["phone"], "mute": ["phone"], "lea": ["phone"], "ben": ["phone"],
      "zoe": ["phone"],
    ],
    setUp: [
      Line("olga", "POST", "/v1/servers", ["name": "Tower"], as: "server"),
      Line(
        "olga", "POST", path + "/channels", ["name": "lobby", "type": "public", "membership": "everyone"],
        as: "lobby"),
      Line("app", "POST", path + "/members", ["accids": accids("adam abel mia max sue mute lea ben")]),
      Line("olga", "PUT", "/v1/servers/{server}/admins/adam"),
      Line("olga", "PUT", "/v1/servers/{server}/admins/abel"),
      Line("lea", "DELETE", "/v1/servers/{server}/members/lea"),
      Line("olga", "POST", "/v1/servers/{server}/bans", ["accids": ["ben"]]),
      Line("sue", "PUT", "/v1/servers/{server}/subscription"),
      Line("sue", "PUT", "/v1/servers/{server}/channels/{lobby}/subscription"),
    ])

  static func accids(_ names: String) -> JSONValue {
    .array(names.split(separator: " ").map { .string(String($0)) })
  }

  /// Every member of the server.
  static let members = "olga adam abel mia max sue mute"
  static let path = "/v1/servers/{server}"
  private static func invite(_ by: String) -> Line {
    Line(by, "POST", path + "/invitations", ["accids": ["zoe"], "postscript": "come"])
  }
  private static let needsApproval = Line("olga", "PATCH", path, ["applyMode": 1])
  private static let joinsAtOnce = Line("olga", "PATCH", path, ["inviteMode": 1])
  private static let apply = Line("zoe", "POST", path + "/applications", ["postscript": "please"])
  private static func answer(_ by: String, _ request: String, _ answer: String) -> Line {
    Line(by, "POST", path + "/\(request)/\(answer)", [:])
  }
  private static let zoeIsIn = [joinsAtOnce, invite("adam")]

  static let all: [Act] = requests + membership + settings + announcements

  /// The announcements of a back end reach its accids and the members; above the threshold the subscribers.
  private static let announcements: [Act] = ([18, 34, 35] + Array(20...30)).map { type in
    Act(
      "announce \(type)",
      Line("app", "POST", path + "/announcements", ["type": .integer(Int64(type)), "accids": ["max"]]),
      [Heard(type, members)], above: [Heard(type, "sue max")])
  }

  private static let requests: [Act] = [
    Act("invite", invite("adam"), [Heard(1, "zoe")]),
    Act(
      "invite as a member", after: [Line("olga", "PATCH", path, ["membersMayInvite": true])], invite("mia"),
      [Heard(1, "zoe")]),
    Act(
      "invite where nobody is asked", after: [joinsAtOnce], invite("adam"),
      [Heard(8, members + " zoe"), Heard(32, "zoe")], above: [Heard(8, "sue zoe"), Heard(32, "zoe")]),
    Act(
      "reject an invitation", after: [invite("adam")],
      answer("zoe", "invitations/{invitation:zoe}", "reject"), [Heard(2, "adam")]),
    Act(
      "reject the invitation of two", after: [invite("adam"), invite("abel")],
      answer("zoe", "invitations/{invitation:zoe}", "reject"), [Heard(2, "adam abel")]),
    Act(
      "accept the invitation of two", after: [invite("adam"), invite("abel")],
      answer("zoe", "invitations/{invitation:zoe}", "accept"),
      [Heard(9, members + " zoe"), Heard(32, "zoe")],
      above: [Heard(9, "adam abel sue zoe"), Heard(32, "zoe")]),
    Act(
      "reject an invitation of somebody who has left",
      after: [invite("adam"), Line("adam", "DELETE", path + "/members/adam")],
      answer("zoe", "invitations/{invitation:zoe}", "reject"), [Heard(2, "adam")]),
    Act(
      "accept an invitation", after: [invite("adam")],
      answer("zoe", "invitations/{invitation:zoe}", "accept"),
      [Heard(9, members + " zoe"), Heard(32, "zoe")], above: [Heard(9, "adam sue zoe"), Heard(32, "zoe")]),
    Act("apply where it is answered", after: [needsApproval], apply, [Heard(3, "olga adam abel")]),
    Act(
      "apply where one joins at once", apply, [Heard(10, members + " zoe"), Heard(32, "zoe")],
      above: [Heard(10, "sue zoe"), Heard(32, "zoe")]),
    Act(
      "reject an application", after: [needsApproval, apply],
      answer("adam", "applications/{application:zoe}", "reject"), [Heard(4, "zoe")]),
    Act(
      "accept an application", after: [needsApproval, apply],
      answer("adam", "applications/{application:zoe}", "accept"),
      [Heard(11, members + " zoe"), Heard(32, "zoe")], above: [Heard(11, "sue zoe"), Heard(32, "zoe")]),
  ]

  private static let membership: [Act] = [
    Act(
      "add members", Line("app", "POST", path + "/members", ["accids": ["zoe", "lea"]]),
      [Heard(8, members + " zoe lea"), Heard(32, "zoe lea")],
      above: [Heard(8, "sue zoe lea"), Heard(32, "zoe lea")]),
    Act(
      "join by a code", after: [Line("adam", "POST", path + "/invite-codes", [:], as: "code")],
      Line("zoe", "POST", path + "/join", ["code": "{code}"]),
      [Heard(33, members + " zoe"), Heard(32, "zoe")], above: [Heard(33, "sue zoe"), Heard(32, "zoe")]),
    Act(
      "kick", Line("adam", "DELETE", path + "/members/mia"), [Heard(12, members), Heard(32, "mia")],
      above: [Heard(12, "mia sue"), Heard(32, "mia")]),
    Act(
      "leave", Line("mia", "DELETE", path + "/members/mia"), [Heard(13, members), Heard(32, "mia")],
      above: [Heard(13, "mia sue"), Heard(32, "mia")]),
    Act(
      "ban a member", Line("adam", "POST", path + "/bans", ["accids": ["mia"]]),
      [Heard(12, members), Heard(32, "mia")], above: [Heard(12, "mia sue"), Heard(32, "mia")]),
    Act("ban a stranger", Line("adam", "POST", path + "/bans", ["accids": ["zoe"]]), []),
    Act("unban", Line("adam", "DELETE", path + "/bans/ben"), []),
    Act(
      "update oneself", Line("mia", "PATCH", path + "/members/mia", ["nick": "Mimi"]), [Heard(14, members)],
      above: [Heard(14, "mia sue")]),
    Act(
      "update another", Line("adam", "PATCH", path + "/members/mia", ["nick": "Mimi"]),
      [Heard(14, members)], above: [Heard(14, "mia sue")]),
    Act(
      "make an admin", Line("olga", "PUT", path + "/admins/mia"), [Heard(14, members)],
      above: [Heard(14, "mia sue")]),
    Act(
      "make no admin", Line("olga", "DELETE", path + "/admins/adam"), [Heard(14, members)],
      above: [Heard(14, "adam sue")]),
    Act(
      "hand over", Line("olga", "PUT", path + "/owner", ["accid": "mia"]),
      [Heard(14, members), Heard(14, members)], above: [Heard(14, "olga sue"), Heard(14, "mia sue")]),
    Act("subscribe", Line("mia", "PUT", path + "/subscription"), []),
  ]

  private static let settings: [Act] = [
    Act(
      "create", Line("zoe", "POST", "/v1/servers", ["name": "Loft"]), [Heard(5, "zoe"), Heard(32, "zoe")]),
    Act(
      "update", Line("adam", "PATCH", path, ["name": "Spire"]), [Heard(7, members)], above: [Heard(7, "sue")]),
    Act("remove", Line("olga", "DELETE", path), [Heard(6, members)]),
    Act(
      "send to the server",
      Line("mia", "POST", "/v1/notifications", ["serverId": "{server}", "body": "hello"]),
      [Heard(100, members)], above: [Heard(100, "sue")]),
    Act(
      "send to named members",
      Line(
        "mia", "POST", "/v1/notifications",
        ["serverId": "{server}", "toAccids": ["max", "mute"], "body": "hello"]), [Heard(100, "max mute")]),
  ]
}
