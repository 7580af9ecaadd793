import BelfryModel
import ModelSamples
import Testing

/// The access to servers: every way in which an operation on a server is refused.
struct RefusalTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var operation: any Operation
    var code: Refusal.Code
    var field: String?
    var prepare: @Sendable (inout ServerDesk) throws -> Void

    init(
      _ name: String, _ operation: any Operation, _ code: Refusal.Code, field: String? = nil,
      when prepare: @escaping @Sendable (inout ServerDesk) throws -> Void = { _ in }
    ) {
      testDescription = name
      self.operation = operation
      self.code = code
      self.field = field
      self.prepare = prepare
    }
  }

  static let desk = ServerDesk.self
  static let server = ServerDesk.server

  static let onServers: [Row] = [
    Row("creating one that exists", create(server), .conflict, field: "serverId"),
    Row("creating one too many", create(2), .tooMany) {
      $0.serversOfEachJoiner = $0.limits.serversPerAccount
    },
    Row("updating none", UpdateServer(2, actor: desk.app), .notFound, field: "serverId"),
    Row("updating as a stranger", rename(desk.sam), .notMember),
    Row("updating as a member", rename(desk.mia), .forbidden),
    Row("updating as nobody", rename(Actor(account: nil)), .invalidField, field: "Belfry-Account"),
    Row("removing as an admin", RemoveServer(server, actor: desk.adam), .forbidden),
    Row("removing what was removed", RemoveServer(server, actor: desk.app), .notFound, field: "serverId") {
      try $0.carryOut(RemoveServer(server, actor: desk.olivia))
    },
    Row("creating what was removed", create(server), .conflict, field: "serverId") {
      try $0.carryOut(RemoveServer(server, actor: desk.olivia))
    },
  ]

  static let onMembers: [Row] = [
    Row("adding without a token for it", add(desk.olivia, ["sam"]), .forbidden),
    Row(
      "adding to none", AddMembers(2, actor: desk.app, accounts: ["sam"], requestId: "r"), .notFound,
      field: "serverId"),
    Row("adding beyond the server's limit", add(desk.app, ["sam", "sue"]), .tooMany) {
      $0.limits.membersPerServer = 5
    },
    Row("adding to one server too many", add(desk.app, ["sam"]), .tooMany) {
      $0.serversOfEachJoiner = $0.limits.serversPerAccount
    },
    Row("kicking as a stranger", kick(desk.sam, ["mia"]), .notMember),
    Row("kicking as a member", kick(desk.mia, ["max"]), .forbidden),
    Row("kicking the owner", kick(desk.adam, ["olivia"]), .forbidden),
    Row("kicking the owner, even as an app", kick(desk.app, ["olivia"]), .forbidden),
    Row("an admin kicking an admin", kick(desk.adam, ["adam"]), .forbidden),
    Row("kicking a stranger", kick(desk.olivia, ["mia", "sam"]), .notFound, field: "accid"),
    Row("kicking nobody", kick(desk.olivia, []), .invalidField, field: "accids"),
    Row("leaving as a stranger", leave("sam"), .notMember),
    Row("leaving as the owner", leave("olivia"), .forbidden),
    Row("leaving what was removed", leave("mia"), .notFound, field: "serverId") {
      try $0.carryOut(RemoveServer(server, actor: desk.olivia))
    },
    Row("subscribing as a stranger", subscribe("sam", nil), .notMember),
    Row("subscribing to no channel", subscribe("mia", 99), .notFound, field: "channelId"),
    Row("subscribing to a channel one is not in", subscribe("max", 11), .notMember, field: "channelId"),
    Row("subscribing to a private one", subscribe("mia", 12), .notFound, field: "channelId"),
    Row("subscribing once kicked", subscribe("mia", nil), .notMember) {
      try $0.carryOut(kick(desk.adam, ["mia"]))
    },
  ]

  static let onChannels: [Row] = [
    Row("opening as an admin", open(desk.adam), .forbidden),
    Row("opening as a stranger", open(desk.sam), .notMember),
    Row("opening one that exists", open(desk.olivia, id: 11), .conflict, field: "channelId"),
    Row("opening one too many", open(desk.olivia), .tooMany) { $0.limits.channelsPerServer = 4 },
    Row(
      "a private one of everyone", open(desk.olivia, type: .private, membership: .everyone), .invalidField,
      field: "membership"),
    Row(
      "with a stranger in its roster", open(desk.olivia, members: ["mia", "sam"]), .notFound, field: "members"
    ),
    Row("updating as a member", UpdateChannel(server, id: 11, actor: desk.mia), .forbidden),
    Row("updating none", UpdateChannel(server, id: 99, actor: desk.olivia), .notFound, field: "channelId"),
    Row("closing as an admin", RemoveChannel(server, id: 11, actor: desk.adam), .forbidden),
    Row("closing the default channel", RemoveChannel(server, id: 10, actor: desk.olivia), .forbidden),
    Row("closing none", RemoveChannel(server, id: 99, actor: desk.olivia), .notFound, field: "channelId"),
  ]

  @Test(arguments: onServers + onMembers + onChannels)
  func isRefused(row: Row) throws {
    var desk = try ServerDesk()
    try row.prepare(&desk)
    let refusal = desk.refusal(of: row.operation)
    #expect(refusal?.code == row.code)
    #expect(refusal?.field == row.field)
    #expect(refusal?.detail.isEmpty == false)
    #expect(refusal?.operationNames == [])
  }

  /// A record that cannot be read is not decided on.
  @Test func unreadableRecordsAreUnavailable() throws {
    for address in [RecordAddress.settings(ServerDesk.space), .member("mia", of: ServerDesk.space)] {
      var texts: [RecordAddress: String?] = [:]
      for need in Self.leave("mia").needs { texts[need] = try ServerDesk().texts[need] }
      texts[address] = "?!"
      let records = Records(texts)
      let context = DecisionContext(nowMilliseconds: 0, limits: Limits())
      #expect(throws: Refusal.self) { try Self.leave("mia").decide(records, context: context) }
    }
  }

  // MARK: The operations of the tables

  static func create(_ id: EntityID) -> CreateServer {
    CreateServer(id: id, defaultChannel: 10, owner: "mia", actor: desk.mia, name: "Loft")
  }
  static func rename(_ actor: Actor) -> UpdateServer {
    var update = UpdateServer(server, actor: actor)
    update.serverName = "Spire"
    return update
  }
  static func add(_ actor: Actor, _ accounts: [AccountID]) -> AddMembers {
    AddMembers(server, actor: actor, accounts: accounts, requestId: "r2")
  }
  static func kick(_ actor: Actor, _ accounts: [AccountID]) -> KickMembers {
    KickMembers(server, actor: actor, accounts: accounts)
  }
  static func leave(_ account: AccountID) -> LeaveServer {
    LeaveServer(server, actor: Actor(account: account))
  }
  static func subscribe(_ account: AccountID, _ channel: EntityID?) -> SetSubscription {
    SetSubscription(server, channel: channel, actor: Actor(account: account), isSubscribed: true)
  }
  static func open(
    _ actor: Actor, id: EntityID = 20, type: ChannelRecord.Kind = .public,
    membership: ChannelRecord.Membership = .roster, members: [AccountID] = []
  ) -> CreateChannel {
    CreateChannel(
      server, id: id, actor: actor, name: "wheel", type: type, membership: membership, members: members)
  }
}
