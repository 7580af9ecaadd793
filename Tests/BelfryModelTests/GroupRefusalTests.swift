import BelfryModel
import ModelSamples
import Testing

/// Refusals in a group that do not depend on the caller.
struct GroupRefusalTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var operation: any Operation
    var code: Refusal.Code
    var field: String?
    var prepare: @Sendable (inout Desk) throws -> Void

    init(
      _ name: String, _ operation: any Operation, _ code: Refusal.Code, field: String? = nil,
      when prepare: @escaping @Sendable (inout Desk) throws -> Void = { _ in }
    ) {
      testDescription = name
      self.operation = operation
      self.code = code
      self.field = field
      self.prepare = prepare
    }
  }

  private static let desk = GroupDesk.self
  private static let group = GroupDesk.group
  private static let crowd = (0...Limits.accountsPerCall).compactMap { AccountID("a\($0)") }
  private static let long = String(repeating: "x", count: 5_000)

  static let lifecycle: [Row] = [
    Row("creating one that exists", desk.create(group), .conflict, field: "groupId"),
    Row("creating one that was destroyed", desk.create(group), .conflict, field: "groupId") {
      try $0.carryOut(DestroyGroup(group, actor: desk.olga))
    },
    Row("creating one too many", desk.create(), .tooMany) {
      $0.spacesOfEachJoiner = $0.limits.groupsPerAccount
    },
    Row("creating one without a name", creating { $0.groupName = "" }, .invalidField, field: "name"),
    Row("creating one with a long name", creating { $0.groupName = long }, .invalidField, field: "name"),
    Row("describing at length", creating { $0.description = long }, .invalidField, field: "description"),
    Row("creating one with a long ext", creating { $0.ext = long }, .invalidField, field: "ext"),
    Row("creating one for nobody", creating { $0.maxMembers = 0 }, .invalidField, field: "maxMembers"),
    Row("creating one for too many", creating { $0.maxMembers = 5_001 }, .invalidField, field: "maxMembers"),
    Row("inviting a crowd at first", creating { $0.invitees = crowd }, .invalidField, field: "invitees"),
    Row("inviting for a long reason", asking { $0.reason = long }, .invalidField, field: "reason"),
    Row(
      "inviting more than it holds",
      asking {
        $0.maxMembers = 2
        $0.inviteNeedConfirm = false
      }, .tooMany),
    Row("updating none", UpdateGroup(6, actor: desk.olga), .notFound, field: "groupId"),
    Row("leaving no name", desk.rename(desk.olga, ""), .invalidField, field: "name"),
    Row("holding fewer than there are", desk.holding(6), .invalidField, field: "maxMembers"),
  ]

  static let comingIn: [Row] = [
    Row("inviting nobody", desk.invite(desk.olga, []), .invalidField, field: "accids"),
    Row("inviting a crowd", desk.invite(desk.olga, crowd), .invalidField, field: "accids"),
    Row("inviting the blocked", desk.invite(desk.olga, ["sam", "ben"]), .banned, field: "accids"),
    Row("inviting into a full group", desk.invite(desk.olga, ["zed"]), .tooMany) {
      try $0.carryOut(desk.holding(7))
    },
    Row(
      "inviting who is in too many",
      desk.invite(Actor(account: "olga", isTrusted: true), ["zed"]), .tooMany
    ) {
      $0.spacesOfEachJoiner = $0.limits.groupsPerAccount
    },
    Row(
      "inviting with a long message",
      InviteToGroup(group, actor: desk.olga, accounts: ["sam"], message: long), .invalidField,
      field: "message"),
    Row("accepting into a full group", desk.answer(Actor(account: "ivy")), .tooMany) {
      try $0.carryOut(desk.holding(7))
    },
    Row("accepting beyond the deployment's limit", desk.answer(Actor(account: "ivy")), .tooMany) {
      $0.limits.membersPerGroup = 7
    },
    Row("accepting too late", desk.answer(Actor(account: "ivy")), .notFound, field: "requestId") {
      $0.nowMilliseconds += $0.limits.invitationMilliseconds
    },
    Row("accepting twice", desk.answer(Actor(account: "ivy")), .notFound, field: "requestId") {
      try $0.carryOut(desk.answer(Actor(account: "ivy")))
    },
    Row("accepting after declining", desk.answer(Actor(account: "ivy")), .notFound, field: "requestId") {
      try $0.carryOut(desk.answer(Actor(account: "ivy"), isAccepted: false))
    },
    Row("accepting when blocked since", desk.answer(Actor(account: "ivy")), .banned) {
      try $0.carryOut(desk.block(desk.olga, ["ivy"]))
    },
    Row(
      "accepting an application", answering(desk.application("ann"), as: "ann"), .notFound, field: "requestId"
    ),
    Row(
      "approving an invitation",
      AnswerGroupApplication(group, actor: desk.olga, request: desk.invitation("ivy"), isApproved: true),
      .notFound, field: "requestId"),
    Row("approving when blocked since", desk.admit(desk.olga), .notFound, field: "requestId") {
      try $0.carryOut(desk.block(desk.olga, ["ann"]))
    },
    Row("approving who was invited in since", desk.admit(desk.olga), .notFound, field: "requestId") {
      try $0.carryOut(desk.asking(false))
      try $0.carryOut(desk.invite(desk.olga, ["ann"]))
    },
    Row("approving into a full group", desk.admit(desk.olga), .tooMany) {
      try $0.carryOut(desk.holding(7))
    },
    Row("approving who is in too many", desk.admit(desk.olga), .tooMany) {
      $0.spacesOfEachJoiner = $0.limits.groupsPerAccount
    },
  ]

  static let running: [Row] = [
    Row("removing nobody", desk.remove(desk.olga, []), .invalidField, field: "accids"),
    Row("removing a stranger", desk.remove(desk.olga, ["mia", "sam"]), .notFound, field: "accids"),
    Row("an admin removing themselves", desk.remove(desk.adam, ["adam"]), .forbidden),
    Row("handing over to a stranger", desk.handOver(desk.olga, to: "sam"), .notFound, field: "accid"),
    Row("making a stranger an admin", desk.admin(desk.olga, "sam"), .notFound, field: "accid"),
    Row("one admin too many", desk.admin(desk.olga, "mia"), .tooMany) { desk in
      var group = try #require(desk.group)
      group.admins = (1...Limits.adminsPerSpace).compactMap { AccountID("admin\($0)") }
      desk.texts[.settings(GroupDesk.space)] = try RecordJSON.text(group)
    },
    Row("allowing a stranger", desk.allow(desk.olga, ["mia", "sam"]), .notFound, field: "accids"),
    Row("blocking nobody", desk.block(desk.olga, []), .invalidField, field: "accids"),
    Row("muting a stranger", desk.mute(desk.olga, ["mia", "sam"]), .notFound, field: "accids"),
    Row("muting for no time", desk.mute(desk.olga, ["mia"], 0), .invalidField, field: "durationMilliseconds"),
    Row(
      "muting for longer than a year", desk.mute(desk.olga, ["mia"], Limits.muteMaximumMilliseconds + 1),
      .invalidField, field: "durationMilliseconds"),
    Row("announcing at length", desk.pin(desk.olga, long), .invalidField, field: "announcement"),
    Row("sharing a file again", desk.addFile(desk.mia, 1), .conflict, field: "fileId"),
    Row("sharing a file without a name", desk.addFile(desk.mia, 3, name: ""), .invalidField, field: "name"),
    Row("sharing a long name", desk.addFile(desk.mia, 3, name: long), .invalidField, field: "name"),
    Row("sharing a file that is nowhere", file(url: "", bytes: 1), .invalidField, field: "url"),
    Row("sharing a long URL", file(url: long, bytes: 1), .invalidField, field: "url"),
    Row("sharing less than nothing", file(url: "x", bytes: -1), .invalidField, field: "size"),
    Row("removing no file", desk.removeFile(desk.olga, 3), .notFound, field: "fileId"),
    Row("attributes of a stranger", desk.attributes(desk.olga, "sam"), .notFound, field: "accid"),
    Row(
      "an attribute without a name", desk.attributes(desk.mia, "mia", ["": "treble"]), .invalidField,
      field: "attributes"),
    Row(
      "attributes that are too long together", desk.attributes(desk.mia, "mia", ["b": long]), .invalidField,
      field: "attributes"),
    Row(
      "choosing another's options", UpdateAccount("olga", actor: desk.mia, autoAcceptInvitation: true),
      .forbidden),
  ]

  @Test(arguments: lifecycle + comingIn + running)
  func isRefused(row: Row) throws {
    var desk = try GroupDesk.desk()
    try row.prepare(&desk)
    let refusal = desk.refusal(of: row.operation)
    #expect(refusal?.code == row.code)
    #expect(refusal?.field == row.field)
    #expect(refusal?.detail.isEmpty == false)
    #expect(refusal?.operationNames == [])
  }

  /// Each of these fills a table to its limit; what is there already may be written again.
  @Test func fullTablesTakeNoMore() throws {
    var desk = try GroupDesk.desk()
    for number in 3...(Limits.filesPerGroup as Int) {
      desk.texts[RecordAddress(GroupDesk.space, .files, "\(number)")] = "{}"
    }
    #expect(desk.refusal(of: GroupDesk.addFile(GroupDesk.mia, 5_000))?.code == .tooMany)
    try desk.carryOut(GroupDesk.removeFile(GroupDesk.mia, 1))
    let transaction = try desk.carryOut(GroupDesk.addFile(GroupDesk.mia, 5_000))
    #expect(transaction?.ceilings == [.files: Limits.filesPerGroup])
  }

  // MARK: The operations of the tables

  private static func creating(_ change: (inout CreateGroup) -> Void) -> CreateGroup {
    var create = desk.create()
    change(&create)
    return create
  }
  private static func asking(_ change: (inout CreateGroup) -> Void) -> CreateGroup {
    var create = desk.create(6, .privateOwnerInvites, ["sam", "sue"])
    change(&create)
    return create
  }
  private static func answering(_ request: RequestID, as account: AccountID) -> AnswerGroupInvitation {
    AnswerGroupInvitation(group, actor: Actor(account: account), request: request, isAccepted: true)
  }
  private static func file(url: String, bytes: Int64) -> AddGroupFile {
    AddGroupFile(group, id: 3, actor: desk.mia, name: "method.pdf", url: url, sizeBytes: bytes)
  }
}
