import BelfryModel
import ModelSamples
import TestKit
import Testing

/// The invariants of a server after any operations of any account.
struct ServerInvariantTests {
  static let accounts: [AccountID] = [
    "olivia", "adam", "mia", "max", "sam", "sue", "ivy", "ben", "fay", "zoe",
  ]
  static let servers = 120
  static let stepsPerServer = 60

  @Test func holdsAfterWhateverHappens() throws {
    var random = SeededGenerator(seed: TestEnvironment.seed)
    var done: Set<String> = []
    for number in 0..<Self.servers {
      var desk = try ServerDesk()
      // Needing approval is seldom chosen otherwise.
      if number.isMultiple(of: 2) { try desk.carryOut(ServerDesk.needsApproval) }
      // Now and then somebody is refused for the number there is.
      desk.limits.membersPerServer = random.oneIn(8) ? 5 : 1_000
      for number in 0..<Self.stepsPerServer {
        let operation = random.serverOperation(number)
        // A refused operation changes nothing.
        guard let transaction = try? desk.carryOut(operation) else { continue }
        done.insert("\(type(of: operation))")
        try holds(desk, after: operation)
        #expect(transaction.changes.keys.allSatisfy { $0.space == ServerDesk.space })
        if random.oneIn(10) { desk.nowMilliseconds += desk.limits.invitationMilliseconds / 3 }
      }
    }
    // Otherwise nothing above has said much.
    #expect(
      done.count == Operations.servers.count - 1,
      "seed \(TestEnvironment.seed), all but removing it: \(done.sorted())")
  }

  private func holds(_ desk: ServerDesk, after operation: any Operation) throws {
    let place = "seed \(TestEnvironment.seed), after \(operation)"
    let settings = try #require(try desk.settings())
    let roster = desk.fields(.roster).compactMap { AccountID($0) }
    let roles = Dictionary(roster.map { ($0, desk.member($0)?.role) }) { first, _ in first }
    #expect(roster.filter { roles[$0] == .owner } == [settings.owner], "\(place)")
    #expect(settings.admins.sorted() == roster.filter { roles[$0] == .admin }.sorted(), "\(place)")
    #expect(roster.allSatisfy { desk.member($0)?.membership.intervals.current != nil }, "\(place)")

    let members = Set(roster.map(\.text))
    #expect(members.isDisjoint(with: desk.fields(.banned)), "\(place)")
    #expect(members.isDisjoint(with: desk.fields(.former)), "\(place)")
    #expect(members.isSuperset(of: desk.fields(.profiles)), "\(place)")
    for account in Self.accounts where members.contains(account.text) || desk.isBanned(account) {
      for kind in [RequestRecord.Kind.invitation, .application] {
        let request = RecordAddress.request(
          RequestID(kind, of: account, in: ServerDesk.space), of: ServerDesk.space)
        #expect(desk.texts[request] == nil, "\(place): \(kind) of \(account)")
      }
    }
  }
}

extension ServerDesk {
  func fields(_ table: RecordTable) -> [String] {
    texts.keys.filter { $0.space == Self.space && $0.table == table }.map(\.field)
  }
  func isBanned(_ account: AccountID) -> Bool { texts[.banned(account, from: Self.space)] != nil }
}

extension SeededGenerator {
  private static let makers: [@Sendable (inout SeededGenerator, Int) -> any Operation] = [
    { random, _ in ServerDesk.invite(random.actor(), random.few()) },
    // To ask and to answer takes two that meet: more of both.
    { random, _ in ServerDesk.invite(random.actor(), [random.one()]) },
    { random, _ in ServerDesk.invite(ServerDesk.olivia, [random.one()]) },
    { random, _ in ServerDesk.answerInvitation(of: random.one(), !random.oneIn(3)) },
    { random, _ in ServerDesk.answerInvitation(of: random.one(), !random.oneIn(3)) },
    { random, _ in ServerDesk.answerInvitation(of: random.one(), !random.oneIn(3)) },
    { random, _ in ServerDesk.apply(random.actor()) },
    { random, _ in ServerDesk.apply(random.actor()) },
    { random, _ in ServerDesk.answerApplication(of: random.one(), by: random.actor(), !random.oneIn(3)) },
    { random, _ in ServerDesk.answerApplication(of: random.one(), by: ServerDesk.app, !random.oneIn(3)) },
    { random, _ in ServerDesk.answerApplication(of: random.one(), by: ServerDesk.app, !random.oneIn(3)) },
    { random, _ in ServerDesk.createCode(random.actor()) },
    { random, _ in ServerDesk.createCode(ServerDesk.app) },
    { random, _ in ServerDesk.revokeCode(random.actor()) },
    { random, _ in ServerDesk.join(random.actor()) },
    { random, _ in ServerDesk.join(Actor(account: random.one())) },
    { random, _ in RefusalTests.add(random.actor(), random.few()) },
    { random, _ in RefusalTests.kick(random.actor(), random.few()) },
    { random, _ in LeaveServer(ServerDesk.server, actor: random.actor()) },
    { random, _ in ServerDesk.ban(random.actor(), random.few()) },
    { random, _ in ServerDesk.unban(random.actor(), random.few()) },
    { random, number in ServerDesk.nick(random.actor(), random.one(), number % 5 == 0 ? "" : "\(number)") },
    { random, number in ServerDesk.announce(random.actor(), 20 + number % 11, random.few()) },
    { random, _ in ServerDesk.mute(random.actor(), random.few(), random.oneIn(2) ? 60_000 : nil) },
    { random, _ in ServerDesk.admin(random.actor(), random.one(), random.oneIn(2)) },
    { random, _ in ServerDesk.handOver(random.actor(), to: random.one()) },
    { random, _ in
      SetSubscription(ServerDesk.server, channel: nil, actor: random.actor(), isSubscribed: random.oneIn(2))
    },
    { random, _ in ServerDesk.subscribe(random.actor(), to: [10, 11, 99]) },
    { random, _ in
      var update = UpdateServer(ServerDesk.server, actor: random.actor())
      update.inviteMode = random.pick(InviteMode.allCases)
      update.applyMode = random.pick(ApplyMode.allCases)
      update.membersMayInvite = random.oneIn(2)
      return update
    },
  ]

  fileprivate mutating func serverOperation(_ number: Int) -> any Operation {
    pick(Self.makers)(&self, number)
  }

  fileprivate mutating func one() -> AccountID { pick(ServerInvariantTests.accounts) }

  fileprivate mutating func few() -> [AccountID] { (0...below(3)).map { _ in one() } }

  /// Anybody, or a trusted caller in the name of somebody or nobody.
  fileprivate mutating func actor() -> Actor {
    if oneIn(3) { return ServerDesk.app }
    return Actor(account: one(), isTrusted: oneIn(6))
  }
}
