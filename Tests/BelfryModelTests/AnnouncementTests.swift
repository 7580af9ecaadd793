import BelfryModel
import ModelSamples
import Testing

/// What each operation announces, to whom, with which details.
struct AnnouncementTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var operation: any Operation
    var announced: [String]

    init(_ name: String, _ operation: any Operation, _ announced: [String]) {
      testDescription = name
      self.operation = operation
      self.announced = announced
    }
  }

  static let desk = ServerDesk.self
  static let server = ServerDesk.server

  static let rows: [Row] = [
    Row(
      "create", CreateServer(id: 2, defaultChannel: 20, owner: "mia", actor: desk.mia, name: "Loft"),
      ["5 to named +mia", "32 to named +mia"]),
    Row("update", RefusalTests.rename(desk.adam), ["7 to ?"]),
    Row("remove", RemoveServer(server, actor: desk.olivia), ["6 to all +olivia"]),
    Row("add", RefusalTests.add(desk.app, ["sam", "sue"]), ["8 to ? +sam,sue", "32 to named +sam,sue"]),
    Row(
      "add, one of them a member", RefusalTests.add(desk.app, ["mia", "sue"]),
      ["8 to ? +sue", "32 to named +sue"]),
    Row(
      "add, one of them twice", RefusalTests.add(desk.app, ["sue", "sue"]),
      ["8 to ? +sue", "32 to named +sue"]),
    Row("add members again", RefusalTests.add(desk.app, ["mia", "max"]), []),
    Row(
      "kick", RefusalTests.kick(desk.adam, ["mia", "max", "mia"]),
      ["12 to ? +mia,max", "32 to named +mia,max"]),
    Row("leave", RefusalTests.leave("mia"), ["13 to ? +mia", "32 to named +mia"]),
    Row("subscribe", RefusalTests.subscribe("mia", nil), []),
    Row(
      "open a channel of everyone", RefusalTests.open(desk.olivia, membership: .everyone),
      ["15 to ? channel:20", "31 to all channel:20"]),
    Row(
      "open a public channel with a roster", RefusalTests.open(desk.olivia, members: ["mia"]),
      ["15 to ? roster:20 -olivia", "31 to all channel:20"]),
    Row(
      "open a private channel", RefusalTests.open(desk.olivia, type: .private),
      ["15 to ? roster:20 -olivia", "31 to all roster:20"]),
    Row("open as an app", RefusalTests.open(desk.app), ["15 to ? roster:20", "31 to all channel:20"]),
    Row("rename a channel", renameChannel(11), ["17 to ? roster:11 -adam"]),
    Row("rename the default channel", renameChannel(10), ["17 to ? channel:10"]),
    Row(
      "close a public channel", RemoveChannel(server, id: 11, actor: desk.olivia),
      ["16 to ? roster:11 -olivia", "31 to all channel:11"]),
    Row(
      "close a private channel", RemoveChannel(server, id: 12, actor: desk.olivia),
      ["16 to ? roster:12 -olivia", "31 to all roster:12"]),
    Row(
      "close a channel of everyone", RemoveChannel(server, id: 13, actor: desk.olivia),
      ["16 to ? channel:13", "31 to all channel:13"]),
  ]

  @Test(arguments: rows)
  func announces(row: Row) throws {
    var desk = try ServerDesk()
    let transaction = try desk.carryOut(row.operation)
    #expect(transaction?.announced ?? [] == row.announced)
    for announcement in transaction?.announcements ?? [] { try matchesCatalogue(announcement) }
  }

  /// The details are those that the catalogue names, the audience is of the kind that it says.
  private func matchesCatalogue(_ announcement: Announcement) throws {
    let type = try #require(Catalogue.type(announcement.content.type))
    var fields: [String] = []
    if case .object(let attach)? = announcement.content.attach { fields = attach.keys.sorted() }
    #expect(fields == type.attach.sorted(), "type \(type.code)")
    #expect(announcement.audience.named.isEmpty == (type.parties == nil || type.others == .everyoneInChannel))
    let isOfChannel = type.others == .channel || type.others == .everyoneInChannel
    #expect((announcement.audience.channel != nil) == isOfChannel)
    #expect(announcement.content.channelId == announcement.audience.channel)
    #expect(announcement.content.toType == (isOfChannel ? .channel : .server))
    #expect(announcement.content.setting.persistEnable)
  }

  @Test func everyBuiltInTypeIsAnnouncedBySomeOperation() throws {
    var announced: Set<Int> = []
    for row in Self.rows {
      var desk = try ServerDesk()
      announced.formUnion(try desk.carryOut(row.operation)?.announcements.map(\.content.type) ?? [])
    }
    #expect(announced == Set(Catalogue.all.map(\.code)).subtracting([Catalogue.custom.code]))
  }

  @Test func announcementsTellWhoActedFromWhere() throws {
    var desk = try ServerDesk()
    let content = try #require(
      try desk.carryOut(RefusalTests.open(ServerDesk.olivia))?.announcements.first?.content)
    #expect(content.fromAccount == "olivia")
    #expect(content.fromDeviceId == "olivia-1")
    #expect(content.serverId == ServerDesk.server)
  }

  @Test func codesAndNamesAreUnique() {
    #expect(Set(Catalogue.all.map(\.code)).count == Catalogue.all.count)
    #expect(Set(Catalogue.all.map(\.name)).count == Catalogue.all.count)
    #expect(Catalogue.type(18) == nil, "reserved")
  }

  static func renameChannel(_ id: EntityID) -> UpdateChannel {
    var update = UpdateChannel(server, id: id, actor: desk.adam)
    update.name = "new"
    return update
  }
}
