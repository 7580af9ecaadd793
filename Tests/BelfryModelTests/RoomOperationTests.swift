import BelfryModel
import ModelSamples
import Testing

/// The records that operations on rooms leave.
struct RoomOperationTests {
  static let room = RoomDesk.room
  var desk: Desk

  init() throws { desk = try RoomDesk.desk() }

  // MARK: Its beginning and its end

  @Test mutating func aRoomBeginsWithItsHostInside() throws {
    let create = RoomRefusalTests.create(8)
    let transaction = try #require(try desk.carryOut(create))
    let room = try #require(desk.settings(RoomRecord.self, create.space))
    #expect(room.owner == "sam")
    #expect(room.createdAt == desk.nowMilliseconds)
    #expect(desk.member("sam", of: create.space)?.role == .host)
    #expect(transaction.listing == ListingChange(.rooms, isListed: true, createdAt: room.createdAt))
    #expect(transaction.indexChanges == [IndexChange(.joined, ["sam"])])
    #expect(transaction.wakeAtMilliseconds == desk.nowMilliseconds + desk.limits.absenceMilliseconds)
    #expect(desk.texts[.presence("sam", in: create.space)] == transaction.wakeAtMilliseconds.map { "\($0)" })
    #expect(transaction.announcements.isEmpty)
  }

  @Test(
    arguments: [
      CloseRoom(room, actor: RoomDesk.hal), LeaveRoom(room, actor: RoomDesk.hal),
    ] as [any Operation])
  mutating func aClosedRoomKeepsItsAttendeesForTheLog(operation: any Operation) throws {
    let transaction = try #require(try desk.carryOut(operation))
    #expect(desk.room?.removedAt == desk.nowMilliseconds)
    #expect(transaction.listing?.isListed == false)
    #expect(desk.presence("lea") == nil)
    #expect(desk.hand("lou") == nil)
    #expect(desk.texts[.request(RoomDesk.token("lou"), of: RoomDesk.space)] == nil)
    #expect(desk.attendee("lea")?.membership.intervals.contains(desk.lastID) == true)
    // The broker that looks after rooms empties it at once.
    #expect(transaction.wakeAtMilliseconds == desk.nowMilliseconds)
  }

  @Test mutating func aClosedRoomIsEmptiedAndWasSeenToTheEnd() throws {
    try desk.carryOut(CloseRoom(Self.room, actor: RoomDesk.hal))
    let end = desk.lastID
    let transaction = try #require(
      try desk.carryOut(EmptyClosedRoom(RoomDesk.space, accounts: ["hal", "lea", "fay"])))
    #expect(transaction.indexChanges == [IndexChange(.left, ["hal", "lea"])])
    #expect(transaction.echo == nil)
    #expect(desk.attendee("lea") == nil)
    #expect(desk.former("lea", of: RoomDesk.space)?.membership.intervals.contains(end) == true)
    #expect(desk.attendee("gus") != nil)
  }

  // MARK: Entering and leaving

  @Test mutating func whoEntersIsThereAndListens() throws {
    let before = desk.lastID
    let transaction = try #require(try desk.carryOut(EnterRoom(Self.room, actor: RoomDesk.sam)))
    let member = try #require(desk.attendee("sam"))
    #expect(member.role == .listener)
    #expect(!member.membership.intervals.contains(before))
    #expect(member.membership.intervals.contains(desk.lastID))
    #expect(desk.presence("sam") == "\(desk.nowMilliseconds + desk.limits.absenceMilliseconds)")
    #expect(transaction.wakeAtMilliseconds == desk.nowMilliseconds + desk.limits.absenceMilliseconds)
    #expect(transaction.ceilings == [.roster: desk.limits.attendeesPerRoom])
  }

  /// A hundred thousand enter at once: none of them may depend on what another one changes.
  @Test mutating func enteringDependsOnNobodyElse() throws {
    let others = try #require(try desk.carryOut(EnterRoom(Self.room, actor: RoomDesk.sam))).changes.keys
    let mine = try #require(try desk.decide(EnterRoom(Self.room, actor: RoomDesk.fay)).transaction)
    #expect(Set(mine.preconditions.keys).isDisjoint(with: others))
  }

  @Test mutating func enteringWhenInsideIsASignOfLife() throws {
    desk.nowMilliseconds += 1_000
    let transaction = try #require(try desk.carryOut(EnterRoom(Self.room, actor: RoomDesk.lea)))
    #expect(Set(transaction.changes.keys) == [.presence("lea", in: RoomDesk.space)])
    #expect(transaction.echo == nil)
  }

  @Test mutating func nothingIsLeftOfAStay() throws {
    try desk.carryOut(SetMicrophone(Self.room, actor: RoomDesk.gus, account: "gus", isOn: false))
    for actor in [RoomDesk.gus, RoomDesk.lou] {
      let account = try #require(actor.account)
      let transaction = try #require(try desk.carryOut(LeaveRoom(Self.room, actor: actor)))
      #expect(transaction.indexChanges == [IndexChange(.left, [account])])
      #expect(desk.attendee(account) == nil)
      #expect(desk.presence(account) == nil)
      #expect(desk.hand(account) == nil)
      #expect(desk.microphone(account) == nil)
      #expect(desk.texts[.request(RoomDesk.token(account), of: RoomDesk.space)] == nil)
      let membership = try #require(desk.former(account, of: RoomDesk.space)?.membership)
      #expect(membership.intervals.contains(desk.lastID))
      #expect(membership.intervals.current == nil)
      try desk.carryOut(EnterRoom(Self.room, actor: actor))
      #expect(desk.attendee(account)?.role == .listener)
    }
  }

  @Test mutating func theReasonIsTold() throws {
    func reasons(_ transaction: Transaction?) -> [JSONValue?] {
      (transaction?.announcements ?? []).map { announcement in
        guard case .object(let attach)? = announcement.content.attach else { return nil }
        return attach["reason"]
      }
    }
    #expect(reasons(try desk.carryOut(LeaveRoom(Self.room, actor: RoomDesk.lea))) == ["left"])
    #expect(reasons(try desk.carryOut(RoomRefusalTests.remove(["gus"]))) == ["removed"])
    try desk.letEveryoneFallSilent(but: [RoomDesk.hal])
    let timeOut = TimeOutAttendees(RoomDesk.space, accounts: ["hal", "lou"])
    #expect(reasons(try desk.carryOut(timeOut)) == ["timeout"])
  }

  @Test(arguments: AnnouncementRow.rooms)
  mutating func theListHasANewNumberWhenItChanges(row: AnnouncementRow) throws {
    var desk = try row.desk()
    func list() -> [String?] {
      desk.texts.filter { $0.key.tableAddress == TableAddress(RoomDesk.space, .roster) }
        .sorted { $0.key.field < $1.key.field }.map { $0.key.field + $0.value.prefix(1) }
    }
    let (list1, number1) = (list(), desk.attendeeList)
    try desk.carryOut(row.operation)
    guard desk.room?.removedAt == nil else { return }
    #expect((list() != list1) == (desk.attendeeList != number1))
    if list() != list1 { #expect(desk.attendeeList == desk.lastID.streamForm) }
  }

  // MARK: Presence

  @Test mutating func aSignOfLifeIsAllThatChanges() throws {
    desk.nowMilliseconds += 10_000
    let transaction = try #require(try desk.carryOut(Heartbeat(Self.room, actor: RoomDesk.lea)))
    #expect(desk.presence("lea") == "\(desk.nowMilliseconds + desk.limits.absenceMilliseconds)")
    #expect(transaction.changes.count == 1)
    #expect(transaction.echo == nil)
    #expect(transaction.announcements.isEmpty)
    #expect(!transaction.hasRelays)
    #expect(transaction.changedMemberships.isEmpty)
    #expect(transaction.wakeAtMilliseconds == nil)
  }

  @Test mutating func absentIsWhoseTimeHasPassedAndNobodyEarlier() throws {
    let timeOut = TimeOutAttendees(RoomDesk.space, accounts: ["lea"])
    desk.nowMilliseconds += desk.limits.absenceMilliseconds - 1
    #expect(try desk.decide(timeOut).transaction == nil)
    desk.nowMilliseconds += 1
    #expect(try desk.decide(timeOut).transaction != nil)
  }

  /// Two brokers find the same attendees absent: the second finds them gone.
  @Test mutating func timingOutTwiceIsTimingOutOnce() throws {
    try desk.letEveryoneFallSilent(but: [RoomDesk.hal])
    let timeOut = TimeOutAttendees(RoomDesk.space, accounts: ["lea", "lou"])
    let second = try #require(try desk.decide(timeOut).transaction)
    let first = try #require(try desk.carryOut(timeOut))
    #expect(first.announcements.count == 2)
    #expect(try desk.carryOut(timeOut) == nil)
    #expect(second.preconditions.contains { desk.texts[$0.key] != $0.value })
  }

  @Test mutating func aSignOfLifeInBetweenIsInTime() throws {
    try desk.letEveryoneFallSilent(but: [RoomDesk.hal])
    let timeOut = TimeOutAttendees(RoomDesk.space, accounts: ["lea"])
    let decided = try #require(try desk.decide(timeOut).transaction)
    try desk.carryOut(Heartbeat(Self.room, actor: RoomDesk.lea))
    #expect(decided.preconditions.contains { desk.texts[$0.key] != $0.value })
    #expect(try desk.carryOut(timeOut) == nil)
    #expect(desk.attendee("lea") != nil)
  }

  @Test mutating func whoWentBeforeIsNotTimedOut() throws {
    try desk.letEveryoneFallSilent(but: [RoomDesk.hal])
    try desk.carryOut(LeaveRoom(Self.room, actor: RoomDesk.lea))
    #expect(try desk.carryOut(TimeOutAttendees(RoomDesk.space, accounts: ["lea"])) == nil)
  }

  @Test mutating func withTheHostTheRoomCloses() throws {
    try desk.letEveryoneFallSilent(but: [RoomDesk.lea])
    let timeOut = TimeOutAttendees(RoomDesk.space, accounts: ["hal", "gus"])
    try desk.carryOut(timeOut)
    #expect(desk.room?.removedAt != nil)
    #expect(desk.refusal(of: timeOut)?.code == .notFound)
  }

  @Test mutating func aPresenceOfNobodyIsTidiedAway() throws {
    desk.texts[.presence("sam", in: RoomDesk.space)] = "?"
    let transaction = try #require(
      try desk.carryOut(TimeOutAttendees(RoomDesk.space, accounts: ["sam", "lea"])))
    #expect(transaction.announcements.isEmpty)
    #expect(desk.presence("sam") == nil)
  }

  // MARK: The stage

  @Test mutating func theTokenIsWhatTheInvitationTells() throws {
    let decision = try desk.decide(RoomRefusalTests.invite("lea"))
    let content = try #require(decision.transaction?.announcements.first?.content)
    #expect(
      decision.output.expiresAtMilliseconds == desk.nowMilliseconds + desk.limits.stageInvitationMilliseconds)
    #expect(
      content.attach
        == .object([
          "token": .string(decision.output.token.text),
          "expiresAt": .integer(decision.output.expiresAtMilliseconds),
          "roomInfo": try #require(desk.room).info(RoomDesk.space),
        ]))
    #expect(decision.transaction?.ceilings == [.requests: Limits.requestsPerSpace])
  }

  @Test mutating func aGuestHasNoHandRaised() throws {
    #expect(desk.hand("lou") != nil)
    try desk.carryOut(RoomRefusalTests.accept(RoomDesk.lou))
    #expect(desk.attendee("lou")?.role == .guest)
    #expect(desk.hand("lou") == nil)
  }

  @Test mutating func whoDeclinesStaysAListenerWithTheHandUp() throws {
    var decline = RoomRefusalTests.accept(RoomDesk.lou)
    decline.isAccepted = false
    try desk.carryOut(decline)
    #expect(desk.attendee("lou")?.role == .listener)
    #expect(desk.hand("lou") != nil)
  }

  @Test mutating func aMicrophoneThatWasOffIsOnAgainForTheNextTimeOnStage() throws {
    try desk.carryOut(SetMicrophone(Self.room, actor: RoomDesk.gus, account: "gus", isOn: false))
    #expect(desk.microphone("gus") == "{\"microphone\":false}")
    try desk.carryOut(SetListener(Self.room, actor: RoomDesk.hal, account: "gus"))
    #expect(desk.attendee("gus")?.role == .listener)
    #expect(desk.microphone("gus") == nil)
  }

  @Test func whoIsHeard() {
    let (off, on) = (StageRecord(microphone: false), StageRecord(microphone: true))
    for role in [MemberRole.host, .guest] {
      #expect(role.isHeard(nil))
      #expect(role.isHeard(on))
      #expect(!role.isHeard(off))
    }
    #expect(!MemberRole.listener.isHeard(nil))
    #expect(!MemberRole.listener.isHeard(on))
  }

  @Test mutating func whoSwitchedIsTold() throws {
    let off = SetMicrophone(Self.room, actor: RoomDesk.hal, account: "gus", isOn: false)
    #expect(
      try desk.carryOut(off)?.announcements.first?.content.attach
        == ["accid": "gus", "on": false, "operator": "hal"])
  }

  @Test(arguments: AnnouncementRow.rooms)
  func aDecisionReliesOnAllItRead(row: AnnouncementRow) throws {
    var desk = try row.desk()
    guard let transaction = try desk.carryOut(row.operation) else { return }
    #expect(Set(transaction.preconditions.keys).isSuperset(of: row.operation.needs))
    #expect(transaction.changes.keys.allSatisfy { $0.space == row.operation.space })
  }
}
