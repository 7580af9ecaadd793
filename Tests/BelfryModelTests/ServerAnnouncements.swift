import BelfryModel
import ModelSamples

extension AnnouncementRow {
  private static let desk = ServerDesk.self
  private static let server = ServerDesk.server

  static let servers: [AnnouncementRow] = onServers + onAdmission + onMembers + byBackEnds

  private static let onServers: [AnnouncementRow] = [
    row(
      "create", CreateServer(id: 2, defaultChannel: 20, owner: "mia", actor: desk.mia, name: "Loft"),
      ["5 to named +mia", "32 to named +mia"]),
    row("update", RefusalTests.rename(desk.adam), ["7 to ?"]),
    row("remove", RemoveServer(server, actor: desk.olivia), ["6 to all"]),
  ]

  private static let onAdmission: [AnnouncementRow] = [
    row("invite", desk.invite(desk.olivia, ["sam", "sue"]), ["1 for sam", "1 for sue"]),
    row("invite again", desk.invite(desk.adam, ["sam"]), ["1 for sam"], after: invited),
    row(
      "invite without asking", desk.invite(desk.adam, ["sam", "sue"]),
      ["8 to ? +sam,sue", "32 to named +sam,sue"], after: [desk.joinsByInvitation]),
    row(
      "accept", desk.answerInvitation(of: "sam", true), ["9 to ? +mia,sam", "32 to named +sam"],
      after: invited),
    row(
      "accept once the inviter is gone", desk.answerInvitation(of: "sam", true),
      ["9 to ? +sam", "32 to named +sam", "9 for mia"], after: invited + [RefusalTests.leave("mia")]),
    row("reject", desk.answerInvitation(of: "sam", false), ["2 to named +mia"], after: invited),
    row(
      "reject once the inviter is gone", desk.answerInvitation(of: "sam", false), ["2 for mia"],
      after: invited + [RefusalTests.leave("mia")]),
    row("apply", desk.apply(desk.sam), ["10 to ? +sam", "32 to named +sam"]),
    row(
      "apply where it needs approval", desk.apply(desk.sam), ["3 to named +olivia,adam"],
      after: [desk.needsApproval]),
    row("apply again", desk.apply(desk.sam), [], after: applied),
    row(
      "apply again with other words at once", desk.apply(desk.sam, "now?"), [],
      after: applied),
    row(
      "approve", desk.answerApplication(of: "sam", by: desk.adam, true),
      ["11 to ? +sam", "32 to named +sam"],
      after: applied),
    row(
      "approve as an app", desk.answerApplication(of: "sam", by: desk.app, true),
      ["11 to ? +sam", "32 to named +sam"], after: applied),
    row(
      "decline", desk.answerApplication(of: "sam", by: desk.adam, false), ["4 for sam"], after: applied),
    row("make a code", desk.createCode(desk.adam), []),
    row("revoke a code", desk.revokeCode(desk.olivia), [], after: [desk.createCode(desk.adam)]),
    row(
      "join by a code", desk.join(desk.sam), ["33 to ? +sam", "32 to named +sam"],
      after: [desk.createCode(desk.adam)]),
  ]

  /// An invitation by a member who may leave again.
  private static let invited: [any Operation] = [
    desk.membersMayInvite, desk.invite(desk.mia, ["sam"]),
  ]
  private static let applied: [any Operation] = [desk.needsApproval, desk.apply(desk.sam)]

  private static let onMembers: [AnnouncementRow] = [
    row("add", RefusalTests.add(desk.app, ["sam", "sue"]), ["8 to ? +sam,sue", "32 to named +sam,sue"]),
    row(
      "add, one of them a member", RefusalTests.add(desk.app, ["mia", "sue"]),
      ["8 to ? +sue", "32 to named +sue"]),
    row(
      "add, one of them twice", RefusalTests.add(desk.app, ["sue", "sue"]),
      ["8 to ? +sue", "32 to named +sue"]),
    row("add members again", RefusalTests.add(desk.app, ["mia", "max"]), []),
    row(
      "kick", RefusalTests.kick(desk.adam, ["mia", "max", "mia"]),
      ["12 to ? +mia,max", "32 to named +mia,max"]),
    row("leave", RefusalTests.leave("mia"), ["13 to ? +mia", "32 to named +mia"]),
    row(
      "ban a member, a stranger and an invitee", desk.ban(desk.adam, ["mia", "sue", "sam"]),
      ["12 to ? +mia", "32 to named +mia"], after: [desk.invite(desk.olivia, ["sam"])]),
    row("ban a stranger", desk.ban(desk.adam, ["sam"]), []),
    row("ban again", desk.ban(desk.olivia, ["mia"]), [], after: [desk.ban(desk.adam, ["mia"])]),
    row("unban", desk.unban(desk.adam, ["sam"]), [], after: [desk.ban(desk.adam, ["sam"])]),
    row("mute", desk.mute(desk.adam, ["mia"]), ["208 to named +mia,olivia"]),
    row("mute as an app", desk.mute(desk.app, ["mia"]), ["208 to named +mia,olivia,adam"]),
    row(
      "unmute", desk.mute(desk.olivia, ["mia"], nil), ["208 to named +mia,adam"],
      after: [desk.mute(desk.adam, ["mia"])]),
    row("unmute who is not muted", desk.mute(desk.adam, ["mia"], nil), []),
    row("say who one is", desk.nick(desk.mia, "mia"), ["14 to ? +mia"]),
    row("say it again", desk.nick(desk.mia, "mia"), [], after: [desk.nick(desk.mia, "mia")]),
    row("correct another", desk.nick(desk.adam, "mia"), ["14 to ? +mia"]),
    row("make an admin", desk.admin(desk.olivia, "mia"), ["14 to ? +mia"]),
    row("make an admin again", desk.admin(desk.olivia, "adam"), []),
    row("make an admin a member", desk.admin(desk.olivia, "adam", false), ["14 to ? +adam"]),
    row("hand over", desk.handOver(desk.olivia, to: "adam"), ["14 to ? +olivia", "14 to ? +adam"]),
    row("hand over as an app", desk.handOver(desk.app, to: "mia"), ["14 to ? +olivia", "14 to ? +mia"]),
    row("hand over to the owner", desk.handOver(desk.olivia, to: "olivia"), []),
    row("subscribe", RefusalTests.subscribe("mia", nil), []),
    row("subscribe to channels", desk.subscribe(desk.mia, to: [10, 11]), []),
  ]

  private static let byBackEnds: [AnnouncementRow] =
    ([18, 34, 35] + Array(20...30)).map { type in
      row("announce \(type)", desk.announce(desk.app, type, ["mia"]), ["\(type) to ? +mia"])
    } + [
      row("announce to nobody in particular", desk.announce(desk.app, 21, []), ["21 to ?"]),
      row("announce of a stranger", desk.announce(desk.app, 26, ["sam"]), ["26 to ?", "26 for sam"]),
    ]

  private static func row(
    _ name: String, _ operation: any Operation, _ announced: [String], after history: [any Operation] = []
  ) -> AnnouncementRow {
    AnnouncementRow(
      testDescription: name,
      desk: {
        var desk = try ServerDesk().desk
        for step in history { try desk.carryOut(step) }
        return desk
      }, operation: operation, announced: announced)
  }
}
