import BelfryModel
import ModelSamples
import Synchronization
import TestKit
import Testing

@testable import BelfryStore

/// A mailbox that is full refuses, and loses nothing.
@Suite struct MailboxTests {
  static let limits: Limits = {
    var limits = Limits()
    limits.notificationsPerMailbox = 40
    limits.directMessagesPerMailbox = 20
    limits.unreadPerSender = 25
    return limits
  }()

  private static let sends = Atomic(0)

  private static func send(
    _ accounts: [AccountID], by sender: AccountID?, _ clientId: String? = nil
  ) throws -> SendNotification {
    var content = NotificationContent(type: Catalogue.custom.code, toType: .accounts)
    content.toAccids = accounts
    content.messageClientId = clientId
    content.body = "ding"
    return try SendNotification.sends(
      content, by: Actor(account: sender, isTrusted: sender == nil),
      generatedClientId: "generated \(sends.add(1, ordering: .relaxed).newValue)")[0]
  }

  /// The outcome of each, in the order of the operations: `ok`, or the code of the refusal.
  private static func run(_ operations: [SendNotification], by broker: isolated Broker) async -> [String] {
    var said: [String] = []
    for outcome in await broker.runner.run(operations) {
      switch outcome {
      case .success(let done): said.append(done.duplicateOf == nil ? "ok" : "duplicate")
      case .failure(let refusal): said.append(refusal.code.rawValue)
      }
    }
    return said
  }

  private static func run(
    _ count: Int, to accounts: [AccountID], by sender: AccountID?, _ broker: isolated Broker
  )
    async throws -> Int
  {
    let operations = try (0..<count).map { _ in try send(accounts, by: sender) }
    return await run(operations, by: broker).count { $0 == "ok" }
  }

  /// One after the other or in one call: what is decided in the function is exact.
  @Test func usersFillThreeQuartersAndTrustedBackEndsTheRest() async throws {
    try await withBroker(Self.limits) { broker, _ in
      #expect(try await Self.run(10, to: ["bob"], by: nil, broker) == 10)
      let first = try await broker.log(.personal("bob")).map(\.id)
      #expect(try await Self.run(100, to: ["bob"], by: "eve", broker) == 20)
      #expect(try await Self.run(3, to: ["bob"], by: "mia", broker) == 0)
      #expect(try await Self.run(100, to: ["bob"], by: nil, broker) == 10)
      let log = try await broker.log(.personal("bob")).map(\.id)
      #expect(log.count == 40)
      #expect(Array(log.prefix(10)) == first)
      try await broker.store.sweep(SpaceID.personal("bob").partition)
      #expect(try await broker.log(.personal("bob")).count == 40)
      #expect(try await Self.run(1, to: ["carol"], by: "eve", broker) == 1)
    }
  }

  @Test func oneSenderLeavesRoomForOthers() async throws {
    var limits = Self.limits
    limits.unreadPerSender = 5
    try await withBroker(limits) { broker, _ in
      #expect(try await Self.run(9, to: ["bob"], by: "eve", broker) == 5)
      #expect(try await Self.run(9, to: ["bob", "carol"], by: "eve", broker) == 0)
      // One after the other: each is decided by what has arrived.
      var directMessages = 0
      for _ in 0..<9 { directMessages += try await Self.run(1, to: ["carol", "dave"], by: "eve", broker) }
      #expect(directMessages == 5)
      #expect(try await Self.run(9, to: ["carol"], by: "eve", broker) == 0)
      #expect(try await Self.run(5, to: ["bob"], by: "mia", broker) == 5)
      #expect(try await Self.run(9, to: ["bob"], by: nil, broker) == 9)
      // Bob looks.
      let ids = try await broker.log(.personal("bob")).map(\.id)
      #expect(try await broker.store.marked(ReadMark(items: [ids[0]]), by: "bob") == 1)
      #expect(try await Self.run(9, to: ["bob"], by: "eve", broker) == 5)
    }
  }

  @Test func whatWasSentBeforeIsADuplicateThoughTheMailboxIsFull() async throws {
    try await withBroker(Self.limits) { broker, _ in
      let one = try Self.send(["bob"], by: "eve", "one")
      let directMessage = try Self.send(["bob", "carol"], by: "eve", "two")
      #expect(await Self.run([one, directMessage], by: broker) == ["ok", "ok"])
      #expect(try await Self.run(100, to: ["bob"], by: "eve", broker) == 23)
      #expect(await Self.run([one, directMessage], by: broker) == ["duplicate", "duplicate"])
      #expect(await Self.run([try Self.send(["bob"], by: "eve", "three")], by: broker) == ["mailboxFull"])
    }
  }

  /// All or nothing: carol is sent nothing either.
  @Test func aDirectMessageIsRefusedWhereOneMailboxIsFull() async throws {
    try await withBroker(Self.limits) { broker, _ in
      #expect(try await Self.run(15, to: ["bob", "dave"], by: nil, broker) == 15)
      let known = Set(try await broker.store.index(of: "bob").map(\.space))
      #expect(known.count == 15)
      let refused = await broker.runner.run([try Self.send(["carol", "bob"], by: "eve")])[0]
      #expect(throws: Refusal.mailboxFull(["bob"], field: "toAccids")) { _ = try refused.get() }
      #expect(try await broker.store.index(of: "carol").isEmpty)
      #expect(try await Self.run(5, to: ["carol", "bob"], by: nil, broker) == 5)
      #expect(try await Self.run(1, to: ["carol", "bob"], by: nil, broker) == 0)
      #expect(Set(try await broker.store.index(of: "bob").map(\.space)).isSuperset(of: known))
      let level = try await broker.store.mailboxes(of: ["bob", "carol", "eve"], writtenToBy: "eve")
      #expect(level.map(\.directMessages) == [20, 5, 0])

      let first = try await broker.store.index(of: "bob").filter { known.contains($0.space) }.prefix(8)
      let directMessages = Dictionary(uniqueKeysWithValues: first.map { ($0.space, $0.version) })
      #expect(
        try await broker.store.marked(ReadMark(items: [], directMessages: directMessages), by: "bob") == 0)
      #expect(try await broker.store.mailboxes(of: ["bob"], writtenToBy: nil)[0].directMessages == 12)
      #expect(try await Self.run(9, to: ["carol", "bob"], by: "eve", broker) == 9)
    }
  }

  /// Sends that are decided before earlier ones are relayed can exceed the limit by the number of those
  /// earlier ones, and by no more.
  @Test func directMessagesAtOnceGoBeyondTheLimitByThoseUnderWayOnly() async throws {
    try await withBroker(Self.limits) { broker, _ in
      let count = try await Self.run(25, to: ["bob", "carol"], by: "eve", broker)
      #expect((15...25).contains(count))
      #expect(try await Self.run(5, to: ["bob", "carol"], by: "eve", broker) == 0)
      #expect(try await broker.store.mailboxes(of: ["bob"], writtenToBy: "eve")[0].fromSender == count)
    }
  }

  /// Messages that nobody can see any more make room.
  @Test func directMessagesThatAreTooOldAreNotCounted() async throws {
    var limits = Self.limits
    limits.retentionMilliseconds = 600_000
    var options = RedisServer.Options.debuggable
    let clock = try await ShiftedClock()
    options.clock = clock
    try await withBroker(limits, options) { [limits] broker, redis in
      #expect(try await Self.run(4, to: ["bob", "carol"], by: "eve", broker) == 4)
      #expect(try await broker.store.mailboxes(of: ["bob"], writtenToBy: "eve")[0].directMessages == 4)
      try clock.step(bySeconds: 3_600)
      // A broker looks at Redis's clock every few seconds. One that comes now looks at once.
      try await withBroker(of: redis, limits) { later in
        try await later.store.sweep(SpaceID.personal("bob").partition)
        let level = try await later.store.mailboxes(of: ["bob"], writtenToBy: "eve")[0]
        #expect(level == MailboxLevel())
      }
    }
  }

  /// An update is an entry of the log, too. A later one takes the place of an earlier one, also where nothing more fits in.
  @Test func updatesOfADirectNotificationCountOnce() async throws {
    var limits = Self.limits
    limits.unreadPerSender = 100
    // Users may fill three quarters of a mailbox, 30 entries here.
    try await withBroker(limits) { broker, _ in
      #expect(try await Self.run(29, to: ["bob"], by: "eve", broker) == 29)
      let entries = try await broker.log(.personal("bob"))
      for number in 0..<3 { #expect(try await Self.update(entries[0], "\(number)", broker) == nil) }
      #expect(try await broker.log(.personal("bob")).count == 30)
      #expect(try await Self.update(entries[1], "more", broker) == .mailboxFull(["bob"], field: nil))
      #expect(try await broker.log(.personal("bob")).count == 30)
    }
  }

  private static func update(
    _ entry: LogEntry, _ body: String, _ broker: isolated Broker
  ) async throws -> Refusal? {
    let update = try UpdateNotification(
      entry, in: .personal("bob"), by: Actor(account: "eve"), body: body, ext: nil, status: nil)
    do throws(Refusal) {
      _ = try await broker.runner.run(update)
      return nil
    } catch {
      return error
    }
  }

  /// Invitations go through the outbox, and are counted as what they are.
  @Test func invitationsUseTheInvitersShare() async throws {
    var limits = Self.limits
    limits.unreadPerSender = 3
    try await withBroker(limits) { broker, _ in
      try await broker.makeServer()
      let invite = InviteToServer(
        server, actor: Actor(account: "alice"), accounts: ["bob"], requestId: "1")
      for _ in 0..<3 { _ = try await broker.runner.run(invite) }
      let refused = await broker.runner.run([invite])[0]
      #expect(throws: Refusal.mailboxFull(["bob"], field: "accids")) { _ = try refused.get() }
    }
  }
}
