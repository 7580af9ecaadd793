import BelfryModel
import ModelSamples
import Testing

struct SendFormTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var server: EntityID?
    var channel: EntityID?
    var accounts: [AccountID]?
    var form: SendForm?
    var toType: ToType?
    var testDescription: String { "\(toType.map { "\($0)" } ?? "no form")" }
  }

  static let rows = [
    Row(server: 1, form: .server(1), toType: .server),
    Row(server: 1, channel: 2, form: .channel(2, of: 1), toType: .channel),
    Row(server: 1, accounts: ["ann"], form: .serverMembers(1, ["ann"]), toType: .serverMembers),
    Row(
      server: 1, channel: 2, accounts: ["ann"], form: .channelMembers(2, of: 1, ["ann"]),
      toType: .channelMembers),
    Row(accounts: ["ann", "bob"], form: .accounts(["ann", "bob"]), toType: .accounts),
    Row(), Row(channel: 2), Row(channel: 2, accounts: ["ann"]),
  ]

  @Test(arguments: rows)
  func isToldByWhatIsGiven(row: Row) throws {
    var content = NotificationContent(type: 100, toType: .room)
    content.serverId = row.server
    content.channelId = row.channel
    content.toAccids = row.accounts
    guard let form = row.form else {
      let refusal = #expect(throws: Refusal.self) { try SendForm(content) }
      #expect(refusal?.code == .invalidField)
      #expect(refusal?.field == "serverId")
      return
    }
    #expect(try SendForm(content) == form)
    #expect(form.toType == row.toType)
  }

  @Test func thereAreNoGroupsAndRoomsYet() {
    var content = NotificationContent(type: 100, toType: .group)
    content.groupId = 7
    #expect(throws: Refusal(.notFound, "there is no group 7", field: "groupId")) { try SendForm(content) }
    content.groupId = nil
    content.roomId = 8
    #expect(throws: Refusal(.notFound, "there is no room 8", field: "roomId")) { try SendForm(content) }
  }
}
