import Testing

@testable import BelfryModel

@Suite struct CallbackAnswerTests {
  private func answer(_ json: String) throws -> CallbackAnswer { try CallbackAnswer(json: Array(json.utf8)) }

  @Test func answersAreRead() throws {
    #expect(try answer(#"{"decision":"allow"}"#) == .allow)
    #expect(try answer(#"{"decision":"silent","other":1}"#).decision == .silent)
    #expect(
      try answer(#"{"decision":"deny","code":17,"detail":"no"}"#).decision
        == .deny(CallbackDenial(code: "17", detail: "no")))
    #expect(try answer(#"{"decision":"deny"}"#).decision == .deny(CallbackDenial()))
    let changing = try answer(
      #"{"decision":"allow","callbackExt":"e","patch":{"body":"b","ext":null,"attach":[1],"pushPayload":{"a":1}}}"#
    )
    #expect(changing.callbackExt == "e")
    #expect(changing.patch == ContentPatch(body: "b", attach: [1], pushPayload: ["a": 1]))
  }

  @Test(arguments: [
    "", "{", "[]", "null", "{}", #"{"decision":"yes"}"#, #"{"decision":1}"#,
    #"{"decision":"allow","patch":[]}"#,
    #"{"decision":"allow","patch":{"body":1}}"#, #"{"decision":"allow","callbackExt":1}"#,
    #"{"decision":"deny","code":""}"#, #"{"decision":"deny","code":"\#(String(repeating: "c", count: 65))"}"#,
    #"{"decision":"deny","detail":"\#(String(repeating: "d", count: 1_025))"}"#,
    #"{"decision":"allow","callbackExt":"\#(String(repeating: "e", count: Limits.callbackExtBytes + 1))"}"#,
  ])
  func whatIsNoAnswerIsNone(_ json: String) {
    #expect(throws: Refusal.self) { try answer(json) }
  }

  @Test func theLongestWordsAreTaken() throws {
    let code = String(repeating: "c", count: 64)
    let detail = String(repeating: "d", count: 1_024)
    let denied = try answer(#"{"decision":"deny","code":"\#(code)","detail":"\#(detail)"}"#)
    guard case .deny(let denial) = denied.decision else { throw Refusal(.conflict, "not denied") }
    #expect(denial.refusal.callbackCode == code)
    #expect(denial.refusal.detail == detail)
  }

  // MARK: What becomes of a send

  private func send(_ change: (inout NotificationContent) -> Void = { _ in }) throws -> SendNotification {
    var content = NotificationContent(type: 100, toType: .server)
    content.serverId = EntityID(7)
    content.messageClientId = "m"
    content.body = "b"
    change(&content)
    return try SendNotification.sends(content, by: Actor(account: "alice"), generatedClientId: "g")[0]
  }

  @Test func aPatchedSendIsRecognisedByWhatWasGiven() throws {
    let send = try send()
    var answer = CallbackAnswer.allow
    answer.patch.body = "another"
    answer.callbackExt = "e"
    let made = try send.following(answer)
    #expect(made.content.body == "another")
    #expect(made.content.callbackExt == "e")
    #expect(made.content.ext == nil)
    #expect(made.repetition?.send.content == send.content)
    // Again changed, by whom so ever: what was given stays.
    #expect(try made.following(answer).repetition?.send.content == send.content)
  }

  @Test func aPatchThatBreaksALimitIsRefused() throws {
    let send = try send()
    for (patch, isGood) in [
      (ContentPatch(body: String(repeating: "b", count: Limits.bodyBytes)), true),
      (ContentPatch(body: String(repeating: "b", count: Limits.bodyBytes + 1)), false),
      (ContentPatch(ext: String(repeating: "b", count: Limits.extBytes + 1)), false),
      (ContentPatch(pushContent: String(repeating: "b", count: Limits.pushContentCharacters + 1)), false),
      (ContentPatch(pushPayload: [1]), false),
    ] {
      var answer = CallbackAnswer.allow
      answer.patch = patch
      if isGood {
        #expect(throws: Never.self) { try send.following(answer) }
      } else {
        #expect(throws: Refusal.self) { try send.following(answer) }
      }
    }
  }

  @Test func aDenialHasItsWords() throws {
    let send = try send()
    let refusal = #expect(throws: Refusal.self) {
      try send.following(CallbackAnswer(.deny(CallbackDenial(code: "bad", detail: "no such words"))))
    }
    #expect(refusal?.code == .refusedByCallback)
    #expect(refusal?.detail == "no such words")
    #expect(refusal?.callbackCode == "bad")
  }
}
