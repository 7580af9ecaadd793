import BelfryModel
import ModelSamples

extension AnnouncementRow {
  private static let desk = GroupDesk.self

  static let groups: [AnnouncementRow] =
    comingIn + goingOut + running + [
      row("create", desk.create(), []),
      row(
        "create, one asked and one in at once", desk.create(6, .publicOpen, ["sam", "zed", "mia"]),
        ["304 to named +zed", "302 to named +mia", "308 to all -zed", "301 for sam"]),
      row("update", desk.rename(desk.adam), ["322 to all"]),
      row("update nothing", desk.rename(desk.adam, "Ringers"), []),
      row("destroy", DestroyGroup(desk.group, actor: desk.olga), ["310 to all"]),
      row("choose options", UpdateAccount("mia", actor: desk.mia, autoAcceptInvitation: true), []),
    ]

  private static let comingIn: [AnnouncementRow] = [
    row("invite", desk.invite(desk.adam, ["sam", "sue", "sam"]), ["301 for sam", "301 for sue"]),
    row("invite again", desk.invite(desk.adam, ["ivy"]), ["301 for ivy"]),
    row("invite members", desk.invite(desk.adam, ["mia", "adam"]), []),
    row(
      "invite who accepts at once", desk.invite(desk.adam, ["zed"]),
      ["304 to named +zed", "302 to named +adam", "308 to all -zed"]),
    row(
      "invite one to ask and one who accepts at once", desk.invite(desk.adam, ["sam", "zed", "mia"]),
      ["304 to named +zed", "302 to named +adam", "308 to all -zed", "301 for sam"]),
    row(
      "invite without asking", desk.invite(desk.adam, ["sam", "sue"]),
      [
        "304 to named +sam,sue", "302 to named +adam", "302 to named +adam", "308 to all -sam,sue",
        "308 to named +sam", "308 to named +sue",
      ]
    ) { try $0.carryOut(desk.asking(false)) },
    row(
      "invite at once while another's invitation waits", desk.invite(Actor(account: "abe"), ["ivy", "sam"]),
      [
        "304 to named +ivy,sam", "302 to named +adam,abe", "302 to named +abe", "308 to all -ivy,sam",
        "308 to named +ivy", "308 to named +sam",
      ]
    ) { try $0.carryOut(desk.asking(false)) },
    row(
      "invite at once when the other inviter has gone", desk.invite(Actor(account: "abe"), ["ivy"]),
      ["304 to named +ivy", "302 to named +abe", "308 to all -ivy", "302 for adam"]
    ) {
      try $0.carryOut(desk.asking(false))
      try $0.carryOut(desk.remove(desk.olga, ["adam"]))
    },
    row(
      "accept an invitation", desk.answer(Actor(account: "ivy")), ["302 to named +adam", "308 to all -ivy"]),
    row(
      "accept the invitation of one who has gone", desk.answer(Actor(account: "ivy")),
      ["308 to all -ivy", "302 for adam"]
    ) { try $0.carryOut(desk.remove(desk.olga, ["adam"])) },
    row(
      "decline an invitation", desk.answer(Actor(account: "ivy"), isAccepted: false), ["303 to named +adam"]),
    row("apply", desk.apply("sam"), ["305 to named +olga,adam,abe"]),
    row("apply again", desk.apply("ann"), []),
    row("apply again with other words at once", desk.apply("ann", "now?"), []),
    row("apply again when it has run out", desk.apply("ann"), ["305 to named +olga,adam,abe"]) {
      $0.nowMilliseconds += $0.limits.invitationMilliseconds
    },
    row("apply as a member", desk.apply("mia"), []),
    row("apply where anyone joins", desk.apply("sam"), ["308 to all -sam"], in: .publicOpen),
    row("approve", desk.admit(desk.adam), ["306 to named +ann,olga,abe", "308 to all -ann"]),
    row("approve as an app", desk.admit(desk.app), ["306 to named +ann,olga,adam,abe", "308 to all -ann"]),
    row(
      "decline an application", desk.admit(desk.olga, isApproved: false),
      ["307 to named +adam,abe", "307 for ann"]),
  ]

  private static let goingOut: [AnnouncementRow] = [
    row("leave", desk.leave("mia"), ["309 to all -mia"]),
    row("leave as an admin", desk.leave("adam"), ["309 to all -adam"]),
    row(
      "remove", desk.remove(desk.adam, ["mia", "max", "mia"]),
      ["310 to named +mia,max", "309 to all -mia,max"]),
    row(
      "block members and others", desk.block(desk.adam, ["mia", "sam", "ben", "ann"]),
      ["310 to named +mia", "309 to all -mia"]),
    row("block a stranger", desk.block(desk.adam, ["sam"]), []),
    row("unblock", desk.block(desk.adam, ["ben", "sam"], false), []),
  ]

  private static let running: [AnnouncementRow] = [
    row("hand over", desk.handOver(desk.olga, to: "mia"), ["318 to all"]),
    row("hand over as an app", desk.handOver(desk.app, to: "adam"), ["318 to all"]),
    row("hand over to oneself", desk.handOver(desk.olga, to: "olga"), []),
    row("add an admin", desk.admin(desk.olga, "mia"), ["316 to named +mia,olga,adam,abe"]),
    row("add an admin who is one", desk.admin(desk.olga, "adam"), []),
    row("remove an admin", desk.admin(desk.olga, "adam", false), ["317 to named +adam,abe"]),
    row("remove an admin who is none", desk.admin(desk.olga, "mia", false), []),
    row("allow", desk.allow(desk.adam, ["mia", "ali"]), ["313 to named +mia,olga,abe"]),
    row("disallow", desk.allow(desk.app, ["mia", "ali"], false), ["314 to named +ali,olga,adam,abe"]),
    row("mute", desk.mute(desk.adam, ["mia"]), ["311 to named +mia,olga,abe"]),
    row("mute an admin", desk.mute(desk.olga, ["abe"]), ["311 to named +abe,adam"]),
    row("mute for the same time again", desk.mute(desk.olga, ["mo"], 3_600_000), []),
    row("unmute", desk.mute(desk.adam, ["mo", "mia"], nil), ["312 to named +mo,olga,abe"]),
    row("unmute when it has run out", desk.mute(desk.adam, ["mo"], nil), []) {
      $0.nowMilliseconds += 3_600_000
    },
    row("mute all", desk.muteAll(desk.adam), ["315 to all -adam"]),
    row("mute all as an app", desk.muteAll(desk.app), ["315 to all"]),
    row("mute nobody", desk.muteAll(desk.adam, false), []),
    row("stop receiving", desk.receive("mia", false), []),
    row("announce", desk.pin(desk.adam), ["319 to all"]),
    row("announce nothing", desk.pin(desk.adam, ""), []),
    row("share a file", desk.addFile(desk.mia, 3), ["320 to all"]),
    row("share a file as an app", desk.addFile(desk.app, 3), ["320 to all"]),
    row("take a file back", desk.removeFile(desk.mia, 1), ["321 to all"]),
    row("set one's attributes", desk.attributes(desk.mia, "mia"), ["323 to all -mia"]),
    row("set another's attributes", desk.attributes(desk.adam, "mia"), ["323 to all -adam"]),
    row("set attributes as an app", desk.attributes(desk.app, "mia"), ["323 to all"]),
    row("set no attributes", desk.attributes(desk.mia, "mia", ["bell": ""]), []),
  ]

  private static func row(
    _ name: String, _ operation: any Operation, _ announced: [String],
    in style: GroupStyle = .publicApproval,
    when prepare: @escaping @Sendable (inout Desk) throws -> Void = { _ in }
  ) -> AnnouncementRow {
    AnnouncementRow(
      testDescription: name,
      desk: {
        var desk = try GroupDesk.desk(style)
        try prepare(&desk)
        return desk
      }, operation: operation, announced: announced)
  }
}
