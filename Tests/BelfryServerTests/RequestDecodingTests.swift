import BelfryModel
import ModelSamples
import Testing

@testable import BelfryInterface
@testable import BelfryServer

/// Every body that a route takes, one field wrong at a time.
@Suite struct RequestDecodingTests {
  struct Body: Sendable, CustomTestStringConvertible {
    var name: String
    var good: String
    var decode: @Sendable ([UInt8]) throws(Refusal) -> Void
    var testDescription: String { name }
  }

  static let send = Body(
    name: "send",
    good: #"{"serverId":"7","channelId":"8","toAccids":["a","b"],"type":100,"body":"b","ext":"e","status":0}"#
  ) { bytes throws(Refusal) in
    let actor = Actor(account: AccountID("alice"))
    let request = try SendRequest(ObjectFields(of: bytes))
    _ = try SendNotification.sends(request.content, by: actor, generatedClientId: "g")
  }
  static let update = declared(
    .patch, "/v1/notifications/{messageServerId}", #"{"body":"b","ext":"e","status":10001}"#)
  static let read = declared(
    .post, "/v1/notifications/read", #"{"items":[{"messageServerId":"5","type":1}]}"#)
  static let createServer = declared(
    .post, "/v1/servers", #"{"name":"n","icon":"i","ext":"e","inviteMode":0,"applyMode":1}"#)
  static let updateServer = declared(.patch, "/v1/servers/{serverId}", #"{"name":"n"}"#)
  static let addMembers = declared(.post, "/v1/servers/{serverId}/members", #"{"accids":["a","b"]}"#)
  static let createChannel = declared(
    .post, "/v1/servers/{serverId}/channels",
    #"{"name":"n","type":"private","membership":"roster","members":["a"]}"#)
  static let updateChannel = declared(
    .patch, "/v1/servers/{serverId}/channels/{channelId}", #"{"name":"n","description":"d"}"#)
  static let all = [
    send, update, read, createServer, updateServer, addMembers, createChannel, updateChannel,
  ]

  /// A body that is read as its route declares it.
  private static func declared(_ verb: HTTPVerb, _ path: String, _ good: String) -> Body {
    let handler = Handlers.all.first { $0.route.verb == verb && $0.route.path.description == path }
    return Body(name: "\(verb.rawValue) \(path)", good: good) { bytes throws(Refusal) in
      guard let handler else { throw Refusal(.notFound, "there is no such route") }
      var parts = RequestParts(
        path: handler.route.examplePath, query: handler.route.exampleQuery, body: bytes)
      _ = try handler.prepare(&parts)
    }
  }

  private func refusal(_ body: Body, _ text: String) -> Refusal? {
    do {
      try body.decode(Array(text.utf8))
      return nil
    } catch {
      return error
    }
  }

  /// The good body with one field set to this, in JSON.
  private func changed(_ body: Body, _ field: String, _ value: String) throws -> String {
    let good = try JSONParser.value(of: Array(body.good.utf8))
    guard case .object(var members) = good else { throw TestFailure("the good body is no object") }
    members[field] = nil
    let rest = String(decoding: JSONText.bytes(of: .object(members)).dropFirst(), as: UTF8.self)
    return "{\"\(field)\":\(value)" + (members.isEmpty ? "" : ",") + rest
  }

  @Test(arguments: all)
  func aGoodBodyIsRead(body: Body) {
    #expect(refusal(body, body.good) == nil)
  }

  @Test(arguments: all)
  func whatIsNoObjectIsRefused(body: Body) {
    for text in ["", "null", "[]", "1", "\"x\"", "{", body.good + body.good] {
      let refused = refusal(body, text)
      #expect(refused?.code == .invalidField, "\(text)")
      #expect(refused?.field == "$", "\(text)")
    }
  }

  @Test(arguments: all)
  func unknownFieldsAreNamed(body: Body) throws {
    #expect(refusal(body, try changed(body, "toAccid", "1"))?.field == "toAccid")
    #expect(refusal(body, try changed(body, "toAccid", "null"))?.field == "toAccid")
  }

  @Test func theFieldThatWasProbablyMeantIsNamed() throws {
    let nearest = refusal(Self.send, try changed(Self.send, "toAccid", "[\"bob\"]"))
    #expect(nearest?.detail == "is not a field of this request; perhaps toAccids is meant")
    let body = refusal(Self.send, try changed(Self.send, "text", "\"hi\""))
    #expect(body?.detail == "is not a field of this request; perhaps body is meant")
    let setting = refusal(Self.send, try changed(Self.send, "pushEnable", "true"))
    #expect(setting?.detail == "is not a field of this request; perhaps setting.pushEnable is meant")
    let far = refusal(Self.send, try changed(Self.send, "frobnicate", "1"))
    #expect(far?.detail == "is not a field of this request")
  }

  private static func text(_ count: Int) -> String { "\"" + String(repeating: "x", count: count) + "\"" }
  private static func list(_ count: Int, _ element: (Int) -> String) -> String {
    "[" + (0..<count).map(element).joined(separator: ",") + "]"
  }
  private static let deep = String(repeating: "[", count: 33) + String(repeating: "]", count: 33)

  struct Wrong: Sendable, CustomTestStringConvertible {
    var body: Body
    var field: String
    /// The values, each in JSON.
    var values: [String]
    /// The field that the refusal blames, if it is another one.
    var blamed: String?
    var testDescription: String { "\(body.name): \(field)" }

    init(_ body: Body, _ field: String, _ values: [String], blames blamed: String? = nil) {
      self.body = body
      self.field = field
      self.values = values
      self.blamed = blamed
    }
  }

  private static let noText = ["1", "1.5", "true", "[]", "{}"]
  private static let noID = [
    "0", "-1", "-0", "1.5", "1e300", "true", "[]", "{}", "\"\"", "\"x\"", "\"01\"", "\"-1\"", "\"+1\"",
    "\" 1\"", "\"9223372036854775808\"", "9223372036854775808", "\"1\\u0000\"",
  ]
  private static let noInteger = ["\"1\"", "1.5", "1e300", "true", "[]", "{}", "99999999999999999999"]
  private static let noAccount = ["\"\"", "\"a b\"", "\"é\"", text(65), "\"a\\u0000\"", "1", "{}", "[]"]

  static let wrong: [Wrong] =
    ["serverId", "channelId", "groupId", "roomId"].map { Wrong(send, $0, noID) }
    + ["messageClientId", "fromNick", "body", "ext", "pushContent", "env"]
    .map { Wrong(send, $0, noText) }
    + [
      Wrong(send, "messageClientId", ["\"\"", text(Limits.messageClientIdBytes + 1)]),
      Wrong(send, "fromNick", [text(Limits.nickCharacters + 1)]),
      Wrong(
        send, "fromClientType",
        [text(Limits.clientTypeBytes + 1), "1.5", "true", "[]", "{}", "-1", "2147483648"]),
      Wrong(send, "body", [text(Limits.bodyBytes + 1)]), Wrong(send, "ext", [text(Limits.extBytes + 1)]),
      Wrong(send, "pushContent", [text(Limits.pushContentCharacters + 1)]),
      Wrong(send, "pushContent", ["\"e" + String(repeating: "\u{301}", count: 10_000) + "\""]),
      Wrong(send, "env", [text(Limits.envBytes + 1)]),
      Wrong(send, "callbackExt", ["\"\"", "\"x\"", "null"]),
      Wrong(send, "attach", [text(Limits.attachBytes), deep, "99999999999999999999", "1e999"]),
      Wrong(send, "pushPayload", ["1", "[]", text(3), #"{"x":\#(text(Limits.pushPayloadBytes))}"#]),
      Wrong(send, "fromAccount", noAccount + ["\"bob\""]),
      Wrong(send, "fromDeviceId", ["\"a b\"", "1", text(129)]),
      Wrong(send, "type", noInteger + ["0", "1", "101", "-100"]),
      Wrong(send, "toType", noInteger + ["0", "10", "-1"]),
      Wrong(send, "status", noInteger + ["1", "9999", "-1", "2147483648"]),
      Wrong(send, "toAccids", ["\"a\"", "{}", "[]", list(501) { "\"a\($0)\"" }]),
      Wrong(
        send, "toAccids", [#"["c","d","a b"]"#, #"["c","d","c"]"#, #"["c","d",7]"#], blames: "toAccids[2]"),
      Wrong(send, "setting", ["1", "[]", "\"x\""]),
      Wrong(
        send, "setting", [#"{"pushEnable":1}"#, #"{"pushEnable":"true"}"#], blames: "setting.pushEnable"),
      Wrong(send, "setting", [#"{"pushEnabled":true}"#], blames: "setting.pushEnabled"),
      Wrong(send, "setting", [#"{"needBadge":true,"needBadge":false}"#], blames: "setting.needBadge"),
      Wrong(send, "messageServerId", ["\"1\"", "null"]), Wrong(send, "time", ["1"]),
      Wrong(send, "updateTime", ["1"]),
      Wrong(update, "body", noText), Wrong(update, "ext", noText), Wrong(update, "status", noInteger),
      Wrong(read, "items", ["{}", "[]", "1", list(501) { #"{"messageServerId":"\#($0)"}"# }]),
      Wrong(read, "items", ["[1]", "[null]", "[[]]"], blames: "items[0]"),
      Wrong(read, "items", [#"[{"type":1}]"#], blames: "items[0].messageServerId"),
      Wrong(read, "items", [#"[{"messageServerId":"1","type":"1"}]"#], blames: "items[0].type"),
      Wrong(
        read, "items", [#"[{"messageServerId":"1"},{"messageServerId":"1","x":1}]"#], blames: "items[1].x"),
      Wrong(read, "items", ["null"]), Wrong(read, "upTo", ["\"5\""]),
      Wrong(createServer, "name", noText + ["\"\"", "null", text(Limits.nameCharacters + 1)]),
      Wrong(createServer, "icon", noText + [text(Limits.iconBytes + 1)]),
      Wrong(createServer, "ext", noText + [text(Limits.extBytes + 1)]),
      Wrong(createServer, "inviteMode", noInteger + ["2", "-1"]),
      Wrong(createServer, "applyMode", noInteger + ["2"]),
      Wrong(updateServer, "name", noText + ["\"\""]),
      Wrong(addMembers, "accids", ["null", "\"a\"", "[]", "{}", list(1_001) { "\"a\($0)\"" }]),
      Wrong(addMembers, "accids", noAccount.map { "[\"a\",\($0)]" }, blames: "accids[1]"),
      Wrong(createChannel, "name", noText + ["\"\"", "null"]),
      Wrong(createChannel, "description", noText + [text(Limits.descriptionCharacters + 1)]),
      Wrong(createChannel, "type", noText + ["null", "\"secret\"", "\"\""]),
      Wrong(createChannel, "membership", noText + ["\"some\""]),
      Wrong(createChannel, "members", ["1", "{}", list(1_001) { "\"a\($0)\"" }]),
      Wrong(createChannel, "members", noAccount.map { "[\($0)]" }, blames: "members[0]"),
      Wrong(updateChannel, "name", noText), Wrong(updateChannel, "description", noText),
    ]

  @Test(arguments: wrong)
  func theWrongFieldIsNamed(wrong: Wrong) throws {
    for value in wrong.values {
      let text = try changed(wrong.body, wrong.field, value)
      let refused = refusal(wrong.body, text)
      #expect(refused?.code == .invalidField || refused?.code == .forbidden, "\(value.prefix(100))")
      #expect(refused?.field == wrong.blamed ?? wrong.field, "\(value.prefix(100))")
      #expect(refused?.detail.isEmpty == false)
      // An answer repeats only as much of the request as a person needs to find it.
      #expect((refused?.detail.utf8.count ?? 0) < 512)
    }
  }

  @Test func nullIsAbsent() throws {
    for field in ["channelId", "toAccids", "body", "status", "setting", "attach", "fromAccount", "type"] {
      #expect(refusal(Self.send, try changed(Self.send, field, "null")) == nil, "\(field)")
    }
  }

  @Test func idsMayBeNumbers() throws {
    let request = try SendRequest(ObjectFields(of: Array(#"{"serverId":9007199254740993}"#.utf8)))
    #expect(request.content.serverId?.text == "9007199254740993")
  }

  @Test func anUnknownSettingIsNamedWithTheNearestOne() throws {
    let body = #"{"toAccids":["a"],"setting":{"pushEnabled":true}}"#
    let refusal = #expect(throws: Refusal.self) { try SendRequest(ObjectFields(of: Array(body.utf8))) }
    #expect(refusal?.field == "setting.pushEnabled")
    #expect(refusal?.detail == "is not a field of this request; perhaps pushEnable is meant")
  }

  @Test func anyTextIsCarried() throws {
    let request = try SendRequest(
      ObjectFields(of: Array(#"{"toAccids":["a"],"body":"a\u0000\u0001\n\"\ud83d\udd14","ext":""}"#.utf8)))
    #expect(request.content.body == "a\0\u{1}\n\"🔔")
    #expect(request.content.ext == "")
  }
}
