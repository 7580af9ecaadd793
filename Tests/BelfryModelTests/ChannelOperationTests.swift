import BelfryModel
import ModelSamples
import Testing

/// The records that operations on channels leave, and the accounts that are told.
struct ChannelOperationTests {
  private typealias Channels = ChannelDesk

  private static let space = ServerDesk.space
  private static let adam = ServerDesk.adam
  private static let app = ServerDesk.app
  var desk: Desk

  init() throws { desk = try ChannelDesk.desk() }

  private func member(_ account: AccountID) -> MemberRecord? { desk.member(account, of: Self.space) }
  private func former(_ account: AccountID) -> MemberRecord? { desk.former(account, of: Self.space) }
  private func isListed(_ account: AccountID, _ table: RecordTable) -> Bool {
    desk.texts[RecordAddress(Self.space, table, account.text)] != nil
  }

  /// Whether the account sees what is sent to the channel right after the last commit.
  private func hears(_ account: AccountID, _ id: EntityID) throws -> Bool {
    let membership = (member(account) ?? former(account))?.membership ?? .never
    let text = try #require(desk.texts[.channel(id, of: Self.space)])
    let channel = try #require(RecordJSON.value(ChannelRecord.self, text))
    let audience = Audience(.all, channel: id, channelHasRoster: channel.hasRoster)
    return Visibility.of(
      try #require(MessageID(desk.lastID.raw + 1)), audience, type: 0, in: .server(1), for: account,
      membership: membership,
      read: ReadState(), preferences: Preferences(), retentionFloor: .zero, nowMilliseconds: 0
    ).isVisible
  }

  // MARK: The roster

  @Test(arguments: [11, 12] as [EntityID])
  mutating func whoJoinsHearsFromThenOn(id: EntityID) throws {
    #expect(try !hears("ann", id))
    let transaction = try #require(try desk.carryOut(Channels.join(id, "ann")))
    #expect(transaction.changedMemberships == ["ann"])
    #expect(try hears("ann", id))
    #expect(isListed("ann", .channelRoster(id)))
  }

  @Test mutating func whoAcceptsIsInAndTheInvitationIsOver() throws {
    try desk.carryOut(Channels.answer(12, "ida", accepts: true))
    #expect(try hears("ida", 12))
    #expect(isListed("ida", .channelRoster(12)))
    #expect(desk.texts[.request(Channels.request(12, "ida"), of: Self.space)] == nil)
    #expect(desk.texts[.request(Channels.request(11, "ida"), of: Self.space)] != nil)
  }

  @Test mutating func whoDeclinesIsNotIn() throws {
    try desk.carryOut(Channels.answer(12, "ida", accepts: false))
    #expect(try !hears("ida", 12))
    #expect(desk.texts[.request(Channels.request(12, "ida"), of: Self.space)] == nil)
  }

  @Test(
    arguments: [
      ChannelDesk.leave(12, "cleo"), ChannelDesk.remove(12, ServerDesk.adam, ["cleo"]),
      ChannelDesk.list(12, ServerDesk.adam, .block, ["cleo"]),
    ] as [any Operation])
  mutating func whoIsOutHearsNothingMore(operation: any Operation) throws {
    try desk.carryOut(RefusalTests.subscribe("cleo", 12))
    let inside = desk.lastID
    let transaction = try #require(try desk.carryOut(operation))
    #expect(transaction.changedMemberships == ["cleo"])
    let channel = try #require(member("cleo")?.membership.channels[12])
    #expect(channel.intervals.contains(inside))
    #expect(channel.intervals.contains(desk.lastID))
    #expect(channel.intervals.current == nil)
    #expect(channel.subscription.current == nil)
    #expect(try !hears("cleo", 12))
    #expect(!isListed("cleo", .channelRoster(12)))
    #expect(try hears("cleo", 11))
  }

  @Test mutating func aRemovedMemberMayComeBack() throws {
    try desk.carryOut(Channels.remove(11, Self.adam, ["cleo"]))
    try desk.carryOut(Channels.join(11, "cleo"))
    #expect(try hears("cleo", 11))
  }

  @Test mutating func anInvitationGivesEachTheirOwnRequest() throws {
    let requests = try desk.decide(Channels.invite(11, "cleo", ["pia", "ann"])).output
    #expect(requests == ["pia": Channels.request(11, "pia"), "ann": Channels.request(11, "ann")])
    #expect(Set([Channels.request(11, "pia"), Channels.request(12, "pia")]).count == 2)
  }

  // MARK: The lists

  @Test mutating func whoIsBlockedHearsNothingEvenWhereItIsEveryones() throws {
    #expect(try !hears("ben", 13))
    #expect(try hears("ben", 10))
    try desk.carryOut(Channels.list(13, Self.adam, .block, adds: false, ["ben"]))
    #expect(try hears("ben", 13))
    #expect(!isListed("ben", .channelBlocked(13)))
  }

  @Test mutating func beingUnblockedDoesNotBringOneBackIntoTheRoster() throws {
    try desk.carryOut(Channels.list(11, Self.adam, .block, adds: false, ["ben"]))
    #expect(try !hears("ben", 11))
    try desk.carryOut(Channels.join(11, "ben"))
    #expect(try hears("ben", 11))
  }

  @Test mutating func theBlockListOutlastsLeavingTheServer() throws {
    try desk.carryOut(RefusalTests.leave("ben"))
    #expect(former("ben")?.isBlocked(from: 11) == true)
    try desk.carryOut(RefusalTests.add(Self.app, ["ben"]))
    #expect(ChannelAccessTests.outcome(of: Channels.join(11, "ben"), on: desk) == "banned")
    #expect(try !hears("ben", 13))
  }

  @Test mutating func whoHasLeftCanBeUnblocked() throws {
    try desk.carryOut(RefusalTests.leave("ben"))
    try desk.carryOut(Channels.list(11, Self.adam, .block, adds: false, ["ben"]))
    try desk.carryOut(RefusalTests.add(Self.app, ["ben"]))
    #expect(ChannelAccessTests.outcome(of: Channels.join(11, "ben"), on: desk) == "yes")
    #expect(ChannelAccessTests.outcome(of: Channels.join(12, "ben"), on: desk) == "notFound")
  }

  @Test mutating func theAllowListEndsWithTheMembership() throws {
    #expect(!isListed("fay", .channelAllowed(12)))
    try desk.carryOut(RefusalTests.add(Self.app, ["fay"]))
    #expect(ChannelAccessTests.outcome(of: Channels.join(12, "fay"), on: desk) == "notFound")
  }

  @Test mutating func theAllowListOutlastsLeavingTheChannel() throws {
    try desk.carryOut(Channels.join(12, "ann"))
    try desk.carryOut(Channels.remove(12, Self.adam, ["ann"]))
    #expect(isListed("ann", .channelAllowed(12)))
    #expect(ChannelAccessTests.outcome(of: Channels.join(12, "ann"), on: desk) == "yes")
  }

  @Test(
    arguments: [
      SetAdmin(ServerDesk.server, actor: ServerDesk.olivia, account: "ben", isAdmin: true),
      HandOverServer(ServerDesk.server, actor: ServerDesk.olivia, to: "ben"),
    ] as [any Operation])
  mutating func whoComesToRunTheServerIsBlockedNoLonger(operation: any Operation) throws {
    try desk.carryOut(operation)
    for id in [11, 12, 13] as [EntityID] { #expect(!isListed("ben", .channelBlocked(id))) }
    #expect(try hears("ben", 13))
    #expect(ChannelAccessTests.outcome(of: Channels.join(12, "ben"), on: desk) == "yes")
  }

  // MARK: Mutes

  @Test mutating func aMuteEndsByItself() throws {
    let end = try desk.decide(Channels.mute(11, Self.adam, ["cleo"])).output
    #expect(end == desk.nowMilliseconds + Channels.muteMilliseconds)
    try desk.carryOut(Channels.mute(11, Self.adam, ["cleo"]))
    let record = try #require(member("cleo"))
    #expect(record.isMuted(in: 11, nowMilliseconds: end - 1))
    #expect(!record.isMuted(in: 11, nowMilliseconds: end))
    #expect(!record.isMuted(in: 12, nowMilliseconds: end - 1))
    #expect(desk.texts[RecordAddress(Self.space, .channelMuted(11), "cleo")] == "\(end)")
    desk.nowMilliseconds = end
    #expect(try desk.carryOut(Channels.unmute(11, Self.adam, ["cleo"])) == nil)
  }

  @Test mutating func theMutedStillReceive() throws { #expect(try hears("meg", 11)) }

  @Test mutating func aMuteOutlastsLeavingTheChannelAndTheServer() throws {
    try desk.carryOut(Channels.leave(11, "meg"))
    #expect(member("meg")?.isMuted(in: 11, nowMilliseconds: desk.nowMilliseconds) == true)
    try desk.carryOut(RefusalTests.leave("meg"))
    try desk.carryOut(RefusalTests.add(Self.app, ["meg"]))
    #expect(member("meg")?.isMuted(in: 11, nowMilliseconds: desk.nowMilliseconds) == true)
    try desk.carryOut(Channels.unmute(11, Self.adam, ["meg"]))
    #expect(member("meg")?.isMuted(in: 11, nowMilliseconds: desk.nowMilliseconds) == false)
    #expect(!isListed("meg", .channelMuted(11)))
  }

  @Test mutating func whoHasLeftCanBeUnmuted() throws {
    #expect(try desk.decide(Channels.unmute(11, Self.adam, ["fay", "cleo"])).output == ["fay"])
    try desk.carryOut(Channels.unmute(11, Self.adam, ["fay"]))
    try desk.carryOut(RefusalTests.add(Self.app, ["fay"]))
    #expect(member("fay")?.isMuted(in: 11, nowMilliseconds: desk.nowMilliseconds) == false)
    #expect(member("fay")?.isMuted(in: 12, nowMilliseconds: desk.nowMilliseconds) == true)
  }

  // MARK: The rules for every decision

  @Test mutating func aClosedChannelTakesItsListsAlong() throws {
    try desk.carryOut(Channels.close(11, ServerDesk.olivia))
    let left = desk.texts.keys.filter { RecordTable.of(11).contains($0.table) }
    #expect(left.isEmpty)
  }

  @Test(arguments: AnnouncementRow.channels)
  func aDecisionReliesOnAllItRead(row: AnnouncementRow) throws {
    var desk = try row.desk()
    var read = Set(row.operation.needs)
    let texts = desk.texts
    let needs = Records(Dictionary(row.operation.needs.map { ($0, texts[$0]) }) { first, _ in first })
    read.formUnion(row.operation.further(needs))
    guard let transaction = try desk.carryOut(row.operation) else { return }
    // Records of other accounts, such as their options, are not checked again: only the space itself is
    // locked.
    #expect(Set(transaction.preconditions.keys) == read.filter { $0.space == transaction.space })
    #expect(transaction.changes.keys.allSatisfy { $0.space == row.operation.space })
  }

  /// The words that an account's other devices are told.
  @Test(
    arguments: [
      (ChannelDesk.close(11, ServerDesk.olivia), "destroy"),
      (ChannelDesk.rename(11, ServerDesk.adam), "update"),
      (ChannelDesk.join(11, "pia"), "join"), (ChannelDesk.leave(11, "cleo"), "exit"),
      (ChannelDesk.answer(11, "ida", accepts: true), "invitationAccepted"),
      (ChannelDesk.answer(11, "ida", accepts: false), "invitationDeclined"),
      (ChannelDesk.remove(11, ServerDesk.adam, ["cleo"]), "removeUser"),
      (ChannelDesk.invite(11, "cleo", ["pia"]), "inviteUser"),
      (ChannelDesk.mute(11, ServerDesk.adam, ["cleo"]), "addMute"),
      (ChannelDesk.unmute(11, ServerDesk.adam, ["meg"]), "removeMute"),
      (ChannelDesk.list(11, ServerDesk.adam, .allow, ["pia"]), "addAllowed"),
      (ChannelDesk.list(11, ServerDesk.adam, .block, adds: false, ["ben"]), "removeBlocked"),
    ] as [(any Operation, String)])
  mutating func otherDevicesAreToldInTheWordsOfTheReference(operation: any Operation, word: String) throws {
    let echo = try #require(try desk.carryOut(operation)?.echo)
    #expect(echo.operation == OperationName(.channel, word))
    guard case .object(let target) = echo.target else {
      Issue.record("\(echo.target)")
      return
    }
    #expect(target["serverId"] == "1")
    #expect(target["channelId"] == "11")
  }
}
