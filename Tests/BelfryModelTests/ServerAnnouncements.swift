import BelfryModel
import ModelSamples

extension AnnouncementRow {
  private static let desk = ServerDesk.self
  private static let server = ServerDesk.server

  static let servers: [AnnouncementRow] = [
    row(
      "create", CreateServer(id: 2, defaultChannel: 20, owner: "mia", actor: desk.mia, name: "Loft"),
      ["5 to named +mia", "32 to named +mia"]),
    row("update", RefusalTests.rename(desk.adam), ["7 to ?"]),
    row("remove", RemoveServer(server, actor: desk.olivia), ["6 to all"]),
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
    row("subscribe", RefusalTests.subscribe("mia", nil), []),
    row(
      "open a channel of everyone", RefusalTests.open(desk.olivia, membership: .everyone),
      ["15 to ? channel:20", "31 to all channel:20"]),
    row(
      "open a public channel with a roster", RefusalTests.open(desk.olivia, members: ["mia"]),
      ["15 to ? roster:20 -olivia", "201 to named +mia", "31 to all channel:20"]),
    row(
      "open a private channel", RefusalTests.open(desk.olivia, type: .private),
      ["15 to ? roster:20 -olivia", "31 to all roster:20"]),
    row("open as an app", RefusalTests.open(desk.app), ["15 to ? roster:20", "31 to all channel:20"]),
    row("rename a channel", renameChannel(11), ["17 to ? roster:11 -adam"]),
    row("rename the default channel", renameChannel(10), ["17 to ? channel:10"]),
    row(
      "close a public channel", RemoveChannel(server, id: 11, actor: desk.olivia),
      ["16 to ? roster:11 -olivia", "31 to all channel:11"]),
    row(
      "close a private channel", RemoveChannel(server, id: 12, actor: desk.olivia),
      ["16 to ? roster:12 -olivia", "31 to all roster:12"]),
    row(
      "close a channel of everyone", RemoveChannel(server, id: 13, actor: desk.olivia),
      ["16 to ? channel:13", "31 to all channel:13"]),
  ]

  private static func row(
    _ name: String, _ operation: any Operation, _ announced: [String]
  ) -> AnnouncementRow {
    AnnouncementRow(
      testDescription: name, desk: { try ServerDesk().desk }, operation: operation, announced: announced)
  }

  private static func renameChannel(_ id: EntityID) -> UpdateChannel {
    var update = UpdateChannel(server, id: id, actor: desk.adam)
    update.channelName = "new"
    return update
  }
}
