import BelfryModel
import ModelSamples

/// Server 1: `olivia` is its owner, `adam` an admin, `mia` and `max` are members; `sam` is a stranger.
/// Channel 10 is the default one, 11 a public one with a roster (mia in it), 12 a private one (max in it),
/// 13 another one of everyone's.
struct ServerDesk {
  static let server: EntityID = 1
  static let space = SpaceID.server(server)

  static let olivia = Actor(account: "olivia", device: "olivia-1")
  static let adam = Actor(account: "adam")
  static let mia = Actor(account: "mia", device: "mia-1")
  static let max = Actor(account: "max")
  static let sam = Actor(account: "sam")
  static let app = Actor(account: nil, isTrusted: true)

  var desk: Desk

  init() throws { desk = try Desk(Self.history) }

  private static let history: [any Operation] = [
    CreateServer(id: server, defaultChannel: 10, owner: "olivia", actor: olivia, name: "Tower"),
    AddMembers(server, actor: app, accounts: ["adam", "mia", "max"], requestId: "r1"),
    SetAdmin(server, actor: olivia, account: "adam", isAdmin: true),
    CreateChannel(
      server, id: 11, actor: app, name: "ropes", type: .public, membership: .roster, members: ["mia"]),
    CreateChannel(
      server, id: 12, actor: app, name: "bells", type: .private, membership: .roster, members: ["max"]),
    CreateChannel(
      server, id: 13, actor: app, name: "stairs", type: .public, membership: .everyone, members: []),
  ]

  func decide<Op: Operation>(_ operation: Op) throws(Refusal) -> Decision<Op.Output> {
    try desk.decide(operation)
  }
  func refusal<Op: Operation>(of operation: Op) -> Refusal? { desk.refusal(of: operation) }
  @discardableResult
  mutating func carryOut<Op: Operation>(_ operation: Op) throws(Refusal) -> Transaction? {
    try desk.carryOut(operation)
  }

  static let start = Desk.start
  var texts: [RecordAddress: String] { desk.texts }
  var lastID: MessageID { desk.lastID }
  var limits: Limits {
    get { desk.limits }
    set { desk.limits = newValue }
  }
  var serversOfEachJoiner: Int {
    get { desk.spacesOfEachJoiner }
    set { desk.spacesOfEachJoiner = newValue }
  }
  var nowMilliseconds: Int64 {
    get { desk.nowMilliseconds }
    set { desk.nowMilliseconds = newValue }
  }
  func member(_ account: AccountID) -> MemberRecord? { desk.member(account, of: Self.space) }
  func former(_ account: AccountID) -> MemberRecord? { desk.former(account, of: Self.space) }
  func isInRoster(_ account: AccountID, of channel: EntityID) -> Bool {
    texts[.channelMember(account, channel: channel, of: Self.space)] != nil
  }
  func settings() throws -> ServerRecord? { desk.settings(ServerRecord.self, Self.space) }
}
