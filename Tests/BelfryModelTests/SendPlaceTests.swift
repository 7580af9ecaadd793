import BelfryBytes
import BelfryModel
import ModelSamples
import Testing

/// The access of senders: every form by every kind of sender.
struct SendPlaceTests {
  static let senders: [AccountID?] = ["ada", "mia", "old", "max", "ben", "eve", "sam", nil]

  struct Row: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var form: SendForm
    /// The audience it goes to.
    var audience: String
    /// The results by sender, in the order of the senders: `ok`, or the code of the refusal. The last one is
    /// an app.
    var results: [String]

    init(_ name: String, _ form: SendForm, to audience: String, _ results: String) {
      testDescription = name
      self.form = form
      self.audience = audience
      self.results = results.split(separator: " ").map(String.init)
    }
  }

  static let rows: [Row] = [
    //                                                owner ok ok muted blocked elsewhere stranger app
    Row("server", SendForm(to: .server(1)), to: "?", "ok ok ok ok ok ok notMember ok"),
    Row(
      "server, named", SendForm(to: .server(1), named: ["eve", "max"]), to: "named +eve,max",
      "ok ok ok ok ok ok notMember ok"),
    Row(
      "channel of everyone", SendForm(to: .server(1), channel: 10), to: "? channel:10",
      "ok ok ok muted banned ok notMember ok"),
    Row(
      "channel of everyone, named", SendForm(to: .server(1), channel: 10, named: ["eve", "max"]),
      to: "named channel:10 +eve,max", "ok ok ok muted banned ok notMember ok"),
    Row(
      "channel with a roster", SendForm(to: .server(1), channel: 11), to: "? roster:11",
      "ok ok ok muted banned notMember notMember ok"),
    Row(
      "channel with a roster, named", SendForm(to: .server(1), channel: 11, named: ["mia"]),
      to: "named roster:11 +mia", "ok ok ok muted banned notMember notMember ok"),
    Row("group", SendForm(to: .group(5)), to: "willing", "ok ok ok muted ok ok notMember ok"),
    Row(
      "group, named", SendForm(to: .group(5), named: ["mia", "eve"]), to: "named +mia,eve",
      "ok ok ok muted ok ok notMember ok"),
    Row(
      "group where all are muted", SendForm(to: .group(6)), to: "willing",
      "ok muted muted muted ok muted notMember ok"),
    Row(
      "group where all are muted, named", SendForm(to: .group(6), named: ["mia"]), to: "named +mia",
      "ok muted muted muted ok muted notMember ok"),
    Row("room", SendForm(to: .room(7)), to: "all", "ok ok ok ok ok ok notMember ok"),
    Row(
      "room, named", SendForm(to: .room(7), named: ["ada"]), to: "named +ada",
      "ok ok ok ok ok ok notMember ok"),
    Row("account", SendForm(to: nil, named: ["sam"]), to: "named +sam", "ok ok ok ok ok ok ok ok"),
    Row(
      "accounts", SendForm(to: nil, named: ["sam", "mia"]), to: "named +sam,mia", "ok ok ok ok ok ok ok ok"),
  ]

  static func send(
    _ form: SendForm, by account: AccountID?, isTrusted: Bool? = nil
  ) throws(Refusal) -> SendNotification {
    var content = NotificationContent(type: 100, toType: .server)
    let id = form.space.flatMap { EntityID($0.name) }
    switch form.space?.kind {
    case .server: content.serverId = id
    case .group: content.groupId = id
    case .room: content.roomId = id
    default: break
    }
    content.channelId = form.channel
    content.toAccids = form.named
    let actor = Actor(account: account, isTrusted: isTrusted ?? (account == nil))
    return try SendNotification.sends(content, by: actor, generatedClientId: "g1")[0]
  }

  @Test(arguments: rows)
  func mayOrMayNotSend(row: Row) throws {
    let desk = try SendDesk.desk()
    let results = try Self.senders.map {
      desk.refusal(of: try Self.send(row.form, by: $0))?.code.rawValue ?? "ok"
    }
    #expect(results == row.results)
  }

  @Test(arguments: rows)
  func reachesWhomTheFormSays(row: Row) throws {
    let transaction = try SendDesk.desk().decide(Self.send(row.form, by: "ada")).transaction
    #expect(transaction?.announcements.map(\.audience.text) == [row.audience])
    #expect(transaction?.announcements.map(\.content.toType) == [row.form.toType])
  }

  @Test func nobodyIsNoMember() throws {
    for row in Self.rows where row.form.space != nil {
      let send = try Self.send(row.form, by: nil, isTrusted: false)
      #expect(try SendDesk.desk().refusal(of: send)?.code == .notMember)
    }
  }

  @Test func everyWayOfAddressingHasARow() {
    #expect(Set(Self.rows.map(\.form.toType)) == Set(ToType.allCases))
  }

  /// The commit of a send checks all records that the send decides on. Their number is constant, without the
  /// named receivers.
  @Test(arguments: rows)
  func reliesOnFewRecords(row: Row) throws {
    let send = try Self.send(row.form, by: "ada")
    let transaction = try SendDesk.desk().decide(send).transaction
    let own = Set(send.needs).filter { $0.space == send.space }
    #expect(Set((transaction?.preconditions ?? [:]).keys) == own)
    #expect(Set(send.needs).count <= 3 + 2 * (row.form.named ?? []).count)
    #expect(transaction?.changes.isEmpty == true)
  }

  // MARK: Those who are named

  struct Absence: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var form: SendForm
    /// Those who are not there, as the refusal names them.
    var absent: String
  }

  static let absences = [
    Absence(
      testDescription: "stranger to the server", form: SendForm(to: .server(1), named: ["mia", "sam"]),
      absent: "not in server 1: sam"),
    Absence(
      testDescription: "blocked from a channel of everyone",
      form: SendForm(to: .server(1), channel: 10, named: ["eve", "ben"]), absent: "not in channel 10: ben"),
    Absence(
      testDescription: "not in the roster, blocked, stranger",
      form: SendForm(to: .server(1), channel: 11, named: ["eve", "mia", "ben", "sam"]),
      absent: "not in channel 11: eve, ben, sam"),
    Absence(
      testDescription: "stranger to the group", form: SendForm(to: .group(5), named: ["sam", "mia"]),
      absent: "not in group 5: sam"),
    Absence(
      testDescription: "stranger to the room", form: SendForm(to: .room(7), named: ["sam", "sue"]),
      absent: "not in room 7: sam, sue"),
  ]

  @Test(arguments: absences, [nil, "ada"] as [AccountID?])
  func whoIsNotThereIsNamed(absence: Absence, sender: AccountID?) throws {
    let refusal = try #require(try SendDesk.desk().refusal(of: Self.send(absence.form, by: sender)))
    #expect(refusal.code == .notFound)
    #expect(refusal.field == "toAccids")
    #expect(refusal.detail.hasSuffix(absence.absent))
  }

  // MARK: Places that are not there

  @Test(arguments: [
    (SendForm(to: .server(2)), "serverId"), (SendForm(to: .server(1), channel: 99), "channelId"),
    (SendForm(to: .group(7)), "groupId"), (SendForm(to: .room(5)), "roomId"),
  ])
  func whatIsNotThereIsNotFound(form: SendForm, field: String) throws {
    for sender in ["ada", nil] as [AccountID?] {
      let refusal = try SendDesk.desk().refusal(of: Self.send(form, by: sender))
      #expect(refusal?.code == .notFound)
      #expect(refusal?.field == field)
    }
  }

  @Test func nothingIsSentToAClosedRoom() throws {
    var desk = try SendDesk.desk()
    try desk.carryOut(CloseRoom(7, actor: Actor(account: "ada")))
    #expect(desk.refusal(of: try Self.send(SendForm(to: .room(7)), by: "mia"))?.field == "roomId")
  }

  @Test func aMuteSaysUntilWhen() throws {
    let desk = try SendDesk.desk()
    for form in [SendForm(to: .server(1), channel: 10), SendForm(to: .group(5))] {
      let detail = desk.refusal(of: try Self.send(form, by: "max"))?.detail
      #expect(detail?.hasSuffix("until \(Timestamp.text(milliseconds: desk.nowMilliseconds + 1))") == true)
    }
  }
}
