import BelfryModel
import ModelSamples
import Testing

struct SendNotificationTests {
  // MARK: The appended entries

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

  /// A batch reads all records together that its lines need. One line may need as many records, since the
  /// sender is named, too. A record of another line cannot be compared in this one's space.
  @Test func onlyWhatTheSendNeedsHasToBeUnchanged() throws {
    let send = try send(Actor(account: "mia")) {
      ($0.toType, $0.serverId, $0.toAccids) = (.server, 1, ["mia"])
    }[0]
    let desk = try SendDesk.desk()
    let needs = Set(send.needs)
    let read = needs.union([.settings(SendDesk.groups[0])])
    #expect(read.count == send.needs.count)
    let texts = Dictionary(uniqueKeysWithValues: read.map { ($0, desk.texts[$0]) })
    let decision = try send.decide(
      Records(texts), context: DecisionContext(nowMilliseconds: desk.nowMilliseconds, limits: Limits()))
    #expect(Set(try #require(decision.transaction).preconditions.keys) == needs)
  }

  // MARK: Sending twice

  @Test func onlyAnIdOfTheSendersOwnMakesItRepeatable() throws {
    #expect(try send(ServerDesk.mia)[0].repetition == nil)
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
    #expect(sends[0].space.kind == .direct)
    #expect(try transaction(sends[0]).indexChanges == [IndexChange(.joined, ["sam", "max"])])
  }

  @Test func aRepeatedDirectMessageIsTheSameDirectMessage() throws {
    func directMessage(_ actor: Actor, _ id: String) throws -> SpaceID {
      try send(actor) {
        $0.messageClientId = id
        $0.toAccids = ["sam", "max"]
      }[0].space
    }
    #expect(try directMessage(ServerDesk.mia, "m1") == directMessage(ServerDesk.mia, "m1"))
    #expect(try directMessage(ServerDesk.mia, "m1") != directMessage(ServerDesk.mia, "m2"))
    #expect(try directMessage(ServerDesk.mia, "m1") != directMessage(ServerDesk.max, "m1"))
    #expect(try directMessage(ServerDesk.app, "m1") != directMessage(ServerDesk.mia, "m1"))
  }

  @Test func nobodyTakesAnothersDirectMessage() throws {
    let (one, other) = CollidingNames.accounts
    #expect(StableHash.fnv1a("\(one) m1") == StableHash.fnv1a("\(other) m1"))
    func directMessage(_ account: AccountID) throws -> SpaceID {
      try send(Actor(account: account)) {
        $0.messageClientId = "m1"
        $0.toAccids = ["sam", "max"]
      }[0].space
    }
    #expect(try directMessage(one) != directMessage(other))
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
