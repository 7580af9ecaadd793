import BelfryModel
import ModelSamples
import Testing

/// The access to groups: every operation by every kind of account, and in every style if that makes a
/// difference.
struct GroupAccessTests {
  static let kinds: [Actor] =
    ["olga", "adam", "mia", "mo", "ali", "ben", "fay", "ivy", "ann", "sam"].map { Actor(account: $0) } + [
      GroupDesk.app
    ]

  static let table = """
                                 owner      admin      member     muted      allowed    blocked    former     invitee    applicant  stranger   app
    create                       ok         ok         ok         ok         ok         ok         ok         ok         ok         ok         ok
    create for another           forbidden  forbidden  forbidden  forbidden  forbidden  forbidden  forbidden  forbidden  forbidden  forbidden  ok
    update                       ok         ok         forbidden  forbidden  forbidden  notMember  notMember  notMember  notMember  notMember  ok
    destroy                      ok         forbidden  forbidden  forbidden  forbidden  notMember  notMember  notMember  notMember  notMember  ok
    invite, privateOwnerInvites  ok         ok         forbidden  forbidden  forbidden  notFound   notFound   notFound   notFound   notFound   invalidField
    invite, privateMembersInvite ok         ok         ok         ok         ok         notFound   notFound   notFound   notFound   notFound   invalidField
    invite, publicApproval       ok         ok         forbidden  forbidden  forbidden  notMember  notMember  notMember  notMember  notMember  invalidField
    invite, publicOpen           ok         ok         forbidden  forbidden  forbidden  notMember  notMember  notMember  notMember  notMember  invalidField
    accept                       notFound   notFound   notFound   notFound   notFound   banned     notFound   ok         notFound   notFound   invalidField
    decline                      notFound   notFound   notFound   notFound   notFound   banned     notFound   ok         notFound   notFound   invalidField
    apply, privateOwnerInvites   ok         ok         ok         ok         ok         notFound   notFound   notFound   notFound   notFound   invalidField
    apply, privateMembersInvite  ok         ok         ok         ok         ok         notFound   notFound   notFound   notFound   notFound   invalidField
    apply, publicApproval        ok         ok         ok         ok         ok         banned     ok         ok         ok         ok         invalidField
    apply, publicOpen            ok         ok         ok         ok         ok         banned     ok         ok         ok         ok         invalidField
    approve                      ok         ok         forbidden  forbidden  forbidden  notMember  notMember  notMember  notMember  notMember  ok
    disapprove                   ok         ok         forbidden  forbidden  forbidden  notMember  notMember  notMember  notMember  notMember  ok
    leave                        forbidden  ok         ok         ok         ok         notMember  notMember  notMember  notMember  notMember  invalidField
    remove a member              ok         ok         forbidden  forbidden  forbidden  notMember  notMember  notMember  notMember  notMember  ok
    remove an admin              ok         forbidden  forbidden  forbidden  forbidden  notMember  notMember  notMember  notMember  notMember  ok
    remove the owner             forbidden  forbidden  forbidden  forbidden  forbidden  notMember  notMember  notMember  notMember  notMember  forbidden
    hand over                    ok         forbidden  forbidden  forbidden  forbidden  notMember  notMember  notMember  notMember  notMember  ok
    add an admin                 ok         forbidden  forbidden  forbidden  forbidden  notMember  notMember  notMember  notMember  notMember  ok
    remove an admin's role       ok         forbidden  forbidden  forbidden  forbidden  notMember  notMember  notMember  notMember  notMember  ok
    make the owner an admin      forbidden  forbidden  forbidden  forbidden  forbidden  notMember  notMember  notMember  notMember  notMember  forbidden
    allow                        ok         ok         forbidden  forbidden  forbidden  notMember  notMember  notMember  notMember  notMember  ok
    disallow                     ok         ok         forbidden  forbidden  forbidden  notMember  notMember  notMember  notMember  notMember  ok
    block a stranger             ok         ok         forbidden  forbidden  forbidden  notMember  notMember  notMember  notMember  notMember  ok
    block a member               ok         ok         forbidden  forbidden  forbidden  notMember  notMember  notMember  notMember  notMember  ok
    block an admin               ok         forbidden  forbidden  forbidden  forbidden  notMember  notMember  notMember  notMember  notMember  ok
    block the owner              forbidden  forbidden  forbidden  forbidden  forbidden  notMember  notMember  notMember  notMember  notMember  forbidden
    unblock                      ok         ok         forbidden  forbidden  forbidden  notMember  notMember  notMember  notMember  notMember  ok
    mute a member                ok         ok         forbidden  forbidden  forbidden  notMember  notMember  notMember  notMember  notMember  ok
    mute an admin                ok         forbidden  forbidden  forbidden  forbidden  notMember  notMember  notMember  notMember  notMember  ok
    mute the owner               forbidden  forbidden  forbidden  forbidden  forbidden  notMember  notMember  notMember  notMember  notMember  forbidden
    unmute                       ok         ok         forbidden  forbidden  forbidden  notMember  notMember  notMember  notMember  notMember  ok
    mute all                     ok         ok         forbidden  forbidden  forbidden  notMember  notMember  notMember  notMember  notMember  ok
    stop receiving               forbidden  forbidden  ok         ok         ok         notMember  notMember  notMember  notMember  notMember  invalidField
    receive again                ok         ok         ok         ok         ok         notMember  notMember  notMember  notMember  notMember  invalidField
    announce                     ok         ok         forbidden  forbidden  forbidden  notMember  notMember  notMember  notMember  notMember  ok
    share a file                 ok         ok         ok         ok         ok         notMember  notMember  notMember  notMember  notMember  ok
    remove a member's file       ok         ok         ok         forbidden  forbidden  notMember  notMember  notMember  notMember  notMember  ok
    remove a former member's     ok         ok         forbidden  forbidden  forbidden  notMember  notMember  notMember  notMember  notMember  ok
    set own attributes           ok         ok         ok         ok         ok         notMember  notMember  notMember  notMember  notMember  ok
    set a member's attributes    ok         ok         forbidden  forbidden  forbidden  notMember  notMember  notMember  notMember  notMember  ok
    set an admin's attributes    ok         ok         forbidden  forbidden  forbidden  notMember  notMember  notMember  notMember  notMember  ok
    """

  private static let desk = GroupDesk.self

  static let operations: [String: @Sendable (Actor) -> any Operation] = [
    "create": { create($0, $0.account ?? "sue") },
    "create for another": { create($0, "sue") },
    "update": { desk.rename($0) },
    "destroy": { DestroyGroup(desk.group, actor: $0) },
    "invite": { desk.invite($0, ["sue"]) },
    "accept": { desk.answer($0) },
    "decline": { desk.answer($0, isAccepted: false) },
    "apply": { ApplyToGroup(desk.group, actor: $0) },
    "approve": { desk.admit($0) },
    "disapprove": { desk.admit($0, isApproved: false) },
    "leave": { LeaveGroup(desk.group, actor: $0) },
    "remove a member": { desk.remove($0, ["max"]) },
    "remove an admin": { desk.remove($0, ["max", "abe"]) },
    "remove the owner": { desk.remove($0, ["max", "olga"]) },
    "hand over": { desk.handOver($0, to: "max") },
    "add an admin": { desk.admin($0, "max") },
    "remove an admin's role": { desk.admin($0, "abe", false) },
    "make the owner an admin": { desk.admin($0, "olga") },
    "allow": { desk.allow($0, ["max"]) },
    "disallow": { desk.allow($0, ["ali"], false) },
    "block a stranger": { desk.block($0, ["sue"]) },
    "block a member": { desk.block($0, ["max"]) },
    "block an admin": { desk.block($0, ["max", "abe"]) },
    "block the owner": { desk.block($0, ["max", "olga"]) },
    "unblock": { desk.block($0, ["ben"], false) },
    "mute a member": { desk.mute($0, ["max"]) },
    "mute an admin": { desk.mute($0, ["max", "abe"]) },
    "mute the owner": { desk.mute($0, ["max", "olga"]) },
    "unmute": { desk.mute($0, ["mo"], nil) },
    "mute all": { desk.muteAll($0) },
    "stop receiving": { SetGroupReceiving(desk.group, actor: $0, receives: false) },
    "receive again": { SetGroupReceiving(desk.group, actor: $0, receives: true) },
    "announce": { desk.pin($0) },
    "share a file": { desk.addFile($0, 3) },
    "remove a member's file": { desk.removeFile($0, 1) },
    "remove a former member's": { desk.removeFile($0, 2) },
    "set own attributes": { desk.attributes($0, $0.account ?? "mia") },
    "set a member's attributes": { desk.attributes($0, "max") },
    "set an admin's attributes": { desk.attributes($0, "abe") },
  ]

  struct Row: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var operation: @Sendable (Actor) -> any Operation
    var style: GroupStyle
    var results: [String]
  }

  static let rows: [Row] = table.split(separator: "\n").dropFirst().compactMap { line in
    let words = line.split(separator: " ").map(String.init)
    let title = words.dropLast(kinds.count).joined(separator: " ")
    let parts = title.split(separator: ",").map(String.init)
    guard let name = parts.first, let operation = operations[name] else { return nil }
    let style = parts.count > 1 ? GroupStyle(rawValue: String(parts[1].dropFirst())) : .publicApproval
    return style.map {
      Row(testDescription: title, operation: operation, style: $0, results: words.suffix(kinds.count))
    }
  }

  static func create(_ actor: Actor, _ owner: AccountID) -> CreateGroup {
    CreateGroup(id: 6, owner: owner, actor: actor, name: "Loft", style: .publicOpen)
  }

  @Test(arguments: rows)
  func isAllowedOrRefused(row: Row) throws {
    let desk = try GroupDesk.desk(row.style)
    let results = Self.kinds.map { desk.refusal(of: row.operation($0))?.code.rawValue ?? "ok" }
    #expect(results == row.results)
  }

  /// A back end that acts for an account may do all acts of that account, and all acts of an admin.
  @Test(arguments: rows)
  func aBackEndMayDoWhatTheAccountMay(row: Row) throws {
    let desk = try GroupDesk.desk(row.style)
    for (actor, result) in zip(Self.kinds, row.results) where actor.account != nil && result == "ok" {
      let onBehalf = Actor(account: actor.account, isTrusted: true)
      #expect(desk.refusal(of: row.operation(onBehalf)) == nil, "\(actor)")
    }
  }

  @Test(arguments: rows)
  func aDestroyedGroupIsThereForNobody(row: Row) throws {
    var desk = try GroupDesk.desk(row.style)
    try desk.carryOut(DestroyGroup(GroupDesk.group, actor: GroupDesk.olga))
    for actor in Self.kinds {
      let operation = row.operation(actor)
      guard operation.space == GroupDesk.space else { continue }
      #expect(desk.refusal(of: operation)?.code == .notFound)
      #expect(desk.refusal(of: operation)?.field == "groupId")
    }
  }

  /// An operation that is in no row has no rule that anybody looked at.
  @Test func everyOperationHasARow() {
    #expect(Self.rows.count == Self.table.split(separator: "\n").count - 1)
    let tried = Set(Self.rows.map { "\(type(of: $0.operation(GroupDesk.app)))" })
    #expect(tried == Set(Operations.groups.map { "\($0)" } + ["CreateGroup"]))
  }
}
