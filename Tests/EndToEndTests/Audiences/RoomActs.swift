import BelfryModel

/// A room: `olga` hosts it, `mia` is a guest on stage, `max` and `sue` listen; `lea` left, `zoe` never came.
enum RoomActs {
  static let stage = Stage(
    cast: [
      "olga": ["phone"], "mia": ["phone", "laptop"], "max": ["phone", "laptop"], "sue": ["phone"],
      "lea": ["phone"], "zoe": ["phone"],
    ],
    setUp: [Line("olga", "POST", "/v1/rooms", ["subject": "Bells"], as: "room")]
      + ["mia", "max", "sue", "lea"].map { Line($0, "POST", path + "/attendees") } + [
        Line("lea", "DELETE", path + "/attendees/lea"),
        Line("olga", "POST", path + "/stage", ["accid": "mia"]),
        Line("mia", "POST", path + "/stage/{stageInvitation:mia}/accept"),
      ])

  private static let path = "/v1/rooms/{room}"
  private static let attendees = "olga mia max sue"
  private static let inviteMax = Line("olga", "POST", path + "/stage", ["accid": "max"])

  static let all: [Act] = [
    Act("create", Line("zoe", "POST", "/v1/rooms", ["subject": "Ropes"]), []),
    Act("enter", Line("zoe", "POST", path + "/attendees"), [Heard(401, attendees + " zoe")]),
    Act("leave", Line("max", "DELETE", path + "/attendees/max"), [Heard(402, attendees)]),
    Act("the host leaves", Line("olga", "DELETE", path + "/attendees/olga"), [Heard(408, attendees)]),
    Act("update", Line("olga", "PATCH", path, ["subject": "Ropes"]), [Heard(409, attendees)]),
    Act("close", Line("olga", "DELETE", path), [Heard(408, attendees)]),
    Act("raise a hand", Line("max", "PUT", path + "/hands/max"), [Heard(403, attendees)]),
    Act(
      "lower a hand", after: [Line("max", "PUT", path + "/hands/max")],
      Line("max", "DELETE", path + "/hands/max"), [Heard(403, attendees)]),
    Act("invite on stage", inviteMax, [Heard(404, "max")]),
    Act(
      "accept", after: [inviteMax], Line("max", "POST", path + "/stage/{stageInvitation:max}/accept"),
      [Heard(405, "olga"), Heard(406, attendees)]),
    Act(
      "decline", after: [inviteMax], Line("max", "POST", path + "/stage/{stageInvitation:max}/decline"),
      [Heard(405, "olga")]),
    Act("step down", Line("mia", "DELETE", path + "/stage/mia"), [Heard(406, attendees)]),
    Act("set back to listener", Line("olga", "DELETE", path + "/stage/mia"), [Heard(406, attendees)]),
    Act(
      "microphone on", after: [Line("mia", "PUT", path + "/microphones/mia", ["on": false])],
      Line("mia", "PUT", path + "/microphones/mia", ["on": true]), [Heard(407, attendees)]),
    Act(
      "microphone off by the host",
      Line("olga", "PUT", path + "/microphones/mia", ["on": false]), [Heard(407, attendees)]),
    Act(
      "send", Line("max", "POST", "/v1/notifications", ["roomId": "{room}", "body": "hello"]),
      [Heard(100, attendees)]),
    Act(
      "send to some",
      Line("max", "POST", "/v1/notifications", ["roomId": "{room}", "toAccids": ["sue"], "body": "hello"]),
      [Heard(100, "sue")]),
  ]
}
