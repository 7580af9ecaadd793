import BelfryModel
import ModelSamples
import Testing

struct SendNotificationTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var actor: Actor
    var server: EntityID?
    var channel: EntityID?
    var accounts: [AccountID]?
    /// The audience it goes to, or the code and field of the refusal.
    var result: String

    init(
      _ name: String, _ actor: Actor, server: EntityID? = ServerDesk.server, channel: EntityID? = nil,
      to accounts: [AccountID]? = nil, _ result: String
    ) {
      testDescription = name
      self.actor = actor
      self.server = server
      self.channel = channel
      self.accounts = accounts
      self.result = result
    }
  }

  static let desk = ServerDesk.self
  static let rows: [Row] = [
    Row("to the server", desk.mia, "?"),
    Row("to the server, as an app", desk.app, "?"),
    Row("to the server, as a stranger", desk.sam, "notMember"),
    Row("to the server, as nobody", Actor(account: nil), "notMember"),
    Row("to no server", desk.app, server: 2, "notFound serverId"),
    Row("to a channel of everyone", desk.mia, channel: 13, "? channel:13"),
    Row("to a channel one is in", desk.mia, channel: 11, "? roster:11"),
    Row("to a channel one is not in", desk.mia, channel: 12, "notMember"),
    Row("to a channel, as an app", desk.app, channel: 12, "? roster:12"),
    Row("to no channel", desk.app, channel: 99, "notFound channelId"),
    Row("to named members", desk.mia, to: ["max", "olivia"], "named +max,olivia"),
    Row("to a stranger among members", desk.mia, to: ["max", "sam"], "notFound toAccids"),
    Row("to a stranger, as an app", desk.app, to: ["sam"], "notFound toAccids"),
    Row("to named members of a channel", desk.max, channel: 12, to: ["max"], "named roster:12 +max"),
    Row("to a member not in the channel", desk.app, channel: 12, to: ["mia"], "notFound toAccids"),
    Row("to members in a channel of everyone", desk.mia, channel: 10, to: ["max"], "named channel:10 +max"),
    Row("to a stranger in a channel of everyone", desk.mia, channel: 10, to: ["sam"], "notFound toAccids"),
    Row("to one account", desk.mia, server: nil, to: ["sam"], "named +sam"),
    Row("to several accounts", desk.app, server: nil, to: ["sam", "mia"], "named +sam,mia"),
  ]

  @Test(arguments: rows)
  func reachesOrIsRefused(row: Row) throws {
    var content = NotificationContent(type: 100, toType: .server)
    content.serverId = row.server
    content.channelId = row.channel
    content.toAccids = row.accounts
    content.messageClientId = "m1"
    let send = try #require(
      try SendNotification.sends(content, by: row.actor, generatedClientId: "g1").first)
    let desk = try ServerDesk()
    do throws(Refusal) {
      let transaction = try desk.decide(send).transaction
      #expect(transaction?.announcements.map(\.audience.text) == [row.result])
      #expect(transaction?.announcements.first?.content.body == content.body)
      #expect(Set((transaction?.preconditions ?? [:]).keys) == Set(send.needs))
    } catch {
      let refusal = error
      #expect([refusal.code.rawValue, refusal.field].compactMap(\.self).joined(separator: " ") == row.result)
    }
  }

  // MARK: What is appended

  func send(
    _ actor: Actor, _ change: (inout NotificationContent) -> Void = { _ in }
  ) throws(Refusal) -> [SendNotification] {
    var content = NotificationContent(type: 100, toType: .accounts)
    content.toAccids = ["sam"]
    content.body = "ding"
    change(&content)
    return try SendNotification.sends(content, by: actor, generatedClientId: "g1")
  }

  func transaction(_ send: SendNotification) throws -> Transaction {
    try #require(try ServerDesk().decide(send).transaction)
  }

  @Test func theSenderIsWhoSends() throws {
    let content = try #require(try transaction(send(ServerDesk.mia)[0]).announcements.first?.content)
    #expect(content.fromAccount == "mia")
    #expect(content.fromDeviceId == "mia-1")
    #expect(content.toType == .accounts)
    #expect(content.messageClientId == "g1")
  }

  @Test func nobodySendsAsAnotherButATrustedBackEnd() throws {
    #expect(throws: Refusal.self) { try send(ServerDesk.mia) { $0.fromAccount = "max" } }
    #expect(throws: Never.self) { try send(ServerDesk.mia) { $0.fromAccount = "mia" } }
    let asMax = try send(ServerDesk.app) { $0.fromAccount = "max" }
    #expect(try transaction(asMax[0]).announcements.first?.content.fromAccount == "max")
    let onBehalf = Actor(account: "mia", isTrusted: true)
    #expect(throws: Refusal.self) { try send(onBehalf) { $0.fromAccount = "max" } }
  }

  @Test func limitsAreCheckedBeforeAnythingElse() {
    #expect(throws: Refusal.self) {
      try send(ServerDesk.app) { $0.body = String(repeating: "x", count: Limits.bodyBytes + 1) }
    }
  }

  // MARK: Sending twice

  @Test func onlyAnIdOfTheSendersOwnMakesItRepeatable() throws {
    #expect(try transaction(send(ServerDesk.mia)[0]).dedupe == nil)
    let named = try send(ServerDesk.mia) { $0.messageClientId = "m1" }
    #expect(try transaction(named[0]).dedupe == Dedupe(sender: "mia", messageClientId: "m1"))
  }

  @Test func dedupeIsPerSender() throws {
    let senders = [ServerDesk.mia, ServerDesk.max, ServerDesk.app]
    let keys = try senders.map { actor in
      try transaction(send(actor) { $0.messageClientId = "m1" }[0]).dedupe
    }
    #expect(Set(keys).count == 3)
  }

  // MARK: To accounts

  @Test func oneAccountIsToldInItsOwnSpace() throws {
    let sends = try send(ServerDesk.mia)
    #expect(sends.map(\.space) == [.personal("sam")])
    #expect(try transaction(sends[0]).indexChanges.isEmpty)
  }

  @Test func severalAccountsShareALetter() throws {
    let sends = try send(ServerDesk.mia) { $0.toAccids = ["sam", "max"] }
    #expect(sends.count == 1)
    #expect(sends[0].space.kind == .letter)
    #expect(try transaction(sends[0]).indexChanges == [IndexChange(.joined, ["sam", "max"])])
  }

  @Test func aRepeatedLetterIsTheSameLetter() throws {
    func letter(_ actor: Actor, _ id: String) throws -> SpaceID {
      try send(actor) {
        $0.messageClientId = id
        $0.toAccids = ["sam", "max"]
      }[0].space
    }
    #expect(try letter(ServerDesk.mia, "m1") == letter(ServerDesk.mia, "m1"))
    #expect(try letter(ServerDesk.mia, "m1") != letter(ServerDesk.mia, "m2"))
    #expect(try letter(ServerDesk.mia, "m1") != letter(ServerDesk.max, "m1"))
    #expect(try letter(ServerDesk.app, "m1") != letter(ServerDesk.mia, "m1"))
  }

  @Test func whatIsNeverStoredGoesToEachAccountsOwnSpace() throws {
    let sends = try send(ServerDesk.mia) {
      $0.toAccids = ["sam", "max"]
      $0.setting.persistEnable = false
    }
    #expect(sends.map(\.space) == [.personal("sam"), .personal("max")])
    for (send, account) in zip(sends, ["sam", "max"]) {
      let transaction = try transaction(send)
      #expect(transaction.announcements.map(\.audience.text) == ["named +\(account)"])
      #expect(transaction.indexChanges.isEmpty)
    }
  }
}
