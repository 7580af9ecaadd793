import BelfryModel
import ModelSamples
import TestKit
import Testing

/// The records left by the ways into a server, and by the ways of keeping an account out of it.
struct ServerMembershipTests {
  var desk: ServerDesk

  init() throws { desk = try ServerDesk() }

  private func request(_ kind: RequestRecord.Kind, of account: AccountID) -> ExpiringText? {
    let id = RequestID(kind, of: account, in: ServerDesk.space)
    return desk.texts[.request(id, of: ServerDesk.space)].flatMap { ExpiringText(text: $0) }
  }

  // MARK: Invitations

  @Test mutating func anInvitationWaitsAndSaysWhoAsked() throws {
    let output = try desk.decide(ServerDesk.invite(ServerDesk.adam, ["sam", "sue"])).output
    try desk.carryOut(ServerDesk.invite(ServerDesk.adam, ["sam", "sue"]))
    let waiting = try #require(request(.invitation, of: "sam"))
    #expect(waiting.expiresAtMilliseconds == desk.nowMilliseconds + desk.limits.invitationMilliseconds)
    #expect(
      RecordJSON.value(RequestRecord.self, waiting.rest)
        == RequestRecord(.invitation, of: "sam", inviter: "adam", message: "come"))
    #expect(Set(output.keys) == ["sam", "sue"])
    #expect(output["sam"]?.requestId == RequestID(.invitation, of: "sam", in: ServerDesk.space).text)
    #expect(output["sam"]?.requestId != output["sue"]?.requestId)
    #expect(output["sam"]?.hasJoined == false)
    #expect(desk.member("sam") == nil)
  }

  @Test mutating func whoIsNotAskedIsIn() throws {
    try desk.carryOut(ServerDesk.joinsByInvitation)
    let output = try desk.decide(ServerDesk.invite(ServerDesk.adam, ["sam"])).output
    try desk.carryOut(ServerDesk.invite(ServerDesk.adam, ["sam"]))
    #expect(output == ["sam": JoinOutcome(requestId: "r3", hasJoined: true)])
    #expect(desk.member("sam")?.role == .member)
    #expect(request(.invitation, of: "sam") == nil)
  }

  @Test(arguments: [true, false])
  mutating func anAnswerEndsTheInvitation(isAccepted: Bool) throws {
    try desk.carryOut(ServerDesk.invite(ServerDesk.adam, ["sam"]))
    let answer = ServerDesk.answerInvitation(of: "sam", isAccepted)
    let transaction = try #require(try desk.carryOut(answer))
    #expect((desk.member("sam") != nil) == isAccepted)
    #expect(request(.invitation, of: "sam") == nil)
    #expect(transaction.indexChanges == (isAccepted ? [IndexChange(.joined, ["sam"])] : []))
    #expect(transaction.echo?.operation.word == (isAccepted ? "acceptInvitation" : "rejectInvitation"))
    #expect(desk.refusal(of: answer)?.code == (isAccepted ? .conflict : .notFound))
  }

  @Test mutating func anInvitationLastsSoLongAndNoLonger() throws {
    try desk.carryOut(ServerDesk.invite(ServerDesk.adam, ["sam"]))
    desk.nowMilliseconds += desk.limits.invitationMilliseconds - 1
    #expect(desk.refusal(of: ServerDesk.answerInvitation(of: "sam", true)) == nil)
    desk.nowMilliseconds += 1
    #expect(desk.refusal(of: ServerDesk.answerInvitation(of: "sam", true))?.code == .notFound)
  }

  @Test mutating func invitingAgainStartsOver() throws {
    try desk.carryOut(ServerDesk.invite(ServerDesk.adam, ["sam"]))
    desk.nowMilliseconds += desk.limits.invitationMilliseconds - 1
    try desk.carryOut(ServerDesk.invite(ServerDesk.olivia, ["sam"], ""))
    desk.nowMilliseconds += 2
    let waiting = try #require(request(.invitation, of: "sam"))
    #expect(
      RecordJSON.value(RequestRecord.self, waiting.rest)
        == RequestRecord(.invitation, of: "sam", inviters: ["adam", "olivia"], message: "come"))
    #expect(desk.refusal(of: ServerDesk.answerInvitation(of: "sam", true)) == nil)
  }

  /// The earliest of more than ten gives way, and asking again takes no second place.
  @Test func theLatestInvitersAreKept() throws {
    var waiting: RequestRecord?
    let names = try (0..<12).map { try #require(AccountID("m\($0)")) }
    for name in names + [names[11]] {
      var request = RequestRecord(.invitation, of: "sam", inviter: name)
      if let waiting { request.keepInviters(of: waiting) }
      waiting = request
    }
    #expect(waiting?.inviters == Array(names.suffix(Limits.invitersPerRequest)))
  }

  @Test func anInvitationOfAnEarlierBuildHasItsInviter() throws {
    let text = #"{"account":"sam","inviter":"adam","kind":"invitation","message":"come"}"#
    let request = try #require(RecordJSON.value(RequestRecord.self, text))
    #expect(request == RequestRecord(.invitation, of: "sam", inviter: "adam", message: "come"))
    #expect(
      try RecordJSON.text(request)
        == #"{"account":"sam","inviters":["adam"],"kind":"invitation","message":"come"}"#)
  }

  // MARK: Applications

  @Test mutating func anApplicationIsMadeOnce() throws {
    try desk.carryOut(ServerDesk.needsApproval)
    let first = try desk.decide(ServerDesk.apply(ServerDesk.sam)).output
    try desk.carryOut(ServerDesk.apply(ServerDesk.sam))
    desk.nowMilliseconds += 1
    let second = try desk.decide(ServerDesk.apply(ServerDesk.sam))
    #expect(second.output == first)
    #expect(first.hasJoined == false)
    #expect(second.transaction == nil)
    let reworded = try desk.decide(ServerDesk.apply(ServerDesk.sam, "now?"))
    #expect(reworded.output == first)
    #expect(reworded.transaction?.announced == [], "they were told a moment ago")
    desk.nowMilliseconds += desk.limits.invitationMilliseconds
    #expect(try desk.carryOut(ServerDesk.apply(ServerDesk.sam))?.announced == ["3 to named +olivia,adam"])
  }

  @Test mutating func whoNeedsNoApprovalIsIn() throws {
    let output = try desk.decide(ServerDesk.apply(ServerDesk.sam)).output
    try desk.carryOut(ServerDesk.apply(ServerDesk.sam))
    #expect(output.hasJoined)
    #expect(desk.member("sam") != nil)
  }

  @Test mutating func anApplicantWhoIsInTooManyServersStaysOut() throws {
    try desk.carryOut(ServerDesk.needsApproval)
    try desk.carryOut(ServerDesk.apply(ServerDesk.sam))
    desk.serversOfEachJoiner = desk.limits.serversPerAccount
    let answer = ServerDesk.answerApplication(of: "sam", by: ServerDesk.adam, true)
    #expect(desk.refusal(of: answer)?.code == .tooMany)
    #expect(answer.joiners(desk.desk.read(for: answer)) == ["sam"])
  }

  @Test(
    arguments: [
      ServerDesk.apply(ServerDesk.sam), ServerDesk.answerInvitation(of: "sam", true),
      RefusalTests.add(ServerDesk.app, ["sam"]), ServerDesk.ban(ServerDesk.adam, ["sam"]),
    ] as [any Operation])
  mutating func whateverWaitedIsOver(operation: any Operation) throws {
    let open = UpdateServer(ServerDesk.server, actor: ServerDesk.olivia).applying(.joinsAtOnce)
    for step in [
      ServerDesk.needsApproval, ServerDesk.apply(ServerDesk.sam), open,
      ServerDesk.invite(ServerDesk.olivia, ["sam"]), operation,
    ] as [any Operation] { try desk.carryOut(step) }
    #expect(request(.invitation, of: "sam") == nil)
    #expect(request(.application, of: "sam") == nil)
  }

  // MARK: Codes

  @Test mutating func aCodeLetsManyInUntilItExpires() throws {
    let create = ServerDesk.createCode(ServerDesk.adam)
    let expiry = desk.nowMilliseconds + desk.limits.inviteCodeMilliseconds
    #expect(try desk.decide(create).output == expiry)
    try desk.carryOut(create)
    let stored = desk.texts[.code(ServerDesk.code, of: ServerDesk.space)]
    #expect(stored == "\(expiry) {\"creator\":\"adam\"}")
    for account in ["sam", "sue"] as [AccountID] {
      try desk.carryOut(ServerDesk.join(Actor(account: account)))
      #expect(desk.member(account) != nil)
    }
    desk.nowMilliseconds = expiry
    #expect(desk.refusal(of: ServerDesk.join(ServerDesk.actor("ivy")))?.field == "code")
  }

  @Test mutating func aRevokedCodeLetsNobodyIn() throws {
    try desk.carryOut(ServerDesk.createCode(ServerDesk.adam))
    try desk.carryOut(ServerDesk.revokeCode(ServerDesk.olivia))
    #expect(desk.refusal(of: ServerDesk.join(ServerDesk.sam))?.code == .notFound)
  }

  @Test func codesAreReadAsPeopleTypeThem() throws {
    var random = SeededGenerator(seed: TestEnvironment.seed)
    for bits in [0, .max, 1 << 59] + (0..<100).map({ _ in random.next() }) {
      let code = InviteCode(bits: bits)
      #expect(code.text.utf8.count == 12)
      #expect(InviteCode(text: code.text) == code)
      #expect(InviteCode(text: code.text.lowercased()) == code)
    }
    #expect(InviteCode(bits: 0) != InviteCode(bits: 1 << 59))
    for text in [
      "", "00000000000", "0000000000000", "00000000000U", "00000000000 ", "00000000000\u{1}", "ß0000000000",
      "ſ0000000000",
    ] {
      #expect(InviteCode(text: text) == nil, "\(text)")
    }
  }

  // MARK: Bans

  @Test mutating func aBanIsKeptWithWhoAndWhen() throws {
    try desk.carryOut(ServerDesk.ban(ServerDesk.adam, ["mia", "sam"]))
    for account in ["mia", "sam"] as [AccountID] {
      let text = try #require(desk.texts[.banned(account, from: ServerDesk.space)])
      let ban = RecordJSON.value(BanRecord.self, text)
      #expect(ban == BanRecord(by: "adam", since: desk.nowMilliseconds))
    }
    #expect(desk.member("mia") == nil)
    #expect(desk.former("mia") != nil)
    #expect(desk.former("sam") == nil)
    desk.nowMilliseconds += 1
    #expect(try desk.carryOut(ServerDesk.ban(ServerDesk.olivia, ["mia", "sam"])) == nil)
  }

  @Test mutating func whoIsUnbannedMayComeBack() throws {
    try desk.carryOut(ServerDesk.ban(ServerDesk.adam, ["mia"]))
    #expect(try desk.carryOut(ServerDesk.unban(ServerDesk.adam, ["mia", "sam"]))?.changes.count == 1)
    #expect(try desk.carryOut(ServerDesk.unban(ServerDesk.adam, ["mia", "sam"])) == nil)
    #expect(desk.member("mia") == nil)
    try desk.carryOut(ServerDesk.apply(ServerDesk.mia))
    #expect(desk.member("mia") != nil)
  }
}

extension UpdateServer {
  fileprivate func applying(_ mode: ApplyMode) -> UpdateServer {
    var update = self
    update.applyMode = mode
    return update
  }
}
