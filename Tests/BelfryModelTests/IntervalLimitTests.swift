import BelfryModel
import ModelSamples
import Testing

/// However often something changes, what was so within retention is known exactly; one time too many is refused.
struct IntervalLimitTests {
  private static let limit = Intervals.limit
  private static let sue: AccountID = "sue"
  private static let bob: AccountID = "bob"

  // MARK: The values

  @Test func oneTooManyIsRefusedAndNothingIsForgotten() throws {
    var intervals = Intervals()
    for start in 1...Self.limit {
      try intervals.open(after: Self.id(start * 10), retentionFloor: .zero, "")
      intervals.close(through: Self.id(start * 10 + 5))
    }
    let full = intervals
    #expect(throws: Refusal.self) {
      try intervals.open(after: Self.id(5_000), retentionFloor: .zero, "bob has been in server 7")
    }
    #expect(intervals == full)
    #expect(intervals.contains(11))
    // Entries of the first interval may still be seen. Once they may not, there is room.
    #expect(throws: Refusal.self) { try intervals.open(after: Self.id(5_000), retentionFloor: 15, "") }
    try intervals.open(after: Self.id(5_000), retentionFloor: 16, "")
    #expect(intervals.all.count == Self.limit)
    #expect(!intervals.contains(11) && intervals.contains(21) && intervals.contains(5_001))
  }

  @Test func aRestrictionAlwaysBeginsAndItsEndIsRefused() throws {
    var blocked = Restrictions()
    for start in 1..<Self.limit {
      blocked.begin(after: Self.id(start * 10))
      try blocked.end(through: Self.id(start * 10 + 5), retentionFloor: .zero, "")
    }
    blocked.begin(after: Self.id(5_000))
    #expect(throws: Refusal.self) { try blocked.end(through: Self.id(5_005), retentionFloor: .zero, "") }
    #expect(blocked.contains(11) && blocked.contains(6_000))
    try blocked.end(through: Self.id(5_005), retentionFloor: 16, "")
    #expect(!blocked.contains(11) && blocked.contains(21) && !blocked.contains(6_000))
    // If the end cannot be refused, it adds an interval, and the next beginning works as before.
    for start in 600..<610 {
      blocked.begin(after: Self.id(start * 10))
      blocked.endWithMembership(through: Self.id(start * 10 + 5))
    }
    #expect(blocked.contains(21) && blocked.contains(6_001))
  }

  @Test func aRecordWithMoreIsReadWhole() throws {
    let long = (10..<50).map { "17637000000\($0)-4096,17637000000\($0)-4098" }.joined(separator: ";")
    let text = "m \(long) s/\(long) x/\(long) c7/\(long) d7/\(long) w7/\(long) b7/\(long)"
    let record = try #require(MemberRecord(text: text))
    #expect(record.text == text)
    #expect(record.membership.intervals.all.count == 40)
    #expect(record.membership.channels[7]?.blocked.intervals.all.count == 40)
  }

  // MARK: Stays

  @Test func theStayAfterTheLastThatIsRememberedIsRefused() throws {
    var desk = try ServerDesk()
    for _ in 0..<Self.limit {
      try desk.carryOut(RefusalTests.add(ServerDesk.app, [Self.sue]))
      try desk.carryOut(RefusalTests.kick(ServerDesk.app, [Self.sue]))
    }
    let stays = try #require(desk.former(Self.sue)?.membership.intervals)
    #expect(stays.all.count == Self.limit)
    let before = desk.texts
    let refusal = desk.refusal(of: RefusalTests.add(ServerDesk.app, ["sam", Self.sue]))
    #expect(refusal?.code == .tooMany)
    #expect(refusal?.detail.contains("sue has been in server 1") == true)
    #expect(desk.texts == before)
    #expect(desk.refusal(of: RefusalTests.add(ServerDesk.app, ["sam"])) == nil)

    desk.nowMilliseconds += desk.limits.retentionMilliseconds + 1_000
    try desk.carryOut(RefusalTests.add(ServerDesk.app, [Self.sue]))
    #expect(desk.member(Self.sue)?.membership.intervals.all.count == 1)
  }

  /// Into a room one goes several times a day.
  @Test func aRoomIsEnteredMoreOften() throws {
    let room: EntityID = 9
    let space = SpaceID.room(room)
    var desk = try Desk([
      CreateRoom(id: room, host: "hal", actor: Actor(account: "hal"), subject: "practice")
    ])
    let enter = EnterRoom(room, actor: Actor(account: Self.bob))
    for _ in 0..<SpaceKind.room.intervalsMax {
      try desk.carryOut(enter)
      try desk.carryOut(LeaveRoom(room, actor: Actor(account: Self.bob)))
    }
    #expect(desk.former(Self.bob, of: space)?.membership.intervals.all.count == SpaceKind.room.intervalsMax)
    #expect(desk.refusal(of: enter)?.code == .tooMany)
    desk.nowMilliseconds += desk.limits.retentionMilliseconds + 1_000
    #expect(desk.refusal(of: enter) == nil)
  }

  // MARK: Channels

  /// Removed channels count until retention has passed.
  @Test func oneChannelTooManyIsRefused() throws {
    var desk = try ServerDesk()
    var member = try #require(desk.member("mia"))
    let known = member.membership.channels.count
    let ended = Intervals([
      Interval(after: 1, through: MessageID(firstAtUnixMilliseconds: desk.nowMilliseconds))
    ])
    for number in 0..<(Limits.channelsPerMember - known - 1) {
      let id = try #require(EntityID("\(1_000 + number)"))
      member.membership.channels[id] = Membership.Channel(intervals: ended)
    }
    desk.desk.texts[.member("mia", of: ServerDesk.space)] = member.text
    try desk.carryOut(Self.create(7, with: ["mia"]))
    let refusal = desk.refusal(of: Self.create(8, with: ["max", "mia"]))
    #expect(
      refusal?.code == .tooMany
        && refusal?.detail.contains("mia belongs or belonged to 1000 channels") == true)
    let allow = ChangeChannelList(
      ServerDesk.server, id: 12, actor: ServerDesk.olivia, list: .allow, adds: true, accounts: ["mia"])
    #expect(desk.refusal(of: allow)?.code == .tooMany)
    let subscribe = SetSubscription(
      ServerDesk.server, channel: 13, actor: ServerDesk.mia, isSubscribed: true)
    #expect(desk.refusal(of: subscribe)?.code == .tooMany)
    // A block has more room.
    let block = ChangeChannelList(
      ServerDesk.server, id: 13, actor: ServerDesk.olivia, list: .block, adds: true, accounts: ["mia"])
    #expect(desk.refusal(of: block) == nil)
    #expect(desk.refusal(of: Self.create(8, with: ["max"])) == nil)
    desk.nowMilliseconds += desk.limits.retentionMilliseconds + 1_000
    #expect(desk.refusal(of: Self.create(8, with: ["max", "mia"])) == nil)
  }

  /// Blocks have twice as much room, and mutes as much as channels.
  @Test func oneBlockOrMuteTooManyIsRefused() throws {
    var desk = try ServerDesk()
    var member = try #require(desk.member("mia"))
    let mute = MuteInChannel(
      ServerDesk.server, id: 13, actor: ServerDesk.olivia, accounts: ["mia"], durationMilliseconds: 1_000)
    let block = ChangeChannelList(
      ServerDesk.server, id: 13, actor: ServerDesk.olivia, list: .block, adds: true, accounts: ["mia"])
    let known = member.membership.channels.count
    let most = Limits.channelsPerMember
    for number in 0..<(2 * most - known) {
      let id = try #require(EntityID("\(1_000 + number)"))
      if number < most { member.channelMutes[id] = .max }
      member.membership.channels[id] = Membership.Channel(blocked: .since(1))
    }
    desk.desk.texts[.member("mia", of: ServerDesk.space)] = member.text
    #expect(desk.refusal(of: mute)?.detail.contains("mia is muted in 1000 channels") == true)
    #expect(desk.refusal(of: block)?.detail.contains("ban the account from the server instead") == true)
    var unblock = block
    unblock.adds = false
    #expect(desk.refusal(of: unblock)?.code != .tooMany, "it takes no room")
    let one: EntityID = 1_000
    member.channelMutes[one] = nil
    member.membership.channels[one] = nil
    desk.desk.texts[.member("mia", of: ServerDesk.space)] = member.text
    #expect(desk.refusal(of: mute) == nil && desk.refusal(of: block) == nil)
  }

  /// A record has room for twice the channels that a server may have.
  @Test func aServerWithManyChannelsHasMembersOfAll() throws {
    var desk = try ServerDesk()
    desk.limits.channelsPerServer = 2_000
    var member = try #require(desk.member("mia"))
    for number in 0..<3_990 {
      let id = try #require(EntityID("\(1_000 + number)"))
      member.membership.channels[id] = Membership.Channel(intervals: .since(1))
    }
    desk.desk.texts[.member("mia", of: ServerDesk.space)] = member.text
    #expect(desk.refusal(of: Self.create(7, with: ["mia"])) == nil)
  }

  private static func create(_ id: EntityID, with members: [AccountID]) -> CreateChannel {
    CreateChannel(
      ServerDesk.server, id: id, actor: ServerDesk.app, name: "landing", type: .private, membership: .roster,
      members: members)
  }

  // MARK: Subscriptions

  @Test(arguments: [nil, 11] as [EntityID?])
  func whatASubscriberWasSentStaysTheirs(channel: EntityID?) throws {
    var desk = try ServerDesk()
    let subscribe = RefusalTests.subscribe("mia", channel)
    var unsubscribe = subscribe
    unsubscribe.isSubscribed = false
    var seen: [MessageID] = []
    var refusals = 0
    for _ in 0..<40 {
      do throws(Refusal) {
        guard try desk.carryOut(subscribe) != nil else { break }
        seen.append(MessageID(desk.lastID.raw - 1) ?? .zero)
        _ = try desk.carryOut(unsubscribe)
      } catch {
        #expect(error.code == .tooMany)
        refusals += 1
      }
    }
    #expect(seen.count == Self.limit && refusals == 40 - Self.limit)
    let membership = try #require(desk.member("mia")?.membership)
    var audience = Audience(.subscribed, channel: channel)
    audience.channelHasRoster = channel != nil
    for id in seen { #expect(audience.admits("mia", membership: membership, at: id).isVisible) }
    // Ending one that lasts is never refused.
    #expect(desk.refusal(of: unsubscribe) == nil)
  }

  @Test func ofManyChannelsTheOneThatIsTooOftenFailsAlone() throws {
    var desk = try ServerDesk()
    var change = RefusalTests.subscribe("mia", 13)
    for _ in 0..<Self.limit {
      for isSubscribed in [true, false] {
        change.isSubscribed = isSubscribed
        try desk.carryOut(change)
      }
    }
    let both = SubscribeToChannels(
      ServerDesk.server, channels: [10, 13], actor: ServerDesk.mia, isSubscribed: true)
    #expect(try desk.decide(both).output.mapValues(\.code) == [13: .tooMany])
    try desk.carryOut(both)
    #expect(desk.member("mia")?.membership.channels[10]?.subscription.current != nil)
  }

  // MARK: Channels

  @Test func aChannelsRosterAndItsAllowListAreExact() throws {
    var desk = try ChannelDesk.desk()
    for _ in 0..<Self.limit {
      try desk.carryOut(ChannelDesk.join(11, "pia"))
      try desk.carryOut(ChannelDesk.leave(11, "pia"))
      try desk.carryOut(ChannelDesk.list(12, ChannelDesk.app, .allow, ["pia"]))
      try desk.carryOut(ChannelDesk.list(12, ChannelDesk.app, .allow, adds: false, ["pia"]))
    }
    #expect(desk.refusal(of: ChannelDesk.join(11, "pia"))?.code == .tooMany)
    let refusal = desk.refusal(of: ChannelDesk.list(12, ChannelDesk.app, .allow, ["meg", "pia"]))
    #expect(refusal?.code == .tooMany)
    #expect(refusal?.detail.contains("pia") == true)
    let channels = try #require(desk.member("pia", of: ChannelDesk.space)?.membership.channels)
    #expect(channels[11]?.intervals.all.count == Self.limit)
    #expect(channels[12]?.allowed.all.count == Self.limit)
  }

  /// Entries that were sent to a channel while an account was blocked from it are never shown to that
  /// account, after any number of blocks.
  @Test func whatWasSentToTheBlockedStaysHidden() throws {
    var desk = try ServerDesk()
    var hidden: [MessageID] = []
    var refused = 0
    for _ in 0..<40 {
      // A block begins in any state before, so it cannot be refused.
      try desk.carryOut(ChannelDesk.list(13, ServerDesk.app, .block, ["mia"]))
      hidden.append(MessageID(desk.lastID.raw - 1) ?? .zero)
      do throws(Refusal) {
        _ = try desk.carryOut(ChannelDesk.list(13, ServerDesk.app, .block, adds: false, ["mia"]))
      } catch {
        #expect(error.code == .tooMany)
        refused += 1
      }
    }
    #expect(refused == 40 - (Self.limit - 1))
    let membership = try #require(desk.member("mia")?.membership)
    for id in hidden {
      let verdict = Audience(.all, channel: 13).admits("mia", membership: membership, at: id)
      #expect(verdict == .hidden(because: .blocked))
    }
    // The owner and the admins are blocked from no channel, so a member who cannot be unblocked cannot be
    // made an admin.
    let promote = SetAdmin(ServerDesk.server, actor: ServerDesk.olivia, account: "mia", isAdmin: true)
    #expect(desk.refusal(of: promote)?.code == .tooMany)
    desk.nowMilliseconds += desk.limits.retentionMilliseconds + 1_000
    #expect(desk.refusal(of: promote) == nil)
  }

  // MARK: Receiving

  @Test func whatWasSentToWhoStoppedReceivingStaysHidden() throws {
    var desk = try GroupDesk.desk()
    var hidden: [MessageID] = []
    var refused = 0
    for _ in 0..<40 {
      try desk.carryOut(GroupDesk.receive("mia", false))
      hidden.append(MessageID(desk.lastID.raw) ?? .zero)
      do throws(Refusal) { try desk.carryOut(GroupDesk.receive("mia", true)) } catch { refused += 1 }
    }
    #expect(refused == 40 - (Self.limit - 1))
    #expect(desk.refusal(of: GroupDesk.admin(GroupDesk.olga, "mia"))?.code == .tooMany)
    // Leaving is always possible, and ends the interval. A member who comes back begins a new one.
    try desk.carryOut(GroupDesk.leave("mia"))
    var invite = GroupDesk.invite(GroupDesk.olga, ["mia"])
    try desk.carryOut(GroupDesk.asking(false))
    invite.message = nil
    try desk.carryOut(invite)
    try desk.carryOut(GroupDesk.receive("mia", false))
    let membership = try #require(desk.groupMember("mia")?.membership)
    for id in hidden { #expect(membership.stopped.contains(id)) }
    #expect(membership.stopped.current != nil)
  }

  private static func id(_ number: Int) -> MessageID { MessageID(Int64(number)) ?? .zero }
}
