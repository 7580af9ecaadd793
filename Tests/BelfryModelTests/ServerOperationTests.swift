import BelfryModel
import ModelSamples
import Testing

/// The records that operations on servers and channels leave.
struct ServerOperationTests {
  var desk: ServerDesk

  init() throws { desk = try ServerDesk() }

  // MARK: Servers

  @Test func aServerBeginsWithItsOwnerAndADefaultChannel() throws {
    let server = try #require(try desk.settings())
    #expect(server.owner == "olivia")
    #expect(server.defaultChannelId == 10)
    #expect(server.createdAt == desk.nowMilliseconds)
    #expect(desk.member("olivia")?.role == .owner)
    #expect(desk.member("olivia")?.membership.intervals.contains(desk.lastID) == true)
    #expect(desk.member("olivia")?.membership.intervals.contains(ServerDesk.start) == false)
  }

  @Test mutating func anUpdateChangesWhatItNames() throws {
    var update = UpdateServer(ServerDesk.server, actor: ServerDesk.adam)
    update.icon = "https://example.org/bell.png"
    update.inviteMode = .joinsAtOnce
    try desk.carryOut(update)
    let server = try #require(try desk.settings())
    #expect(server.name == "Tower")
    #expect(server.icon == "https://example.org/bell.png")
    #expect(server.inviteMode == .joinsAtOnce)
    update.icon = ""
    try desk.carryOut(update)
    #expect(try desk.settings()?.icon == nil)
  }

  @Test mutating func anUpdateThatChangesNothingIsNoUpdate() throws {
    var update = UpdateServer(ServerDesk.server, actor: ServerDesk.adam)
    update.serverName = "Tower"
    #expect(try desk.carryOut(update) == nil)
    #expect(try desk.carryOut(UpdateChannel(ServerDesk.server, id: 11, actor: ServerDesk.adam)) == nil)
  }

  @Test mutating func aRemovedServerKeepsItsMembersForTheLog() throws {
    try desk.carryOut(RemoveServer(ServerDesk.server, actor: ServerDesk.olivia))
    #expect(try desk.settings()?.removedAt == desk.nowMilliseconds)
    #expect(desk.member("mia")?.membership.intervals.current != nil)
  }

  // MARK: Members

  @Test mutating func whoJoinsSeesItAndNothingEarlier() throws {
    let before = desk.lastID
    let transaction = try #require(try desk.carryOut(RefusalTests.add(ServerDesk.app, ["sam"])))
    let membership = try #require(desk.member("sam")?.membership)
    #expect(!membership.intervals.contains(before))
    #expect(membership.intervals.contains(MessageID(before.raw + 1) ?? .zero))
    #expect(transaction.indexChanges == [IndexChange(.joined, ["sam"])])
    #expect(transaction.changedMemberships == ["sam"])
    #expect(transaction.ceilings == [.roster: desk.limits.membersPerServer])
  }

  @Test mutating func whoGoesSeesThatAndNothingLater() throws {
    for operation in [RefusalTests.kick(ServerDesk.adam, ["mia"]), RefusalTests.leave("max")]
      as [any Operation]
    {
      let committed = try desk.carryOut(operation)
      let transaction = try #require(committed)
      let account = try #require(transaction.changedMemberships.first)
      let last = desk.lastID
      #expect(desk.member(account) == nil)
      let membership = try #require(desk.former(account)?.membership)
      #expect(membership.intervals.contains(last))
      #expect(!membership.intervals.contains(MessageID(last.raw + 1) ?? .zero))
      #expect(transaction.indexChanges == [IndexChange(.left, [account])])
    }
    #expect(!desk.isInRoster("mia", of: 11))
    #expect(!desk.isInRoster("max", of: 12))
  }

  @Test mutating func whoComesBackKeepsTheEarlierStayAndNothingElse() throws {
    try desk.carryOut(RefusalTests.subscribe("mia", nil))
    try desk.carryOut(RefusalTests.subscribe("mia", 11))
    let inside = desk.lastID
    try desk.carryOut(RefusalTests.kick(ServerDesk.olivia, ["mia"]))
    let outside = desk.lastID
    try desk.carryOut(RefusalTests.add(ServerDesk.app, ["max"]))
    try desk.carryOut(RefusalTests.add(ServerDesk.app, ["sue"]))
    try desk.carryOut(RefusalTests.add(ServerDesk.app, ["mia"]))
    let record = try #require(desk.member("mia"))
    #expect(desk.former("mia") == nil)
    #expect(record.role == .member)
    #expect(record.membership.intervals.contains(inside))
    #expect(!record.membership.intervals.contains(MessageID(outside.raw + 1) ?? .zero))
    #expect(record.membership.intervals.contains(desk.lastID))
    #expect(record.membership.subscription.current == nil)
    #expect(record.membership.channels[11]?.intervals.current == nil)
    #expect(record.membership.channels[11]?.subscription.current == nil)
  }

  @Test mutating func staysBeyondRetentionAreForgotten() throws {
    try desk.carryOut(RefusalTests.kick(ServerDesk.olivia, ["mia"]))
    desk.nowMilliseconds = MessageID.last.unixMilliseconds
    try desk.carryOut(RefusalTests.add(ServerDesk.app, ["mia"]))
    let membership = try #require(desk.member("mia")?.membership)
    #expect(membership.intervals.all.count == 1)
    #expect(membership.channels.isEmpty)
  }

  @Test func anAdminWhoIsKickedByTheOwnerGoes() {
    #expect(desk.refusal(of: RefusalTests.kick(ServerDesk.olivia, ["adam"])) == nil)
  }

  @Test mutating func addingGivesThoseWhoWereAdded() throws {
    #expect(
      try desk.decide(RefusalTests.add(ServerDesk.app, ["mia", "sue", "sam"])).output == ["sue", "sam"])
    #expect(try desk.decide(RefusalTests.add(ServerDesk.app, ["mia"])).output == [])
  }

  @Test mutating func aFullServerTakesNobodyAndKeepsWhoIsThere() throws {
    desk.limits.membersPerServer = 5
    #expect(desk.refusal(of: RefusalTests.add(ServerDesk.app, ["mia", "sue"])) == nil)
    #expect(desk.refusal(of: RefusalTests.add(ServerDesk.app, ["sue", "sue"])) == nil)
  }

  // MARK: Subscriptions

  @Test(arguments: [nil, 10, 11] as [EntityID?])
  mutating func subscribingIsIdempotentAndEnds(channel: EntityID?) throws {
    func intervals() -> Intervals? {
      let membership = desk.member("mia")?.membership
      return channel.map { membership?.channels[$0]?.subscription ?? Intervals() } ?? membership?.subscription
    }
    let subscribe = RefusalTests.subscribe("mia", channel)
    var unsubscribe = subscribe
    unsubscribe.isSubscribed = false

    #expect(try desk.carryOut(unsubscribe) == nil)
    #expect(try desk.carryOut(subscribe)?.changedMemberships == ["mia"])
    #expect(intervals()?.current != nil)
    #expect(try desk.carryOut(subscribe) == nil)
    #expect(try desk.carryOut(unsubscribe) != nil)
    #expect(intervals()?.current == nil)
    #expect(intervals()?.all.count == 1)
    #expect(try desk.carryOut(unsubscribe) == nil)
  }

  // MARK: Channels

  @Test mutating func aRosterHoldsItsFirstMembersAndItsCreator() throws {
    let transaction = try #require(try desk.carryOut(RefusalTests.open(ServerDesk.olivia, members: ["mia"])))
    #expect(Set(transaction.changedMemberships) == ["mia", "olivia"])
    for account in ["mia", "olivia"] as [AccountID] {
      #expect(desk.isInRoster(account, of: 20))
      #expect(desk.member(account)?.membership.channels[20]?.intervals.current != nil)
    }
    #expect(!desk.isInRoster("max", of: 20))
  }

  @Test mutating func aChannelOfEveryoneKeepsNoRoster() throws {
    let transaction = try #require(
      try desk.carryOut(RefusalTests.open(ServerDesk.olivia, membership: .everyone, members: ["mia"])))
    #expect(transaction.changedMemberships.isEmpty)
    #expect(!desk.isInRoster("olivia", of: 20))
  }

  @Test mutating func aClosedChannelTakesItsRosterAlong() throws {
    try desk.carryOut(RemoveChannel(ServerDesk.server, id: 11, actor: ServerDesk.olivia))
    #expect(!desk.isInRoster("mia", of: 11))
    #expect(desk.refusal(of: RefusalTests.subscribe("mia", 11))?.code == .notFound)
    #expect(desk.member("mia")?.membership.channels[11]?.intervals.contains(desk.lastID) == true)
  }

  // MARK: The rules for every decision

  @Test(arguments: AnnouncementRow.servers)
  mutating func aDecisionReliesOnAllItRead(row: AnnouncementRow) throws {
    var desk = try row.desk()
    let read = desk.read(for: row.operation)
    guard let transaction = try desk.carryOut(row.operation) else { return }
    #expect(
      Set(transaction.preconditions.keys) == Set(read.texts.keys.filter { $0.space == transaction.space }))
    #expect(transaction.space == row.operation.space)
    #expect(transaction.changes.keys.allSatisfy { $0.space == row.operation.space })
  }
}
