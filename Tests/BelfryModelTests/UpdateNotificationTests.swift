import BelfryModel
import ModelSamples
import Testing

struct UpdateNotificationTests {
  static let id = MessageID(firstAtUnixMilliseconds: 1_763_600_000_000)

  /// Sent by mia to everyone, as its log holds it.
  func entry(type: Int = 100, from: AccountID? = "mia") throws -> LogEntry {
    var content = NotificationContent(type: type, toType: .server)
    content.serverId = ServerDesk.server
    content.fromAccount = from
    content.body = "ding"
    content.ext = "{}"
    return LogEntry(
      id: Self.id, audience: Audience(.all, named: ["max"]), contentJSON: try RecordJSON.text(content))
  }

  func update(
    _ entry: LogEntry, by actor: Actor = ServerDesk.mia, body: String? = nil, ext: String? = nil,
    status: Int? = nil
  ) throws(Refusal) -> UpdateNotification {
    try UpdateNotification(
      entry, in: ServerDesk.space, by: actor, body: body, ext: ext, status: status)
  }

  @Test func theSenderAndATrustedBackEndMay() throws {
    let desk = try ServerDesk()
    for actor in [ServerDesk.mia, ServerDesk.app] {
      #expect(desk.refusal(of: try update(entry(), by: actor, body: "dong")) == nil)
    }
  }

  @Test func othersMayNot() throws {
    let desk = try ServerDesk()
    for actor in [ServerDesk.max, ServerDesk.olivia] {
      #expect(desk.refusal(of: try update(entry(), by: actor, body: "dong"))?.code == .forbidden)
    }
    #expect(
      desk.refusal(of: try update(entry(), by: Actor(account: nil), body: "dong"))?.code == .unauthorized)
    #expect(
      desk.refusal(of: try update(entry(from: nil), by: Actor(account: nil), body: "dong"))?.code
        == .unauthorized)
  }

  @Test(arguments: Catalogue.all.filter { $0.updaters == .nobody }.map(\.code) + [18, 0])
  func builtInsStayAsTheyAre(type: Int) throws {
    let desk = try ServerDesk()
    for actor in [ServerDesk.mia, ServerDesk.max, ServerDesk.app] {
      #expect(desk.refusal(of: try update(entry(type: type), by: actor, body: "dong"))?.code == .forbidden)
    }
  }

  @Test func nothingToChangeIsRefused() throws {
    let refusal = #expect(throws: Refusal.self) { try update(entry()) }
    #expect(refusal?.field == "body")
  }

  @Test(arguments: ["body", "ext", "status"])
  func limitsHoldForUpdatesToo(field: String) {
    let long = String(repeating: "x", count: Limits.bodyBytes + 1)
    let refusal = #expect(throws: Refusal.self) {
      try update(
        entry(), body: field == "body" ? long : nil, ext: field == "ext" ? long : nil,
        status: field == "status" ? 9_999 : nil)
    }
    #expect(refusal?.code == .invalidField)
    #expect(refusal?.field == field)
  }

  @Test func whatIsNotNamedStays() throws {
    var desk = try ServerDesk()
    try desk.carryOut(update(entry(), body: "dong"))
    try desk.carryOut(update(entry(), status: 10_001))
    let notification = try desk.decide(update(entry(), ext: "[]")).output
    #expect(notification.content.body == "dong")
    #expect(notification.content.ext == "[]")
    #expect(notification.content.status == 10_001)
    #expect(notification.content.fromAccount == "mia")
    #expect(notification.messageServerId == Self.id)
    #expect(notification.time == Self.id.unixMilliseconds)
  }

  @Test func whoSawItSeesTheUpdate() throws {
    var desk = try ServerDesk()
    let transaction = try #require(try desk.carryOut(update(entry(), body: "dong")))
    #expect(transaction.announcements.isEmpty)
    #expect(transaction.amendments.map(\.audience) == [Audience(.all, named: ["max"])])
    #expect(transaction.amendments.map(\.notification.updateTime) == [desk.nowMilliseconds])
    #expect(Set(transaction.preconditions.keys) == [.amendment(Self.id, in: ServerDesk.space)])
  }

  /// A clock that was set back makes no update older than what it updates.
  @Test func theTimeOfAnUpdateNeverGoesBack() throws {
    var desk = try ServerDesk()
    try desk.carryOut(update(entry(), body: "dong"))
    let first = desk.nowMilliseconds
    desk.nowMilliseconds -= 1_000
    #expect(try desk.decide(update(entry(), body: "bong")).output.updateTime == first)
    var fresh = try ServerDesk()
    fresh.nowMilliseconds = 0
    #expect(try fresh.decide(update(entry(), body: "dong")).output.updateTime == Self.id.unixMilliseconds)
  }

  @Test func anUnreadableEntryIsUnavailable() throws {
    var entry = try entry()
    entry.contentJSON = "{}"
    #expect(try ServerDesk().refusal(of: update(entry, body: "dong"))?.code == .unavailable)
  }

  @Test func consumersReceiveTheEntryWithIdAndTimes() throws {
    var entry = try entry()
    let notification = try #require(RecordJSON.value(Notification.self, entry.notificationJSON))
    #expect(notification.messageServerId == Self.id)
    #expect(notification.time == Self.id.unixMilliseconds)
    #expect(notification.updateTime == nil)
    #expect(notification.content.body == "ding")
    entry.updateTime = 1_763_700_000_000
    #expect(RecordJSON.value(Notification.self, entry.notificationJSON)?.updateTime == 1_763_700_000_000)
  }
}
