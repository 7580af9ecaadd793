import BelfryModel
import ModelSamples
import Testing

struct SendFormTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var server: EntityID?
    var channel: EntityID?
    var group: EntityID?
    var room: EntityID?
    var accounts: [AccountID]?
    var form: SendForm?
    var toType: ToType?
    /// The field that is to blame when it is no form.
    var field: String?
    var testDescription: String { toType.map { "\($0)" } ?? "not \(content)" }

    var content: NotificationContent {
      var content = NotificationContent(type: 100, toType: .room)
      content.serverId = server
      content.channelId = channel
      content.groupId = group
      content.roomId = room
      content.toAccids = accounts
      return content
    }
  }

  static let rows = [
    Row(server: 1, form: SendForm(to: .server(1)), toType: .server),
    Row(server: 1, channel: 2, form: SendForm(to: .server(1), channel: 2), toType: .channel),
    Row(
      server: 1, accounts: ["ann"], form: SendForm(to: .server(1), named: ["ann"]), toType: .serverMembers),
    Row(
      server: 1, channel: 2, accounts: ["ann"], form: SendForm(to: .server(1), channel: 2, named: ["ann"]),
      toType: .channelMembers),
    Row(accounts: ["ann", "bob"], form: SendForm(to: nil, named: ["ann", "bob"]), toType: .accounts),
    Row(group: 3, form: SendForm(to: .group(3)), toType: .group),
    Row(group: 3, accounts: ["ann"], form: SendForm(to: .group(3), named: ["ann"]), toType: .groupMembers),
    Row(room: 4, form: SendForm(to: .room(4)), toType: .room),
    Row(room: 4, accounts: ["ann"], form: SendForm(to: .room(4), named: ["ann"]), toType: .roomMembers),
  ]

  static let noForms = [
    Row(field: "serverId"), Row(channel: 2, field: "serverId"),
    Row(channel: 2, accounts: ["ann"], field: "serverId"),
    Row(channel: 2, group: 3, field: "channelId"), Row(channel: 2, room: 4, field: "channelId"),
    Row(server: 1, group: 3, field: "groupId"), Row(server: 1, room: 4, field: "roomId"),
    Row(group: 3, room: 4, field: "roomId"), Row(server: 1, group: 3, room: 4, field: "groupId"),
    Row(server: 1, channel: 2, group: 3, field: "groupId"),
  ]

  @Test(arguments: rows)
  func isToldByWhatIsGiven(row: Row) throws {
    let form = try SendForm(row.content)
    #expect(form == row.form)
    #expect(form.toType == row.toType)
  }

  @Test func everyWayOfAddressingHasAForm() {
    #expect(Set(Self.rows.map(\.toType)) == Set(ToType.allCases))
  }

  @Test(arguments: noForms)
  func whatFitsNoFormIsRefused(row: Row) {
    let refusal = #expect(throws: Refusal.self) { try SendForm(row.content) }
    #expect(refusal?.code == .invalidField)
    #expect(refusal?.field == row.field)
  }
}
