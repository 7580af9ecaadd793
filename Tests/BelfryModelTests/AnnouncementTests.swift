import BelfryModel
import ModelSamples
import Testing

/// The announcements of one operation, and their audiences. Each scene has a table of such rows.
struct AnnouncementRow: Sendable, CustomTestStringConvertible {
  var testDescription: String
  var desk: @Sendable () throws -> Desk
  var operation: any Operation
  /// As `Transaction.announced` puts it.
  var announced: [String]

  static let all: [AnnouncementRow] = servers + channels + groups + rooms
}

/// The announcements of each operation, their audiences, and their details.
struct AnnouncementTests {
  @Test(arguments: AnnouncementRow.all)
  func announces(row: AnnouncementRow) throws {
    var desk = try row.desk()
    let transaction = try desk.carryOut(row.operation)
    #expect(transaction?.announced ?? [] == row.announced)
    for announcement in transaction?.announcements ?? [] { try matchesCatalogue(announcement) }
    for delivery in transaction?.deliveries ?? [] {
      let type = try #require(Catalogue.type(delivery.content.type))
      #expect(type.parties != nil, "type \(type.code)")
      #expect(fields(of: delivery.content) == type.attach.sorted(), "type \(type.code)")
    }
  }

  /// The details are those that the catalogue names, the audience is of the kind that it says.
  private func matchesCatalogue(_ announcement: Announcement) throws {
    let type = try #require(Catalogue.type(announcement.content.type))
    let (content, audience) = (announcement.content, announcement.audience)
    #expect(fields(of: content) == type.attach.sorted(), "type \(type.code)")
    // Each of the new members is told of the others.
    let tellsNewMembers = type == Catalogue.groupMemberJoined
    #expect(
      audience.named.isEmpty || type.parties != nil || type.others == .administrators || tellsNewMembers)
    #expect(audience.rule != .named || !audience.named.isEmpty)
    // A mute that binds the whole server names no channel.
    let mutesServer = type == Catalogue.channelMemberMuteChanged && content.channelId == nil
    #expect((content.channelId != nil) == (type.scene == .channel) || mutesServer)
    #expect(audience.channel == nil || audience.channel == content.channelId)
    let ids = [content.serverId, content.groupId, content.roomId].compactMap(\.self)
    #expect(ids.count == 1)
    #expect(content.setting.persistEnable)
  }

  private func fields(of content: NotificationContent) -> [String] {
    if case .object(let attach)? = content.attach { attach.keys.sorted() } else { [] }
  }

  @Test func everyBuiltInTypeIsAnnouncedBySomeOperation() throws {
    var announced: Set<Int> = []
    for row in AnnouncementRow.all {
      var desk = try row.desk()
      guard let transaction = try desk.carryOut(row.operation) else { continue }
      announced.formUnion(transaction.announcements.map(\.content.type))
      announced.formUnion(transaction.deliveries.map(\.content.type))
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
  }
}
