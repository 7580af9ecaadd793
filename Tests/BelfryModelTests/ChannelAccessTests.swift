import BelfryModel
import ModelSamples
import Testing

/// The access to channels: every operation for every kind of account, also towards other accounts.
struct ChannelAccessTests {
  /// The outcome of an operation: `yes`, `same` if all is already as asked, or the code of the refusal.
  static func outcome(of operation: some Operation, on desk: Desk) -> String {
    do {
      return try desk.decide(operation).transaction == nil ? "same" : "yes"
    } catch {
      return error.code.rawValue
    }
  }

  struct Row: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var steps: [any Operation]
    var operations: [any Operation]
    var outcomes: [String]

    init<Subject>(
      _ name: String, _ subjects: [Subject], _ outcomes: String, after steps: [any Operation] = [],
      _ operation: (Subject) -> any Operation
    ) {
      testDescription = name
      self.steps = steps
      operations = subjects.map(operation)
      self.outcomes = outcomes.split(separator: " ").map(String.init)
    }
  }

  // MARK: Who acts

  static let actors: [Actor] =
    [ServerDesk.olivia, ServerDesk.adam]
    + (["cleo", "pia", "meg", "ben", "ann", "fay", "sam"] as [AccountID]).map { Actor(account: $0) }
    + [ServerDesk.app, Actor(account: "pia", isTrusted: true)]

  static func byActor(
    _ name: String, _ outcomes: String, after steps: [any Operation] = [],
    _ operation: (Actor) -> any Operation
  ) -> Row { Row(name, actors, outcomes, after: steps, operation) }

  static let administrators =
    "yes yes forbidden forbidden forbidden forbidden forbidden notMember notMember yes yes"
  /// An account that does not see a private channel is told that it does not exist.
  static let administratorsOfPrivate =
    "yes yes forbidden notFound forbidden notFound forbidden notMember notMember yes yes"
  static let ownerAlone =
    "yes forbidden forbidden forbidden forbidden forbidden forbidden notMember notMember yes yes"
  static let nobody =
    "forbidden forbidden forbidden forbidden forbidden forbidden forbidden notMember notMember forbidden forbidden"

  private static let desk = ChannelDesk.self
  private static let server = ServerDesk.server

  // Columns:  owner admin member plain muted blocked allowed former stranger app app-for-plain
  static let ofActors: [Row] = [
    byActor("create", ownerAlone) { RefusalTests.open($0) },
    byActor("create where admins may", administrators, after: [adminsMayCreate]) { RefusalTests.open($0) },
    byActor("update", administrators) { desk.rename(11, $0) },
    byActor("destroy", ownerAlone) { desk.close(11, $0) },
    byActor("destroy the default one", nobody) { desk.close(10, $0) },
    byActor(
      "join a public one", "yes yes same yes same banned yes notMember notMember invalidField yes"
    ) { JoinChannel(server, id: 11, actor: $0) },
    byActor(
      "join a private one", "yes yes same notFound same notFound yes notMember notMember invalidField yes"
    ) { JoinChannel(server, id: 12, actor: $0) },
    byActor(
      "join everyone's",
      "conflict conflict conflict conflict conflict banned conflict notMember notMember invalidField conflict"
    ) { JoinChannel(server, id: 13, actor: $0) },
    byActor(
      "leave a public one",
      "notMember notMember yes notMember yes banned notMember notMember notMember invalidField notMember"
    ) { LeaveChannel(server, id: 11, actor: $0) },
    byActor(
      "leave a private one",
      "notMember notMember yes notFound yes notFound notMember notMember notMember invalidField notMember"
    ) { LeaveChannel(server, id: 12, actor: $0) },
    byActor(
      "leave everyone's",
      "forbidden forbidden forbidden forbidden forbidden banned forbidden notMember notMember invalidField forbidden"
    ) { LeaveChannel(server, id: 13, actor: $0) },
    byActor(
      "leave the default one",
      "forbidden forbidden forbidden forbidden forbidden forbidden forbidden notMember notMember invalidField"
        + " forbidden"
    ) { LeaveChannel(server, id: 10, actor: $0) },
    byActor(
      "invite to a public one",
      "notMember notMember yes notMember yes banned notMember notMember notMember yes yes"
    ) { InviteToChannel(server, id: 11, actor: $0, accounts: ["ida"], postscript: nil) },
    byActor(
      "invite to a private one",
      "notMember notMember yes notFound yes notFound notMember notMember notMember yes yes"
    ) { InviteToChannel(server, id: 12, actor: $0, accounts: ["ida"], postscript: nil) },
    byActor(
      "invite to everyone's",
      "conflict conflict conflict conflict conflict banned conflict notMember notMember conflict conflict"
    ) { InviteToChannel(server, id: 13, actor: $0, accounts: ["ida"], postscript: nil) },
    byActor(
      "answer another's invitation",
      "notFound notFound notFound notFound notFound notFound notFound notMember notMember invalidField notFound"
    ) {
      AnswerChannelInvitation(
        server, id: 11, request: desk.request(11, "ida"), actor: $0, isAccepted: true, postscript: nil)
    },
    byActor("remove from a public one", administrators) { desk.remove(11, $0, ["mia"]) },
    byActor("remove from a private one", administratorsOfPrivate) { desk.remove(12, $0, ["max"]) },
    byActor("remove from everyone's", nobody) { desk.remove(13, $0, ["mia"]) },
    byActor("allow", administratorsOfPrivate) { desk.list(12, $0, .allow, ["mia"]) },
    byActor("no longer allow", administratorsOfPrivate) { desk.list(12, $0, .allow, adds: false, ["ann"]) },
    byActor("block", administrators) { desk.list(13, $0, .block, ["mia"]) },
    byActor("block from the default one", nobody) { desk.list(10, $0, .block, ["mia"]) },
    byActor("unblock", administrators) { desk.list(13, $0, .block, adds: false, ["ben"]) },
    byActor("mute", administrators) { desk.mute(11, $0, ["mia"]) },
    byActor("unmute", administrators) { desk.unmute(11, $0, ["meg"]) },
  ]

  private static var adminsMayCreate: UpdateServer {
    var update = UpdateServer(server, actor: ServerDesk.olivia)
    update.adminsMayCreateChannels = true
    return update
  }

  // MARK: To whom

  static let targets: [AccountID] = ["olivia", "adam", "cleo", "pia", "meg", "ben", "ann", "fay", "sam"]

  static func byTarget(
    _ name: String, _ outcomes: String, after steps: [any Operation] = [],
    _ operation: (AccountID) -> any Operation
  ) -> Row { Row(name, targets, outcomes, after: steps, operation) }

  private static let adam = ServerDesk.adam
  private static let olivia = ServerDesk.olivia
  /// The owner and the admin are in the roster of channel 11, too.
  private static let joined: [any Operation] = [desk.join(11, "olivia"), desk.join(11, "adam")]

  // Columns:  owner admin member plain muted blocked allowed former stranger
  static let ofTargets: [Row] = [
    byTarget("create with", "yes yes yes yes yes yes yes notFound notFound") {
      RefusalTests.open(olivia, members: [$0])
    },
    byTarget("invite", "yes yes conflict yes conflict banned yes notFound notFound") {
      desk.invite(11, "cleo", [$0])
    },
    byTarget(
      "remove, as admin", "forbidden forbidden yes notFound yes notFound notFound notFound notFound",
      after: joined
    ) { desk.remove(11, adam, [$0]) },
    byTarget(
      "remove, as owner", "forbidden yes yes notFound yes notFound notFound notFound notFound", after: joined
    ) { desk.remove(11, olivia, [$0]) },
    byTarget("allow", "yes yes yes yes yes yes same notFound notFound") { desk.list(12, adam, .allow, [$0]) },
    byTarget("no longer allow", "same same same same same same yes same same") {
      desk.list(12, adam, .allow, adds: false, [$0])
    },
    byTarget("block", "forbidden forbidden yes yes yes same yes notFound notFound") {
      desk.list(11, olivia, .block, [$0])
    },
    byTarget("block as an app", "forbidden forbidden yes yes yes same yes notFound notFound") {
      desk.list(11, desk.app, .block, [$0])
    },
    byTarget("unblock", "same same same same same yes same same same") {
      desk.list(11, adam, .block, adds: false, [$0])
    },
    byTarget(
      "mute in a roster, as admin",
      "forbidden forbidden yes notFound yes notFound notFound notFound notFound",
      after: joined
    ) { desk.mute(11, adam, [$0]) },
    byTarget(
      "mute among everyone, as admin", "forbidden forbidden yes yes yes notFound yes notFound notFound"
    ) { desk.mute(13, adam, [$0]) },
    byTarget("mute among everyone, as owner", "forbidden yes yes yes yes notFound yes notFound notFound") {
      desk.mute(13, olivia, [$0])
    },
    byTarget("unmute, as admin", "same forbidden same same yes same same yes same", after: [adminIsMuted]) {
      desk.unmute(13, adam, [$0])
    },
    byTarget("unmute, as owner", "same yes same same yes same same yes same", after: [adminIsMuted]) {
      desk.unmute(13, olivia, [$0])
    },
  ]

  private static let adminIsMuted = desk.mute(13, olivia, ["adam"])

  @Test(arguments: ofActors + ofTargets)
  func may(row: Row) throws {
    var desk = try ChannelDesk.desk()
    for step in row.steps { _ = try desk.carryOut(step) }
    #expect(row.operations.map { Self.outcome(of: $0, on: desk) } == row.outcomes)
  }

  @Test func theTablesHoldEveryOperation() {
    let tested = Set((Self.ofActors + Self.ofTargets).flatMap(\.operations).map { "\(type(of: $0))" })
    #expect(tested == Set(Operations.channels.map { "\($0)" }))
  }
}
