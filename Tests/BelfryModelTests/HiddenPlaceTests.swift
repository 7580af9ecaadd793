import BelfryModel
import ModelSamples
import Testing

/// A place that an account may not know of is refused as one that does not exist.
@Suite struct HiddenPlaceTests {
  /// Channel 12 is private, and there is no channel 99. `mia` is a member of the server.
  private static let inChannels: [@Sendable (EntityID) -> any Operation] = [
    { SetSubscription(1, channel: $0, actor: ServerDesk.mia, isSubscribed: true) },
    { SetSubscription(1, channel: $0, actor: ServerDesk.mia, isSubscribed: false) },
    { JoinChannel(1, id: $0, actor: ServerDesk.mia) },
    { LeaveChannel(1, id: $0, actor: ServerDesk.mia) },
    { InviteToChannel(1, id: $0, actor: ServerDesk.mia, accounts: ["adam"], postscript: nil) },
    {
      AnswerChannelInvitation(
        1, id: $0, request: RequestID(.channelInvitation, of: "mia", in: .server(1), channel: $0),
        actor: ServerDesk.mia, isAccepted: true, postscript: nil)
    },
    { RemoveFromChannel(1, id: $0, actor: ServerDesk.mia, accounts: ["max"]) },
    { UpdateChannel(1, id: $0, actor: ServerDesk.mia) },
    { RemoveChannel(1, id: $0, actor: ServerDesk.mia) },
    { MuteInChannel(1, id: $0, actor: ServerDesk.mia, accounts: ["max"], durationMilliseconds: 1) },
    { UnmuteInChannel(1, id: $0, actor: ServerDesk.mia, accounts: ["max"]) },
    { ChangeChannelList(1, id: $0, actor: ServerDesk.mia, list: .allow, adds: true, accounts: ["max"]) },
  ]

  @Test func aPrivateChannelIsNotThere() throws {
    let desk = try ServerDesk()
    for (number, operation) in Self.inChannels.enumerated() {
      let refusal = try #require(Self.refusal(of: operation(12), on: desk.desk))
      #expect(refusal.code == .notFound, "\(number)")
      let other = try #require(Self.refusal(of: operation(99), on: desk.desk))
      #expect(refusal.code == other.code, "\(number)")
      #expect(refusal.detail.replacing("12", with: "99") == other.detail, "\(number)")
      #expect(refusal.field == other.field, "\(number)")
    }
    let listed = SubscribeToChannels(1, channels: [12, 99], actor: ServerDesk.mia, isSubscribed: true)
    #expect(try desk.decide(listed).output.mapValues(\.code) == [12: .notFound, 99: .notFound])
  }

  /// Channel 13 is public and everyone's, and `ben` is on its block list.
  @Test func anAccountOnTheBlockListDoesNotSubscribe() throws {
    let desk = try ChannelDesk.desk()
    func subscribe(_ account: AccountID, _ isSubscribed: Bool = true) -> SetSubscription {
      SetSubscription(1, channel: 13, actor: Actor(account: account), isSubscribed: isSubscribed)
    }
    #expect(desk.refusal(of: subscribe("pia")) == nil)
    #expect(desk.refusal(of: subscribe("ben"))?.code == .banned)
    #expect(desk.refusal(of: subscribe("ben", false)) == nil)
    let listed = SubscribeToChannels(1, channels: [13], actor: Actor(account: "ben"), isSubscribed: true)
    #expect(try desk.decide(listed).output.mapValues(\.code) == [13: .banned])
  }

  @Test(arguments: ["mia", "sam"] as [AccountID])
  func nobodySendsIntoAPrivateChannelThatIsNotTheirs(account: AccountID) throws {
    let desk = try ServerDesk()
    var refusals: [Refusal] = []
    for channel in [12, 99] as [EntityID] {
      for named in [nil, ["max"]] as [[AccountID]?] {
        var content = NotificationContent(type: Catalogue.custom.code, toType: .channel)
        (content.serverId, content.channelId, content.toAccids) = (1, channel, named)
        let send = try SendNotification.sends(content, by: Actor(account: account), generatedClientId: "1")[0]
        refusals.append(try #require(desk.refusal(of: send)))
      }
    }
    #expect(Set(refusals.map(\.code)) == [account == "mia" ? .notFound : .notMember])
    #expect(Set(refusals.map { $0.detail.replacing("12", with: "99") }).count == 1)
  }

  /// To strangers, and to those who were put out of it.
  @Test func aPrivateGroupIsNotThere() throws {
    let desk = try GroupDesk.desk(.privateMembersInvite)
    for account in ["sam", "ben", "fay"] as [AccountID] {
      let actor = Actor(account: account)
      let operations: [any Operation] = [
        InviteToGroup(5, actor: actor, accounts: ["sue"]), LeaveGroup(5, actor: actor),
        AnswerGroupInvitation(
          5, actor: actor, request: RequestID(.invitation, of: account, in: .group(5)), isAccepted: true),
        ApplyToGroup(5, actor: actor), DestroyGroup(5, actor: actor), UpdateGroup(5, actor: actor),
        RemoveGroupMembers(5, actor: actor, accounts: ["mia"]),
        SetGroupReceiving(5, actor: actor, receives: true),
        SetGroupAnnouncement(5, actor: actor, announcement: "x"), RemoveGroupFile(5, id: 1, actor: actor),
        SetMemberAttributes(5, actor: actor, account: account, attributes: ["a": "b"]),
      ]
      for operation in operations {
        #expect(Self.refusal(of: operation, on: desk) == .absent(GroupRecord.self, .group(5)), "\(operation)")
      }
      var content = NotificationContent(type: Catalogue.custom.code, toType: .group)
      content.groupId = 5
      let send = try SendNotification.sends(content, by: actor, generatedClientId: "1")[0]
      #expect(desk.refusal(of: send) == .absent(GroupRecord.self, .group(5)))
    }
    let invited = AnswerGroupInvitation(
      5, actor: Actor(account: "ivy"), request: GroupDesk.invitation("ivy"), isAccepted: true)
    #expect(desk.refusal(of: invited) == nil)
  }

  private static func refusal(of operation: any Operation, on desk: Desk) -> Refusal? {
    func ask<Op: Operation>(_ operation: Op) -> Refusal? { desk.refusal(of: operation) }
    return ask(operation)
  }
}
