import BelfryModel
import ModelSamples
import Testing

/// The records that operations on groups leave.
struct GroupOperationTests {
  private static let desk = GroupDesk.self
  private static let space = GroupDesk.space
  var desk: Desk

  init() throws { desk = try GroupDesk.desk() }

  // MARK: Its beginning and its end

  @Test(arguments: GroupStyle.allCases)
  mutating func aGroupIsListedIfItIsPublic(style: GroupStyle) throws {
    let create = GroupDesk.create(6, style)
    let transaction = try #require(try desk.carryOut(create))
    let group = try #require(desk.settings(GroupRecord.self, create.space))
    let isPublic = style == .publicApproval || style == .publicOpen
    #expect(
      transaction.listing
        == (isPublic ? ListingChange(.groups, isListed: true, createdAt: group.createdAt) : nil))
    #expect(group.owner == "mia")
    #expect(group.inviteNeedConfirm)
    #expect(group.maxMembers == desk.limits.membersPerGroup)
    #expect(desk.member("mia", of: create.space)?.role == .owner)
    #expect(transaction.indexChanges == [IndexChange(.joined, ["mia"])])

    let end = try #require(try desk.carryOut(DestroyGroup(6, actor: GroupDesk.mia)))
    #expect(end.listing?.isListed == (isPublic ? false : nil))
    #expect(end.listing?.createdAt == transaction.listing?.createdAt)
    #expect(desk.settings(GroupRecord.self, create.space)?.removedAt == desk.nowMilliseconds)
    // A member who comes back later still learns of it.
    #expect(desk.member("mia", of: create.space)?.membership.intervals.contains(desk.lastID) == true)
  }

  @Test mutating func firstInviteesAreAskedOrIn() throws {
    let create = GroupDesk.create(6, .privateOwnerInvites, ["sam", "zed", "mia", "sam"])
    let request = RequestID(.invitation, of: "sam", in: create.space)
    let invitations = try desk.decide(create).output
    #expect(invitations.joined == ["zed"])
    #expect(invitations.asked.map(\.account) == ["sam"])
    #expect(invitations.asked.map(\.request) == [request])
    try desk.carryOut(create)
    #expect(desk.member("zed", of: create.space)?.role == .member)
    #expect(desk.member("sam", of: create.space) == nil)
    try desk.carryOut(
      AnswerGroupInvitation(6, actor: GroupDesk.sam, request: request, isAccepted: true))
    #expect(desk.member("sam", of: create.space)?.role == .member)
  }

  @Test mutating func optionsAndDescriptionsAreSetAndCleared() throws {
    var update = UpdateGroup(GroupDesk.group, actor: GroupDesk.adam)
    update.description = "on Tuesdays"
    update.ext = "{}"
    update.inviteNeedConfirm = false
    update.maxMembers = 7
    let transaction = try desk.carryOut(update)
    #expect(transaction?.ceilings == [.roster: 7])
    #expect(desk.group?.description == "on Tuesdays")
    #expect(desk.group?.ext == "{}")
    #expect(desk.group?.inviteNeedConfirm == false)
    #expect(desk.group?.maxMembers == 7)
    var clearing = UpdateGroup(GroupDesk.group, actor: GroupDesk.adam)
    clearing.description = ""
    clearing.ext = ""
    try desk.carryOut(clearing)
    #expect(desk.group?.description == nil)
    #expect(desk.group?.ext == nil)
    #expect(desk.group?.name == "Ringers")
  }

  // MARK: Coming in

  @Test(arguments: [["sam"], ["zed", "sam"]] as [[AccountID]])
  mutating func anotherSpacesRecordsAreNoPreconditions(accounts: [AccountID]) throws {
    let transaction = try #require(try desk.carryOut(GroupDesk.invite(GroupDesk.adam, accounts)))
    #expect(transaction.preconditions.keys.allSatisfy { $0.space == Self.space })
    #expect(transaction.preconditions.keys.contains(.banned("sam", from: Self.space)))
  }

  @Test mutating func whoComesInSeesWhatFollows() throws {
    let before = desk.lastID
    let transaction = try #require(try desk.carryOut(GroupDesk.admit(GroupDesk.olga)))
    let ann = try #require(desk.groupMember("ann"))
    #expect(ann.role == .member)
    #expect(!ann.membership.intervals.contains(before))
    #expect(ann.membership.intervals.contains(desk.lastID))
    #expect(transaction.indexChanges == [IndexChange(.joined, ["ann"])])
    #expect(transaction.ceilings == [.roster: desk.limits.membersPerGroup])
    #expect(transaction.changedMemberships == ["ann"])
  }

  @Test mutating func whoIsInHasNothingLeftToBeAnswered() throws {
    try desk.carryOut(GroupDesk.invite(GroupDesk.adam, ["ann"]))
    #expect(desk.texts[.request(GroupDesk.invitation("ann"), of: Self.space)] != nil)
    try desk.carryOut(GroupDesk.admit(GroupDesk.olga))
    #expect(desk.texts[.request(GroupDesk.invitation("ann"), of: Self.space)] == nil)
    #expect(desk.texts[.request(GroupDesk.application("ann"), of: Self.space)] == nil)
  }

  @Test mutating func applyingAgainIsTheSameApplication() throws {
    let decision = try desk.decide(GroupDesk.apply("ann"))
    #expect(decision.output == .waiting(GroupDesk.application("ann")))
    #expect(decision.transaction == nil)
    #expect(try desk.decide(GroupDesk.apply("mia")).output == .joined)
  }

  @Test mutating func aDeclinedApplicantMayApplyAgain() throws {
    try desk.carryOut(GroupDesk.admit(GroupDesk.olga, isApproved: false))
    #expect(desk.refusal(of: GroupDesk.admit(GroupDesk.adam))?.code == .notFound)
    #expect(try desk.carryOut(GroupDesk.apply("ann"))?.announcements.count == 1)
  }

  // MARK: Going out

  struct Exit: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var operation: any Operation
  }

  @Test(arguments: [
    Exit(testDescription: "leave", operation: desk.leave("abe")),
    Exit(testDescription: "remove", operation: desk.remove(desk.olga, ["abe"])),
    Exit(testDescription: "block", operation: desk.block(desk.olga, ["abe"])),
  ])
  mutating func nothingButAMuteIsLeftOfAStay(exit: Exit) throws {
    try desk.carryOut(GroupDesk.allow(GroupDesk.olga, ["abe"]))
    try desk.carryOut(GroupDesk.mute(GroupDesk.olga, ["abe"]))
    try desk.carryOut(GroupDesk.attributes(Actor(account: "abe"), "abe"))
    try desk.carryOut(GroupDesk.addFile(Actor(account: "abe"), 3))
    let transaction = try #require(try desk.carryOut(exit.operation))
    #expect(transaction.indexChanges == [IndexChange(.left, ["abe"])])
    #expect(desk.groupMember("abe") == nil)
    #expect(desk.group?.admins == ["adam"])
    for table in [RecordTable.allowed, .muted, .profiles] {
      #expect(!desk.accounts(in: table).contains("abe"))
    }
    #expect(desk.texts[.file(3, in: Self.space)] != nil)
    let former = try #require(desk.former("abe", of: Self.space))
    #expect(former.membership.intervals.contains(desk.lastID))

    try desk.carryOut(GroupDesk.block(GroupDesk.olga, ["abe"], false))
    try desk.carryOut(GroupDesk.asking(false))
    try desk.carryOut(GroupDesk.invite(GroupDesk.olga, ["abe"]))
    let again = try #require(desk.groupMember("abe"))
    #expect(again.role == .member)
    #expect(!again.rights.isAllowListed)
    #expect(again.rights.isMuted(nowMilliseconds: desk.nowMilliseconds))
    #expect(desk.accounts(in: .muted) == ["mo", "abe"])
  }

  @Test mutating func theBlockedCannotComeInAndTheUnblockedCan() throws {
    try desk.carryOut(GroupDesk.block(GroupDesk.adam, ["ann", "sam"]))
    #expect(desk.accounts(in: .banned) == ["ben", "ann", "sam"])
    #expect(desk.texts[.request(GroupDesk.application("ann"), of: Self.space)] == nil)
    #expect(desk.refusal(of: GroupDesk.apply("sam"))?.code == .banned)
    #expect(desk.refusal(of: GroupDesk.invite(GroupDesk.olga, ["ann"]))?.code == .banned)
    try desk.carryOut(GroupDesk.block(GroupDesk.adam, ["ann", "sam", "ben"], false))
    #expect(desk.accounts(in: .banned).isEmpty)
    #expect(desk.refusal(of: GroupDesk.apply("sam")) == nil)
  }

  // MARK: Running it

  @Test mutating func theNewOwnerRunsTheGroupAndTheOldOneIsAMember() throws {
    try desk.carryOut(GroupDesk.receive("mo", false))
    try desk.carryOut(GroupDesk.handOver(GroupDesk.app, to: "mo"))
    #expect(desk.group?.owner == "mo")
    #expect(desk.groupMember("olga")?.role == .member)
    let owner = try #require(desk.groupMember("mo"))
    #expect(owner.role == .owner)
    // An owner hears everything and is muted by nobody.
    #expect(owner.membership.stopped.current == nil)
    #expect(!owner.rights.isMuted(nowMilliseconds: desk.nowMilliseconds))
    #expect(!desk.accounts(in: .muted).contains("mo"))
    try desk.carryOut(GroupDesk.handOver(Actor(account: "mo"), to: "adam"))
    #expect(desk.group?.admins == ["abe"])
    #expect(desk.refusal(of: LeaveGroup(GroupDesk.group, actor: GroupDesk.olga)) == nil)
  }

  @Test mutating func whoeverBecomesAnAdminReceivesAgain() throws {
    let transaction = try #require(try desk.carryOut(GroupDesk.receive("mia", false)))
    #expect(transaction.changedMemberships == ["mia"])
    let stopped = try #require(desk.groupMember("mia")?.membership.stopped)
    #expect(stopped.contains(desk.lastID))
    try desk.carryOut(GroupDesk.admin(GroupDesk.olga, "mia"))
    #expect(desk.groupMember("mia")?.membership.stopped.contains(desk.lastID) == false)
    try desk.carryOut(GroupDesk.admin(GroupDesk.olga, "mia", false))
    #expect(desk.groupMember("mia")?.membership.stopped.contains(desk.lastID) == false)
  }

  @Test mutating func aLongerMuteTakesThePlaceOfAShorterOne() throws {
    try desk.carryOut(GroupDesk.mute(GroupDesk.adam, ["mo"], 7_200_000))
    let until = desk.nowMilliseconds + 7_200_000
    #expect(desk.groupMember("mo")?.rights.mutedUntilMilliseconds == until)
    #expect(desk.texts[.muted("mo", in: Self.space)] == "\(until)")
    try desk.carryOut(GroupDesk.mute(GroupDesk.adam, ["mo"], nil))
    #expect(desk.groupMember("mo")?.rights == MemberRecord.Rights())
    #expect(desk.texts[.muted("mo", in: Self.space)] == nil)
  }

  @Test mutating func attributesAreMergedAndEmptyOnesGo() throws {
    try desk.carryOut(GroupDesk.attributes(GroupDesk.mia, "mia", ["bell": "treble", "band": "a"]))
    let change = GroupDesk.attributes(GroupDesk.adam, "mia", ["bell": "", "tower": "north"])
    let transaction = try #require(try desk.carryOut(change))
    #expect(desk.texts[.profile("mia", in: Self.space)] == #"{"band":"a","tower":"north"}"#)
    #expect(
      transaction.announcements.first?.content.attach
        == ["accid": "mia", "attributes": ["band": "a", "tower": "north"], "operator": "adam"])
    try desk.carryOut(GroupDesk.attributes(GroupDesk.mia, "mia", ["band": "", "tower": ""]))
    #expect(desk.texts[.profile("mia", in: Self.space)] == nil)
  }

  @Test mutating func theAnnouncementIsForMembersAlone() throws {
    try desk.carryOut(GroupDesk.pin(GroupDesk.adam))
    #expect(desk.group?.announcement == "at seven")
    let invited = try desk.carryOut(GroupDesk.invite(GroupDesk.adam, ["sam"]))?.deliveries.first
    let attach = RecordJSON.text(try #require(invited?.content.attach))
    #expect(!attach.contains("at seven"))
    try desk.carryOut(GroupDesk.pin(GroupDesk.adam, ""))
    #expect(desk.group?.announcement == nil)
  }

  @Test mutating func optionsAreTheAccountsOwn() throws {
    let space = SpaceID.personal("mia")
    let transaction = try #require(
      try desk.carryOut(UpdateAccount("mia", actor: GroupDesk.mia, autoAcceptInvitation: true)))
    #expect(transaction.space == space)
    #expect(transaction.preconditions == [.settings(space): nil])
    let again = try desk.decide(UpdateAccount("mia", actor: GroupDesk.app, autoAcceptInvitation: true))
    #expect(again.transaction == nil)
    #expect(again.output.autoAcceptInvitation)
    #expect(desk.texts[.settings(space)] == (try RecordJSON.text(again.output)))
    #expect(try desk.decide(UpdateAccount("mia", actor: GroupDesk.mia)).output.autoAcceptInvitation)
  }

  // MARK: The operator's other devices

  @Test(
    arguments: [
      ("inviteAccept", desk.answer(Actor(account: "ivy"))),
      ("inviteDecline", desk.answer(Actor(account: "ivy"), isAccepted: false)),
      ("applyAccept", desk.admit(desk.olga)), ("applyDecline", desk.admit(desk.olga, isApproved: false)),
      ("create", desk.create()), ("destroy", DestroyGroup(desk.group, actor: desk.olga)),
      ("apply", desk.apply("sam")), ("leave", desk.leave("mia")), ("invite", desk.invite(desk.olga, ["sam"])),
      ("kick", desk.remove(desk.olga, ["mia"])), ("block", desk.block(desk.olga, ["mia"])),
      ("unblock", desk.block(desk.olga, ["ben"], false)), ("mute", desk.mute(desk.olga, ["mia"])),
      ("unmute", desk.mute(desk.olga, ["mo"], nil)), ("assignOwner", desk.handOver(desk.olga, to: "mia")),
      ("addAdmin", desk.admin(desk.olga, "mia")), ("removeAdmin", desk.admin(desk.olga, "abe", false)),
      ("memberAttributes", desk.attributes(desk.mia, "mia")),
    ] as [(String, any Operation)])
  mutating func areToldByTheNameOfWhatWasDone(word: String, operation: any Operation) throws {
    let echo = try #require(try desk.carryOut(operation)?.echo)
    #expect(echo.operation == OperationName(.group, word))
  }

  @Test mutating func areToldWhereItWasDoneToWhom() throws {
    let echo = try #require(try desk.carryOut(GroupDesk.remove(GroupDesk.olga, ["mia", "max"]))?.echo)
    #expect(echo.account == "olga")
    #expect(echo.device == "olga-1")
    #expect(echo.target == ["groupId": "5", "accids": ["mia", "max"]])
  }
}
