import ModelSamples
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
  ])
  func whatIsNoAnswerIsNone(_ json: String) {
    let refusal = #expect(throws: Refusal.self) { try answer(json) }
    #expect(refusal?.code == .invalidField)
  }

  /// It says what is decided, and not what is to be done: that is refused.
  @Test(arguments: [
    #"{"decision":"allow","patch":[]}"#, #"{"decision":"allow","patch":{"pushPayload":"{"}}"#,
    #"{"decision":"allow","patch":{"body":1}}"#, #"{"decision":"allow","callbackExt":1}"#,
    #"{"decision":"allow","patch":{"bodi":"b"}}"#,
    #"{"decision":"allow","callbackExt":"\#(String(repeating: "e", count: Limits.callbackExtBytes + 1))"}"#,
  ])
  func whatCannotBeUsedIsRefused(_ json: String) {
    let refusal = #expect(throws: Refusal.self) { try answer(json) }
    #expect(refusal?.code == .refusedByCallback)
    #expect(refusal?.detail.contains("unusable answer") == true)
  }

  @Test func aDenialStaysOneWhateverIsWrongWithItsWords() throws {
    let long = String(repeating: "c", count: 65)
    for words in [
      #""code":"","detail":"""#, #""code":1.5,"detail":7"#, #""code":"\#(long)","detail":null"#,
      #""code":[],"detail":{},"patch":[],"callbackExt":1"#,
    ] {
      #expect(try answer(#"{"decision":"deny",\#(words)}"#).decision == .deny(CallbackDenial()))
    }
    // Cut between characters, of two bytes here.
    let detail = "d" + String(repeating: "é", count: 600)
    #expect(
      try answer(#"{"decision":"deny","detail":"\#(detail)"}"#).decision
        == .deny(CallbackDenial(detail: "d" + String(repeating: "é", count: 511))))
    #expect(try answer(#"{"decision":"silent","patch":[],"callbackExt":1}"#).decision == .silent)
  }

  @Test func aPushPayloadMayBeText() throws {
    let changing = try answer(#"{"decision":"allow","patch":{"pushPayload":"{\"a\":1}"}}"#)
    #expect(changing.patch == ContentPatch(pushPayload: ["a": 1]))
  }

  /// All that callers ask for can be configured.
  @Test func eventsAreThoseOfAllOperations() {
    let types: [any SpaceOperation.Type] =
      Operations.servers + Operations.channels + Operations.groups + Operations.rooms + [
        SetGroupDisabled.self
      ]
    var names: Set = [
      "notification.send", "notification.update", "server.create", "group.create", "room.create",
    ]
    for type in types where type != Heartbeat.self && type != TimeOutAttendees.self {
      names.formUnion(type.names.map(\.event))
    }
    #expect(Set(CallbackEvent.all) == names)
    #expect(
      names.isSuperset(of: ["group.join", "server.join", "channel.addMute", "group.unmute", "room.enter"]))
    #expect(names.isDisjoint(with: ["server.setAdmin", "channel.changeList", "group.addMute"]))
  }

  @Test func theLongestWordsAreTaken() throws {
    let code = String(repeating: "c", count: 64)
    let detail = String(repeating: "d", count: 1_024)
    let denied = try answer(#"{"decision":"deny","code":"\#(code)","detail":"\#(detail)"}"#)
    guard case .deny(let denial) = denied.decision else { throw Refusal(.conflict, "not denied") }
    #expect(denial.refusal.callbackCode == code)
    #expect(denial.refusal.detail == detail)
  }

  // MARK: The effect on a send

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
        let refusal = #expect(throws: Refusal.self) { try send.following(answer) }
        #expect(refusal?.code == .refusedByCallback)
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
