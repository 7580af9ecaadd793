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
    #expect(desk.refusal(of: try update(entry(), by: ServerDesk.max, body: "dong"))?.code == .forbidden)
    // To an account that came later, or never came, the notification does not exist.
    for actor in [ServerDesk.olivia, ServerDesk.sam] {
      #expect(desk.refusal(of: try update(entry(), by: actor, body: "dong")) == .noNotification(Self.id))
    }
    #expect(
      desk.refusal(of: try update(entry(), by: Actor(account: nil), body: "dong"))?.code == .unauthorized)
    #expect(
      desk.refusal(of: try update(entry(from: nil), by: Actor(account: nil), body: "dong"))?.code
        == .unauthorized)
  }

  // MARK: The accounts that may update

  struct Row: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var type: Int
    var space: SpaceID
    var audience: String
    /// The accounts that may update it, among the sender mia, the receivers max and sam, the bystander adam,
    /// and an app.
    var allowed: [String]
    var prepare: @Sendable (inout ServerDesk) throws -> Void = { _ in }
  }

  static let rows =
    [
      Row(
        testDescription: "custom", type: 100, space: ServerDesk.space, audience: "all +max,sam",
        allowed: ["mia", "app"]),
      Row(
        testDescription: "custom, by a sender who has left", type: 100, space: ServerDesk.space,
        audience: "all +max,sam", allowed: ["app"]
      ) { try $0.carryOut(RefusalTests.leave("mia")) },
      Row(
        testDescription: "custom, by a sender who was kicked and came back", type: 100,
        space: ServerDesk.space, audience: "all +max,sam", allowed: ["mia", "app"]
      ) {
        try $0.carryOut(RefusalTests.kick(ServerDesk.adam, ["mia"]))
        try $0.carryOut(RefusalTests.add(ServerDesk.app, ["mia"]))
      },
      Row(
        testDescription: "custom to an account", type: 100, space: .personal("sam"), audience: "named +sam",
        allowed: ["mia", "app"]),
      Row(
        testDescription: "custom direct message", type: 100, space: .direct(9), audience: "named +max,sam",
        allowed: ["mia", "app"]),
    ]
    + (1...4).flatMap { type in
      [
        Row(
          testDescription: "type \(type)", type: type, space: ServerDesk.space,
          audience: "named +max,sam", allowed: ["max", "app"]),
        Row(
          testDescription: "type \(type), by a receiver who was banned", type: type, space: ServerDesk.space,
          audience: "named +max,sam", allowed: ["app"]
        ) { try $0.carryOut(ServerDesk.ban(ServerDesk.olivia, ["max"])) },
        Row(
          testDescription: "type \(type), delivered", type: type, space: .personal("sam"),
          audience: "named +sam", allowed: ["sam", "app"]),
      ]
    }

  @Test(arguments: rows)
  func isUpdatedByWhoseItIs(row: Row) throws {
    var desk = try ServerDesk()
    try row.prepare(&desk)
    let audience = try #require(Audience(text: row.audience))
    var entry = try entry(type: row.type)
    entry.audience = audience
    let actors: [(name: String, actor: Actor)] = [
      ("mia", ServerDesk.mia), ("max", ServerDesk.max), ("sam", ServerDesk.sam), ("adam", ServerDesk.adam),
      ("app", ServerDesk.app),
    ]
    let allowed = try actors.filter { _, actor in
      desk.refusal(
        of: try UpdateNotification(entry, in: row.space, by: actor, body: "dong", ext: nil, status: nil))
        == nil
    }
    #expect(allowed.map(\.name) == row.allowed)
  }

  /// Otherwise they would go on speaking by what they had said before.
  @Test(arguments: ["mia", "mo"]) func whoIsMutedChangesNothingTheySent(account: String) throws {
    let desk = try GroupDesk.desk()
    var content = NotificationContent(type: 100, toType: .group)
    content.groupId = GroupDesk.group
    content.fromAccount = AccountID(account)
    let entry = LogEntry(id: Self.id, audience: Audience(.all), contentJSON: try RecordJSON.text(content))
    let update = try UpdateNotification(
      entry, in: GroupDesk.space, by: Actor(account: AccountID(account)), body: "dong", ext: nil, status: nil)
    #expect(desk.refusal(of: update)?.code == (account == "mo" ? .muted : nil))
  }

  @Test(
    arguments: [("cleo", nil), ("meg", .muted), ("ben", .banned), ("pia", .notMember)]
      as [(String, Refusal.Code?)])
  func norDoesWhoIsSilencedInAChannel(account: String, code: Refusal.Code?) throws {
    var content = NotificationContent(type: 100, toType: .channel)
    (content.serverId, content.channelId) = (ChannelDesk.server, 11)
    content.fromAccount = AccountID(account)
    let entry = LogEntry(
      id: Self.id, audience: Audience(.all, channel: 11, channelHasRoster: true),
      contentJSON: try RecordJSON.text(content))
    let update = try UpdateNotification(
      entry, in: ChannelDesk.space, by: Actor(account: AccountID(account)), body: "dong", ext: nil,
      status: nil)
    #expect(try ChannelDesk.desk().refusal(of: update)?.code == code)
  }

  @Test(arguments: Catalogue.all.filter { $0.updaters == .nobody }.map(\.code) + [18, 0])
  func builtInsStayAsTheyAre(type: Int) throws {
    let desk = try ServerDesk()
    for actor in [ServerDesk.mia, ServerDesk.max, ServerDesk.app] {
      #expect(desk.refusal(of: try update(entry(type: type), by: actor, body: "dong"))?.code == .forbidden)
    }
  }

  /// Only an account that sees the notification learns that it exists, its type, and its sender.
  @Test(arguments: [1, 2, 3, 4, 7, 100])
  func whoDoesNotSeeItIsToldThatItIsNotThere(type: Int) throws {
    let desk = try ServerDesk()
    for (space, audience) in [
      (ServerDesk.space, "named +max"), (ServerDesk.space, "all -adam"),
      (ServerDesk.space, "all roster:12 +max"),
      (.personal("max"), "named +max"), (.direct(9), "named +max,olivia"),
    ] {
      var entry = try entry(type: type)
      entry.id = desk.lastID
      entry.audience = try #require(Audience(text: audience), "\(audience)")
      for actor in [ServerDesk.adam, ServerDesk.sam] {
        let update = try UpdateNotification(
          entry, in: space, by: actor, body: "dong", ext: nil, status: nil)
        #expect(desk.refusal(of: update) == .noNotification(entry.id), "\(audience)")
      }
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
    #expect(transaction.updates.map(\.audience) == [Audience(.all, named: ["max"])])
    #expect(transaction.updates.map(\.time) == [desk.nowMilliseconds])
    #expect(
      Set(transaction.preconditions.keys) == [
        .update(Self.id, in: ServerDesk.space), .settings(ServerDesk.space),
        .member("mia", of: ServerDesk.space), .former("mia", of: ServerDesk.space),
      ])
  }

  /// The content of an entry says its time where its id is ahead of the clock.
  @Test func anUpdateKeepsTheTimeOfItsEntry() throws {
    var content = try #require(NotificationContent(json: try entry().content))
    content.appendedAt = Self.id.unixMilliseconds - 5_000
    let entry = LogEntry(id: Self.id, audience: Audience(.all), contentJSON: content.json)
    #expect(entry.time == content.appendedAt)
    var desk = try ServerDesk()
    desk.nowMilliseconds = Self.id.unixMilliseconds - 4_000
    let notification = try desk.decide(update(entry, body: "dong")).output
    #expect(notification.time == content.appendedAt)
    #expect(notification.updateTime == desk.nowMilliseconds)
    let shown = String(decoding: notification.json, as: UTF8.self)
    #expect(RecordJSON.value(Notification.self, shown)?.time == content.appendedAt)
    let updated = try #require(try desk.carryOut(update(entry, body: "dong"))?.updates.first?.content)
    #expect(updated.appendedAt == content.appendedAt)
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
