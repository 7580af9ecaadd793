import BelfryModel
import ModelSamples
import Testing

/// The acts of others that an account allows, by its options and its block list.
@Suite struct ConsentTests {
  static let stranger = Actor(account: "sam")
  static let trusted = Actor(account: nil, isTrusted: true)
  /// On behalf of somebody.
  static let backEnd = Actor(account: "sam", isTrusted: true)

  private func desk(_ options: (inout UpdateAccount) -> Void, of account: AccountID = "bob") throws -> Desk {
    var update = UpdateAccount(account, actor: Actor(account: account))
    options(&update)
    return try Desk([update])
  }

  private func send(_ accounts: [AccountID], by actor: Actor) throws -> SendNotification {
    var content = NotificationContent(type: Catalogue.custom.code, toType: .accounts)
    content.toAccids = accounts
    return try SendNotification.sends(content, by: actor, generatedClientId: "1")[0]
  }

  // MARK: Direct notifications

  @Test func anybodyWritesToWhoeverChoseNothing() throws {
    #expect(try Desk().refusal(of: send(["bob"], by: Self.stranger)) == nil)
    #expect(try Desk().refusal(of: send(["bob", "carol"], by: Self.stranger)) == nil)
  }

  @Test(arguments: [["bob"], ["carol", "bob"]] as [[AccountID]])
  func whoIsNotWantedIsRefusedAndNobodyIsSentAnything(accounts: [AccountID]) throws {
    let refusal = Refusal(
      .blocked, "bob does not accept notifications from you; nothing was done", field: "toAccids")
    var nobody = try desk { $0.mayWrite = .nobody }
    #expect(nobody.refusal(of: try send(accounts, by: Self.stranger)) == refusal)
    var blocking = try Desk([BlockAccount("sam", by: "bob", actor: Actor(account: "bob"), isBlocked: true)])
    #expect(blocking.refusal(of: try send(accounts, by: Self.stranger)) == refusal, "the two look alike")
    for actor in [Self.trusted, Self.backEnd] {
      #expect(nobody.refusal(of: try send(accounts, by: actor)) == nil)
      #expect(blocking.refusal(of: try send(accounts, by: actor)) == nil)
    }
    try nobody.carryOut(UpdateAccount.letting(\.mayWrite, .everybody, "bob"))
    try blocking.carryOut(BlockAccount("sam", by: "bob", actor: Actor(account: "bob"), isBlocked: false))
    #expect(nobody.refusal(of: try send(accounts, by: Self.stranger)) == nil)
    #expect(blocking.refusal(of: try send(accounts, by: Self.stranger)) == nil)
  }

  @Test func whoSharesASpaceMayWriteUnlessBlocked() throws {
    var desk = try desk { $0.mayWrite = .sharedSpace }
    #expect(desk.refusal(of: try send(["bob"], by: Self.stranger))?.code == .blocked)
    desk.company = ["bob"]
    #expect(desk.refusal(of: try send(["bob"], by: Self.stranger)) == nil)
    try desk.carryOut(BlockAccount("sam", by: "bob", actor: Actor(account: "bob"), isBlocked: true))
    #expect(desk.refusal(of: try send(["bob"], by: Self.stranger))?.code == .blocked)
  }

  @Test func everybodyMayWriteToThemselves() throws {
    let desk = try desk({ $0.mayWrite = .nobody }, of: "sam")
    #expect(desk.refusal(of: try send(["sam"], by: Self.stranger)) == nil)
  }

  @Test func whoWasBlockedSinceChangesNothing() throws {
    var content = NotificationContent(type: Catalogue.custom.code, toType: .accounts)
    content.fromAccount = "sam"
    let entry = LogEntry(
      id: Desk.start, audience: Audience(.named, named: ["bob"]), contentJSON: content.json)
    let update = try UpdateNotification(
      entry, in: .personal("bob"), by: Self.stranger, body: "again", ext: nil, status: nil)
    var desk = try Desk()
    #expect(desk.refusal(of: update) == nil)
    try desk.carryOut(BlockAccount("sam", by: "bob", actor: Actor(account: "bob"), isBlocked: true))
    #expect(desk.refusal(of: update)?.code == .blocked)
  }

  // MARK: Mailboxes

  @Test func aDirectMessageNeedsRoomInEveryMailbox() throws {
    var desk = try Desk()
    desk.limits.directMessagesPerMailbox = 8
    desk.limits.unreadPerSender = 5
    let levels: [(MailboxLevel, user: Bool, trusted: Bool)] = [
      (MailboxLevel(directMessages: 5), true, true), (MailboxLevel(directMessages: 6), false, true),
      (MailboxLevel(directMessages: 8), false, false),
      (MailboxLevel(directMessages: 0, fromSender: 4), true, true),
      (MailboxLevel(directMessages: 0, fromSender: 5), false, true),
    ]
    for (level, user, trusted) in levels {
      desk.mailboxLevel = level
      let refusal = desk.refusal(of: try send(["bob", "carol"], by: Self.stranger))
      #expect(refusal == (user ? nil : .mailboxFull(["bob", "carol"], field: "toAccids")), "\(level)")
      #expect((desk.refusal(of: try send(["bob", "carol"], by: Self.trusted)) == nil) == trusted)
    }
  }

  @Test func whoIsAskedNeedsRoomForTheInvitation() throws {
    var desk = try ServerDesk()
    desk.desk.mailboxLevel = MailboxLevel(entries: desk.limits.notificationsPerMailbox)
    let invite = InviteToServer(1, actor: ServerDesk.olivia, accounts: ["sam", "sue"], requestId: "r")
    #expect(desk.refusal(of: invite) == .mailboxFull(["sam", "sue"], field: "accids"))
    var groups = try GroupDesk.desk()
    groups.mailboxLevel = MailboxLevel(fromSender: groups.limits.unreadPerSender)
    let invitation = InviteToGroup(5, actor: GroupDesk.adam, accounts: ["sam", "zed"])
    #expect(groups.refusal(of: invitation) == .mailboxFull(["sam"], field: "accids"), "zed is not asked")
  }

  // MARK: Invitations

  @Test func whoTakesNoInvitationsIsNotInvited() throws {
    for list in [AccountRecord.Circle.nobody, .sharedSpace] {
      var desk = try ServerDesk()
      try desk.carryOut(UpdateAccount.letting(\.mayInvite, list, "sam"))
      let invite = InviteToServer(1, actor: ServerDesk.olivia, accounts: ["sue", "sam"], requestId: "r")
      #expect(desk.refusal(of: invite)?.code == .blocked)
      let byApp = InviteToServer(
        1, actor: Actor(account: "olivia", isTrusted: true), accounts: ["sue", "sam"], requestId: "r")
      #expect(desk.refusal(of: byApp) == nil)
      desk.desk.company = ["sam"]
      #expect((desk.refusal(of: invite) == nil) == (list == .sharedSpace))

      var groups = try GroupDesk.desk()
      try groups.carryOut(UpdateAccount.letting(\.mayInvite, list, "sam"))
      let invitation = InviteToGroup(5, actor: GroupDesk.adam, accounts: ["sue", "sam"])
      #expect(groups.refusal(of: invitation)?.code == .blocked)
    }
    var desk = try ServerDesk()
    try desk.carryOut(BlockAccount("olivia", by: "sam", actor: Actor(account: "sam"), isBlocked: true))
    let invite = InviteToServer(1, actor: ServerDesk.olivia, accounts: ["sam"], requestId: "r")
    #expect(desk.refusal(of: invite)?.code == .blocked)
    #expect(
      desk.refusal(of: InviteToServer(1, actor: ServerDesk.adam, accounts: ["sam"], requestId: "r")) == nil)
  }

  @Test func channelsToo() throws {
    var desk = try ServerDesk()
    let invite = InviteToChannel(
      1, id: 11, actor: ServerDesk.mia, accounts: ["adam", "max"], postscript: nil)
    #expect(desk.refusal(of: invite) == nil)
    try desk.carryOut(BlockAccount("mia", by: "max", actor: Actor(account: "max"), isBlocked: true))
    #expect(
      desk.refusal(of: invite)
        == Refusal(.blocked, "max does not accept invitations from you; nothing was done", field: "accids"))
  }

  @Test func whoDoesNotWantToBePutSomewhereIsAsked() throws {
    var desk = try ServerDesk()
    var open = UpdateServer(1, actor: ServerDesk.olivia)
    open.inviteMode = .joinsAtOnce
    try desk.carryOut(open)
    try desk.carryOut(UpdateAccount.letting(\.mayAdd, .nobody, "sam"))
    let invite = InviteToServer(1, actor: ServerDesk.olivia, accounts: ["sam", "sue"], requestId: "r")
    let admissions = try desk.decide(invite).output
    #expect(admissions.mapValues(\.hasJoined) == ["sam": false, "sue": true])
    let byApp = InviteToServer(
      1, actor: Actor(account: "olivia", isTrusted: true), accounts: ["sam"], requestId: "r")
    #expect(try desk.decide(byApp).output.mapValues(\.hasJoined) == ["sam": true])

    var groups = try GroupDesk.desk()
    var asking = UpdateGroup(5, actor: GroupDesk.olga)
    asking.inviteNeedConfirm = false
    try groups.carryOut(asking)
    try groups.carryOut(UpdateAccount.letting(\.mayAdd, .nobody, "sam"))
    let invitations = try groups.decide(
      InviteToGroup(5, actor: GroupDesk.adam, accounts: ["sam", "sue"])
    ).output
    #expect(invitations.joined == ["sue"])
    #expect(invitations.asked.map(\.account) == ["sam"])
  }

  /// Half of the places are left for where an account goes by its own will.
  @Test func othersDoNotFillTheLastPlaces() throws {
    var desk = try ServerDesk()
    desk.limits.serversPerAccount = 6
    var open = UpdateServer(1, actor: ServerDesk.olivia)
    open.inviteMode = .joinsAtOnce
    open.applyMode = .joinsAtOnce
    try desk.carryOut(open)
    for (servers, joins) in [(2, true), (3, false), (5, false)] {
      desk.serversOfEachJoiner = servers
      let invite = InviteToServer(1, actor: ServerDesk.olivia, accounts: ["sam"], requestId: "r")
      #expect(try desk.decide(invite).output["sam"]?.hasJoined == joins, "\(servers)")
      #expect(try desk.decide(ApplyToServer(1, actor: ServerDesk.sam)).output.hasJoined)
    }
    var groups = try GroupDesk.desk()
    groups.limits.groupsPerAccount = 6
    for (count, joins) in [(2, true), (3, false)] {
      groups.spacesOfEachJoiner = count
      let invite = InviteToGroup(5, actor: GroupDesk.adam, accounts: ["zed"])
      #expect(try groups.decide(invite).output.joined == (joins ? ["zed"] : []))
    }
    // Put in and out again, over and over: it is nowhere, and its feed reads all of them.
    groups.spacesOfEachJoiner = 0
    groups.spacesLeftByEachJoiner = 3
    let again = InviteToGroup(5, actor: GroupDesk.adam, accounts: ["zed"])
    #expect(try groups.decide(again).output.joined == [])
  }

  // MARK: The list

  @Test func aBlockListHasAnEnd() throws {
    var desk = try Desk()
    for number in 0..<Limits.blockedPerAccount {
      let name = try #require(AccountID("a\(number)"))
      desk.texts[.blocked(name, by: "bob")] = "1"
    }
    let bob = Actor(account: "bob")
    #expect(desk.refusal(of: BlockAccount("sam", by: "bob", actor: bob, isBlocked: true))?.code == .tooMany)
    #expect(try desk.decide(BlockAccount("a1", by: "bob", actor: bob, isBlocked: true)).transaction == nil)
    #expect(desk.refusal(of: BlockAccount("a1", by: "bob", actor: bob, isBlocked: false)) == nil)
    #expect(desk.refusal(of: BlockAccount("bob", by: "bob", actor: bob, isBlocked: true))?.field == "accid")
    #expect(
      desk.refusal(of: BlockAccount("a1", by: "bob", actor: Self.stranger, isBlocked: false))?.code
        == .forbidden)
  }

  @Test func aRecordOfAnEarlierTimeLetsEverybody() throws {
    let text = #"{"autoAcceptInvitation":true}"#
    let record = try #require(RecordJSON.value(AccountRecord.self, text))
    #expect(record.autoAcceptInvitation)
    #expect([record.mayWrite, record.mayInvite, record.mayAdd] == [.everybody, .everybody, .everybody])
  }
}

extension UpdateAccount {
  static func letting(
    _ option: WritableKeyPath<UpdateAccount, AccountRecord.Circle?>, _ circle: AccountRecord.Circle,
    _ account: AccountID
  ) -> UpdateAccount {
    var update = UpdateAccount(account, actor: Actor(account: account))
    update[keyPath: option] = circle
    return update
  }
}
