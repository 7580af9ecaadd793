import BelfryModel
import ModelSamples
import Testing

/// Every operation on servers, done by every kind of account: allowed, or refused with which code.
struct ServerAccessTests {
  /// `fay` left, `ben` is banned, `sam` is a stranger, `ivy` is invited; the app acts in nobody's name.
  static let accounts: [AccountID?] = ["olivia", "adam", "mia", "fay", "ben", "sam", "ivy", nil]

  static let table = """
                              owner        admin        member       former       banned       stranger     invitee      app
    create                    ok           ok           ok           ok           ok           ok           ok           ok
    create for another        forbidden    forbidden    forbidden    forbidden    forbidden    forbidden    forbidden    ok
    update                    ok           ok           forbidden    notMember    notMember    notMember    notMember    ok
    remove                    ok           forbidden    forbidden    notMember    notMember    notMember    notMember    ok
    invite                    ok           ok           forbidden    notMember    notMember    notMember    notMember    invalidField
    invite if members may     ok           ok           ok           notMember    notMember    notMember    notMember    invalidField
    accept invitation         conflict     conflict     conflict     notFound     banned       notFound     ok           invalidField
    reject invitation         conflict     conflict     conflict     notFound     banned       notFound     ok           invalidField
    apply                     conflict     conflict     conflict     ok           banned       ok           ok           invalidField
    apply for approval        conflict     conflict     conflict     ok           banned       ok           ok           invalidField
    accept application        ok           ok           forbidden    notMember    notMember    notMember    notMember    ok
    reject application        ok           ok           forbidden    notMember    notMember    notMember    notMember    ok
    create code               ok           ok           forbidden    notMember    notMember    notMember    notMember    ok
    revoke code               ok           ok           forbidden    notMember    notMember    notMember    notMember    ok
    join by code              conflict     conflict     conflict     ok           banned       ok           ok           invalidField
    add                       forbidden    forbidden    forbidden    forbidden    forbidden    forbidden    forbidden    ok
    kick a member             ok           ok           forbidden    notMember    notMember    notMember    notMember    ok
    kick an admin             ok           forbidden    forbidden    notMember    notMember    notMember    notMember    ok
    kick the owner            forbidden    forbidden    forbidden    notMember    notMember    notMember    notMember    forbidden
    leave                     forbidden    ok           ok           notMember    notMember    notMember    notMember    invalidField
    ban a stranger            ok           ok           forbidden    notMember    notMember    notMember    notMember    ok
    ban a member              ok           ok           forbidden    notMember    notMember    notMember    notMember    ok
    ban an admin              ok           forbidden    forbidden    notMember    notMember    notMember    notMember    ok
    ban the owner             forbidden    forbidden    forbidden    notMember    notMember    notMember    notMember    forbidden
    unban                     ok           ok           forbidden    notMember    notMember    notMember    notMember    ok
    mute a member             ok           ok           forbidden    notMember    notMember    notMember    notMember    ok
    mute an admin             ok           forbidden    forbidden    notMember    notMember    notMember    notMember    ok
    announce                  forbidden    forbidden    forbidden    forbidden    forbidden    forbidden    forbidden    ok
    own member info           ok           ok           ok           notMember    notMember    notMember    notMember    ok
    a member's info           ok           ok           forbidden    notMember    notMember    notMember    notMember    ok
    an admin's info           ok           forbidden    forbidden    notMember    notMember    notMember    notMember    ok
    the owner's info          ok           forbidden    forbidden    notMember    notMember    notMember    notMember    ok
    make an admin             ok           forbidden    forbidden    notMember    notMember    notMember    notMember    ok
    unmake an admin           ok           forbidden    forbidden    notMember    notMember    notMember    notMember    ok
    make the owner an admin   forbidden    forbidden    forbidden    notMember    notMember    notMember    notMember    forbidden
    hand over                 ok           forbidden    forbidden    notMember    notMember    notMember    notMember    ok
    subscribe                 ok           ok           ok           notMember    notMember    notMember    notMember    invalidField
    subscribe to channels     ok           ok           ok           notMember    notMember    notMember    notMember    invalidField
    """

  private static let desk = ServerDesk.self

  static let operations: [String: @Sendable (Actor) -> any Operation] = [
    "create": { create($0, owner: $0.account ?? "sam") },
    "create for another": { create($0, owner: "zoe") },
    "update": { RefusalTests.rename($0) },
    "remove": { RemoveServer(ServerDesk.server, actor: $0) },
    "invite": { desk.invite($0, ["zoe"]) },
    "invite if members may": { desk.invite($0, ["zoe"]) },
    "accept invitation": { desk.answerInvitation(of: "ivy", by: $0, true) },
    "reject invitation": { desk.answerInvitation(of: "ivy", by: $0, false) },
    "apply": { desk.apply($0) },
    "apply for approval": { desk.apply($0) },
    "accept application": { desk.answerApplication(of: "ann", by: $0, true) },
    "reject application": { desk.answerApplication(of: "ann", by: $0, false) },
    "create code": {
      CreateInviteCode(ServerDesk.server, actor: $0, code: InviteCode(bits: 1))
    },
    "revoke code": { desk.revokeCode($0) },
    "join by code": { desk.join($0) },
    "add": { RefusalTests.add($0, ["zoe"]) },
    "kick a member": { RefusalTests.kick($0, ["max"]) },
    "kick an admin": { RefusalTests.kick($0, ["abe"]) },
    "kick the owner": { RefusalTests.kick($0, ["olivia"]) },
    "leave": { LeaveServer(ServerDesk.server, actor: $0) },
    "ban a stranger": { desk.ban($0, ["zoe"]) },
    "ban a member": { desk.ban($0, ["max"]) },
    "ban an admin": { desk.ban($0, ["abe"]) },
    "ban the owner": { desk.ban($0, ["olivia"]) },
    "unban": { desk.unban($0, ["ben"]) },
    "mute a member": { desk.mute($0, ["max"]) },
    "mute an admin": { desk.mute($0, ["abe"]) },
    "announce": { desk.announce($0, 26, ["max"]) },
    "own member info": { desk.nick($0, $0.account ?? "mia") },
    "a member's info": { desk.nick($0, "max") },
    "an admin's info": { desk.nick($0, "abe") },
    "the owner's info": { desk.nick($0, "olivia") },
    "make an admin": { desk.admin($0, "max") },
    "unmake an admin": { desk.admin($0, "abe", false) },
    "make the owner an admin": { desk.admin($0, "olivia") },
    "hand over": { desk.handOver($0, to: "max") },
    "subscribe": {
      SetSubscription(ServerDesk.server, channel: nil, actor: $0, isSubscribed: true)
    },
    "subscribe to channels": { desk.subscribe($0, to: [10]) },
  ]

  /// The preparations of some rows, in addition to the common ones.
  static let preparations: [String: any Operation] = [
    "invite if members may": desk.membersMayInvite, "apply for approval": desk.needsApproval,
  ]

  struct Row: Sendable, CustomTestStringConvertible {
    var testDescription: String
    /// For each of the accounts: `ok` or a code.
    var outcomes: [String]
  }

  static let rows: [Row] = table.split(separator: "\n").dropFirst().map { line in
    let words = line.split(separator: " ")
    return Row(
      testDescription: words.dropLast(accounts.count).joined(separator: " "),
      outcomes: words.suffix(accounts.count).map(String.init))
  }

  static func create(_ actor: Actor, owner: AccountID) -> CreateServer {
    CreateServer(id: 2, defaultChannel: 20, owner: owner, actor: actor, name: "Loft")
  }

  private static func cast() throws -> ServerDesk {
    var server = try ServerDesk()
    for step in [
      RefusalTests.add(desk.app, ["abe", "fay"]), desk.admin(desk.olivia, "abe"), RefusalTests.leave("fay"),
      desk.ban(desk.olivia, ["ben"]), desk.invite(desk.olivia, ["ivy"]), desk.createCode(desk.olivia),
      desk.needsApproval, desk.apply(desk.actor("ann")), joinsByApplication,
    ] as [any Operation] { try server.carryOut(step) }
    return server
  }

  private static let joinsByApplication: UpdateServer = {
    var update = UpdateServer(ServerDesk.server, actor: desk.olivia)
    update.applyMode = .joinsAtOnce
    return update
  }()

  @Test(arguments: rows)
  func whoMayDoIt(row: Row) throws {
    let operation = try #require(Self.operations[row.testDescription])
    for (account, outcome) in zip(Self.accounts, row.outcomes) {
      var desk = try Self.cast()
      if let before = Self.preparations[row.testDescription] { try desk.carryOut(before) }
      let actor = Actor(account: account, isTrusted: account == nil)
      #expect(desk.outcome(of: operation(actor)) == outcome, "\(account?.text ?? "app")")
    }
  }

  /// A trusted caller in the name of an account may do what the account may, and all that needs a token.
  @Test(arguments: rows)
  func anAppMayDoItForTheOwner(row: Row) throws {
    let operation = try #require(Self.operations[row.testDescription])
    var desk = try Self.cast()
    if let before = Self.preparations[row.testDescription] { try desk.carryOut(before) }
    let outcome = desk.outcome(of: operation(Actor(account: "olivia", isTrusted: true)))
    #expect(outcome == (row.outcomes.last == "ok" ? "ok" : row.outcomes.first))
  }

  @Test func aRowForEachOperation() throws {
    #expect(Set(Self.rows.map(\.testDescription)) == Set(Self.operations.keys))
    let tested = Set(
      Self.operations.values.map { ObjectIdentifier(type(of: $0(ServerDesk.app) as any Operation)) })
    for type in Operations.servers {
      #expect(tested.contains(ObjectIdentifier(type)), "\(type.name)")
    }
    #expect(tested.count == Operations.servers.count + 1, "and CreateServer")
  }
}

extension ServerDesk {
  fileprivate func outcome(of operation: some Operation) -> String {
    refusal(of: operation)?.code.rawValue ?? "ok"
  }
}
