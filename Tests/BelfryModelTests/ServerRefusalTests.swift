import BelfryModel
import ModelSamples
import Testing

/// Refusals on servers that do not depend on the caller. ``ServerAccessTests`` has those that do.
struct ServerRefusalTests {
  typealias Row = RefusalTests.Row

  private static let desk = ServerDesk.self
  private static let server = ServerDesk.server
  private static let tooManyAccounts = (0...Limits.accountsPerCall).compactMap { AccountID("u\($0)") }

  static let onWhom: [Row] = [
    Row("inviting nobody", desk.invite(desk.olivia, []), .invalidField, field: "accids"),
    Row("inviting too many", desk.invite(desk.olivia, tooManyAccounts), .invalidField, field: "accids"),
    Row("inviting oneself", desk.invite(desk.olivia, ["sam", "olivia"]), .invalidField, field: "accids"),
    Row("inviting a member", desk.invite(desk.olivia, ["sam", "mia"]), .conflict, field: "accids"),
    Row("inviting a banned one", desk.invite(desk.olivia, ["sue", "sam"]), .banned, field: "accids") {
      try $0.carryOut(desk.ban(desk.adam, ["sam"]))
    },
    Row("adding a banned one", RefusalTests.add(desk.app, ["sue", "sam"]), .banned, field: "accids") {
      try $0.carryOut(desk.ban(desk.adam, ["sam"]))
    },
    Row("adding nobody", RefusalTests.add(desk.app, []), .invalidField, field: "accids"),
    Row("banning nobody", desk.ban(desk.olivia, []), .invalidField, field: "accids"),
    Row("unbanning nobody", desk.unban(desk.olivia, []), .invalidField, field: "accids"),
    Row("kicking too many", RefusalTests.kick(desk.app, tooManyAccounts), .invalidField, field: "accids"),
    Row("correcting a stranger", desk.nick(desk.olivia, "sam"), .notFound, field: "accid"),
    Row("making a stranger an admin", desk.admin(desk.olivia, "sam"), .notFound, field: "accid"),
    Row("handing over to a stranger", desk.handOver(desk.olivia, to: "sam"), .notFound, field: "accid"),
    Row("creating for another", otherOwner, .forbidden),
  ]

  static let onRequests: [Row] = [
    Row(
      "accepting what was not asked", desk.answerInvitation(of: "sam", true), .notFound, field: "requestId"),
    Row(
      "accepting another's invitation", desk.answerInvitation(of: "sue", by: desk.sam, true), .notFound,
      field: "requestId"
    ) { try $0.carryOut(desk.invite(desk.olivia, ["sue"])) },
    Row(
      "accepting when banned meanwhile", desk.answerInvitation(of: "sam", true), .banned
    ) {
      try $0.carryOut(desk.invite(desk.olivia, ["sam"]))
      try $0.carryOut(desk.ban(desk.olivia, ["sam"]))
    },
    Row(
      "answering an invitation for the invitee", ofInvitation(by: desk.olivia), .notFound, field: "requestId"
    ) { try $0.carryOut(desk.invite(desk.olivia, ["sam"])) },
    Row(
      "approving what was not asked", desk.answerApplication(of: "sam", by: desk.adam, true), .notFound,
      field: "requestId"),
    Row(
      "approving after another declined", desk.answerApplication(of: "sam", by: desk.adam, true), .notFound,
      field: "requestId"
    ) {
      try $0.carryOut(desk.needsApproval)
      try $0.carryOut(desk.apply(desk.sam))
      try $0.carryOut(desk.answerApplication(of: "sam", by: desk.olivia, false))
    },
    Row(
      "approving too late", desk.answerApplication(of: "sam", by: desk.adam, true), .notFound,
      field: "requestId"
    ) {
      try $0.carryOut(desk.needsApproval)
      try $0.carryOut(desk.apply(desk.sam))
      $0.nowMilliseconds += $0.limits.invitationMilliseconds
    },
    Row("making the same code", desk.createCode(desk.adam), .conflict, field: "code") {
      try $0.carryOut(desk.createCode(desk.adam))
    },
    Row("revoking no code", desk.revokeCode(desk.adam), .notFound, field: "code"),
    Row("joining by no code", desk.join(desk.sam), .notFound, field: "code"),
  ]

  static let onLimits: [Row] = [
    Row("a postscript too long", desk.invite(desk.olivia, ["sam"], long), .invalidField, field: "postscript"),
    Row("an application too long", desk.apply(desk.sam, long), .invalidField, field: "postscript"),
    Row(
      "a rejection too long", desk.answerInvitation(of: "sam", false, long), .invalidField,
      field: "postscript"),
    Row(
      "a refusal too long", desk.answerApplication(of: "sam", by: desk.adam, false, long), .invalidField,
      field: "postscript"),
    Row("no name", update { $0.serverName = "" }, .invalidField, field: "name"),
    Row(
      "a name too long", update { $0.serverName = text(Limits.nameCharacters) }, .invalidField, field: "name"),
    Row("an icon too long", update { $0.icon = text(Limits.iconBytes) }, .invalidField, field: "icon"),
    Row("an ext too long", update { $0.ext = text(Limits.extBytes) }, .invalidField, field: "ext"),
    Row("creating with no name", nameless, .invalidField, field: "name"),
    Row(
      "a nick too long", member { $0.nick = text(Limits.nickCharacters) }, .invalidField, field: "nick"),
    Row(
      "an avatar too long", member { $0.avatar = text(Limits.iconBytes) }, .invalidField, field: "avatar"),
    Row("a member's ext too long", member { $0.ext = text(Limits.extBytes) }, .invalidField, field: "ext"),
    Row("subscribing to none", desk.subscribe(desk.mia, to: []), .invalidField, field: "channelIds"),
    Row(
      "subscribing to more than there can be",
      desk.subscribe(desk.mia, to: (1...101).compactMap { EntityID(Int64($0)) }), .invalidField,
      field: "channelIds"),
    Row("entering a full server", desk.apply(desk.sam), .tooMany) { $0.limits.membersPerServer = 4 },
    Row("entering one server too many", desk.join(desk.sam), .tooMany) {
      try $0.carryOut(desk.createCode(desk.adam))
      $0.serversOfEachJoiner = $0.limits.serversPerAccount
    },
    Row("one admin too many", desk.admin(desk.olivia, "mia"), .tooMany) {
      let admins = (1..<Limits.adminsPerSpace).compactMap { AccountID("a\($0)") }
      try $0.carryOut(RefusalTests.add(desk.app, admins))
      for admin in admins { try $0.carryOut(desk.admin(desk.olivia, admin)) }
    },
    Row("one invitation too many", desk.invite(desk.olivia, ["sam", "sue"]), .tooMany) {
      $0.fill(.requests, with: Limits.requestsPerSpace - 1)
    },
    Row("one application too many", desk.apply(desk.sam), .tooMany) {
      try $0.carryOut(desk.needsApproval)
      $0.fill(.requests, with: Limits.requestsPerSpace)
    },
    Row("one code too many", desk.createCode(desk.olivia), .tooMany) {
      $0.fill(.codes, with: Limits.inviteCodesPerServer)
    },
    Row("one ban too many", desk.ban(desk.olivia, ["sam"]), .tooMany) {
      $0.fill(.banned, with: Limits.bannedPerSpace)
    },
  ]

  @Test(arguments: onWhom + onRequests + onLimits)
  func isRefused(row: Row) throws { try RefusalTests().isRefused(row: row) }

  @Test func aRefusalNamesWhoIsToBlame() throws {
    var desk = try ServerDesk()
    try desk.carryOut(ServerDesk.ban(ServerDesk.adam, ["sam"]))
    for (account, operation) in [
      ("sam", ServerDesk.invite(ServerDesk.olivia, ["sue", "sam"])),
      ("mia", ServerDesk.invite(ServerDesk.olivia, ["sue", "mia"])),
    ] { #expect(desk.refusal(of: operation)?.detail.contains(account) == true) }
  }

  /// A table that is full still takes what takes the place of something, and no ceiling stands in its way.
  @Test func invitingAgainNeedsNoRoom() throws {
    var desk = try ServerDesk()
    try desk.carryOut(ServerDesk.invite(ServerDesk.olivia, ["sam"]))
    desk.fill(.requests, with: Limits.requestsPerSpace - 1)
    let transaction = try #require(try desk.carryOut(ServerDesk.invite(ServerDesk.olivia, ["sam"])))
    #expect(transaction.ceilings.isEmpty)
  }

  /// The owner and the admins have a quarter of the places to themselves.
  @Test func membersWhoInviteAndStrangersWhoApplyLeavePlacesForTheOwner() throws {
    var desk = try ServerDesk()
    try desk.carryOut(ServerDesk.membersMayInvite)
    try desk.carryOut(ServerDesk.needsApproval)
    desk.fill(.requests, with: Limits.requestsPerSpace / 4 * 3)
    #expect(desk.refusal(of: ServerDesk.invite(ServerDesk.mia, ["sue"]))?.code == .tooMany)
    #expect(desk.refusal(of: ServerDesk.apply(ServerDesk.sam))?.code == .tooMany)
    for actor in [ServerDesk.olivia, ServerDesk.adam, Actor(account: "mia", isTrusted: true)] {
      #expect(desk.refusal(of: ServerDesk.invite(actor, ["sue"])) == nil)
    }
  }

  /// An applicant who goes on and on with other words is told of once in ten minutes.
  @Test func anApplicationWithOtherWordsIsNotAnnouncedAgainAtOnce() throws {
    var desk = try ServerDesk()
    try desk.carryOut(ServerDesk.needsApproval)
    let first = try #require(try desk.carryOut(ServerDesk.apply(ServerDesk.sam, "a")))
    #expect(first.announcements.count == 1)
    let request = RecordAddress.request(
      RequestID(.application, of: "sam", in: ServerDesk.space), of: ServerDesk.space)
    let expiry = desk.texts[request].flatMap { ExpiringText(text: $0)?.expiresAtMilliseconds }
    desk.nowMilliseconds += Limits.applicationPauseMilliseconds - 1
    let second = try #require(try desk.carryOut(ServerDesk.apply(ServerDesk.sam, "b")))
    #expect(second.announcements.isEmpty)
    let changed = try #require(desk.texts[request].flatMap { ExpiringText(text: $0) })
    #expect(changed.expiresAtMilliseconds == expiry && changed.rest.contains(#""b""#))
    desk.nowMilliseconds += 1
    let third = try #require(try desk.carryOut(ServerDesk.apply(ServerDesk.sam, "c")))
    #expect(third.announcements.count == 1)
  }

  // MARK: The operations of the tables

  private static let long = text(Limits.messageCharacters)
  private static let nameless = CreateServer(
    id: 2, defaultChannel: 20, owner: "mia", actor: desk.mia, name: "")
  private static let otherOwner = ServerAccessTests.create(desk.mia, owner: "max")

  /// One more than the limit.
  private static func text(_ limit: Int) -> String { String(repeating: "x", count: limit + 1) }

  private static func ofInvitation(by actor: Actor) -> AnswerServerApplication {
    AnswerServerApplication(
      server, actor: actor, id: RequestID(.invitation, of: "sam", in: desk.space), isAccepted: true)
  }
  private static func update(_ change: (inout UpdateServer) -> Void) -> UpdateServer {
    var update = UpdateServer(server, actor: desk.olivia)
    change(&update)
    return update
  }
  private static func member(_ change: (inout UpdateMember) -> Void) -> UpdateMember {
    var update = UpdateMember(server, actor: desk.mia, account: "mia")
    change(&update)
    return update
  }
}

extension ServerDesk {
  fileprivate mutating func fill(_ table: RecordTable, with records: Int) {
    for number in 0..<records {
      desk.texts[RecordAddress(Self.space, table, "\(number)")] = "0"
    }
  }
}
