import BelfryModel
import ModelSamples
import Testing

/// The roles and the profiles of members.
struct ServerRoleTests {
  var desk: ServerDesk

  init() throws { desk = try ServerDesk() }

  private func profile(_ account: AccountID) -> ProfileRecord? {
    desk.texts[.profile(account, in: ServerDesk.space)].flatMap { RecordJSON.value(ProfileRecord.self, $0) }
  }

  // MARK: Roles

  @Test mutating func anAdminIsOneInTheRosterAndInTheSettings() throws {
    try desk.carryOut(ServerDesk.admin(ServerDesk.olivia, "mia"))
    #expect(desk.member("mia")?.role == .admin)
    #expect(try desk.settings()?.admins == ["adam", "mia"])
    try desk.carryOut(ServerDesk.admin(ServerDesk.olivia, "adam", false))
    #expect(desk.member("adam")?.role == .member)
    #expect(try desk.settings()?.admins == ["mia"])
    #expect(try desk.carryOut(ServerDesk.admin(ServerDesk.olivia, "adam", false)) == nil)
  }

  /// Nobody may mute the owner, and nobody could unmute one who was muted before.
  @Test mutating func aMutedMemberWhoBecomesTheOwnerMaySend() throws {
    let (space, year) = (ServerDesk.space, Limits.muteMaximumMilliseconds)
    try desk.carryOut(
      SetServerMute(
        ServerDesk.server, actor: ServerDesk.olivia, accounts: ["mia"], durationMilliseconds: year))
    for channel in [10, 11] as [EntityID] {
      try desk.carryOut(
        MuteInChannel(
          ServerDesk.server, id: channel, actor: ServerDesk.olivia, accounts: ["mia"],
          durationMilliseconds: year))
    }
    try desk.carryOut(ServerDesk.handOver(ServerDesk.olivia, to: "mia"))
    let member = try #require(desk.member("mia"))
    #expect(!member.rights.isMuted(nowMilliseconds: desk.nowMilliseconds) && member.channelMutes.isEmpty)
    let mutes = [RecordTable.muted, .channelMuted(10), .channelMuted(11)]
    #expect(mutes.allSatisfy { desk.texts[RecordAddress(space, $0, "mia")] == nil })
  }

  @Test mutating func theOldOwnerIsAnOrdinaryMember() throws {
    try desk.carryOut(ServerDesk.handOver(ServerDesk.olivia, to: "adam"))
    #expect(try desk.settings()?.owner == "adam")
    #expect(try desk.settings()?.admins == [])
    #expect(desk.member("adam")?.role == .owner)
    #expect(desk.member("olivia")?.role == .member)
    #expect(desk.refusal(of: RefusalTests.rename(ServerDesk.olivia))?.code == .forbidden)
    #expect(desk.refusal(of: RefusalTests.leave("olivia")) == nil)
  }

  @Test(
    arguments: [
      RefusalTests.kick(ServerDesk.olivia, ["adam"]), RefusalTests.leave("adam"),
      ServerDesk.ban(ServerDesk.olivia, ["adam"]),
    ] as [any Operation])
  mutating func whoGoesLeavesNoRoleAndNoProfile(operation: any Operation) throws {
    try desk.carryOut(ServerDesk.nick(ServerDesk.adam, "adam"))
    try desk.carryOut(operation)
    #expect(try desk.settings()?.admins == [])
    #expect(profile("adam") == nil)
    try desk.carryOut(ServerDesk.unban(ServerDesk.olivia, ["adam"]))
    try desk.carryOut(RefusalTests.add(ServerDesk.app, ["adam"]))
    #expect(desk.member("adam")?.role == .member)
  }

  @Test mutating func aRoleIsToldAsItIsNow() throws {
    try desk.carryOut(ServerDesk.nick(ServerDesk.mia, "mia", "Mia"))
    let transaction = try #require(try desk.carryOut(ServerDesk.handOver(ServerDesk.olivia, to: "mia")))
    #expect(
      transaction.announcements.map(\.content.attach) == [
        ["memberInfo": ["accid": "olivia", "role": "member"]],
        ["memberInfo": ["accid": "mia", "role": "owner", "nick": "Mia"]],
      ])
    #expect(transaction.changedMemberships.isEmpty)
  }

  // MARK: Profiles

  @Test mutating func aProfileKeepsWhatIsNotNamedAndGoesWhenItSaysNothing() throws {
    var update = UpdateMember(ServerDesk.server, actor: ServerDesk.mia, account: "mia")
    update.nick = "Mia"
    update.avatar = "https://example.org/mia.png"
    try desk.carryOut(update)
    update = UpdateMember(ServerDesk.server, actor: ServerDesk.mia, account: "mia")
    update.ext = "{}"
    update.avatar = ""
    #expect(try desk.decide(update).output == ProfileRecord(nick: "Mia", ext: "{}"))
    try desk.carryOut(update)
    #expect(profile("mia") == ProfileRecord(nick: "Mia", ext: "{}"))
    update.nick = ""
    update.ext = ""
    try desk.carryOut(update)
    #expect(desk.texts[.profile("mia", in: ServerDesk.space)] == nil)
    #expect(try desk.carryOut(update) == nil)
  }

  // MARK: Subscriptions

  @Test mutating func subscribingToManyGivesThoseThatFailed() throws {
    let subscribe = ServerDesk.subscribe(ServerDesk.mia, to: [10, 11, 12, 13, 99])
    let failed = try desk.decide(subscribe).output
    #expect(failed.mapValues(\.code) == [12: .notFound, 99: .notFound])
    #expect(try desk.carryOut(subscribe)?.changedMemberships == ["mia"])
    let channels = try #require(desk.member("mia")?.membership.channels)
    #expect(channels.filter { $0.value.subscription.current != nil }.keys.sorted() == [10, 11, 13])
    #expect(try desk.carryOut(subscribe) == nil)
    var end = subscribe
    end.isSubscribed = false
    try desk.carryOut(end)
    #expect(
      desk.member("mia")?.membership.channels.allSatisfy { $0.value.subscription.current == nil } == true)
  }
}
