import BelfryModel
import ModelSamples
import Testing

struct ContentLimitsTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var field: String
    /// Sets the field to so much more than its limit.
    var set: @Sendable (inout NotificationContent, Int) -> Void
    var testDescription: String { field }

    init(_ field: String, _ set: @escaping @Sendable (inout NotificationContent, Int) -> Void) {
      self.field = field
      self.set = set
    }
  }

  static let rows: [Row] = [
    Row("messageClientId") { $0.messageClientId = text(Limits.messageClientIdBytes + $1) },
    Row("fromNick") { $0.fromNick = text(Limits.nickCharacters + $1) },
    Row("fromClientType") { $0.fromClientType = .text(text(Limits.clientTypeBytes + $1)) },
    Row("body") { $0.body = text(Limits.bodyBytes + $1) },
    Row("ext") { $0.ext = text(Limits.extBytes + $1) },
    Row("pushContent") { $0.pushContent = text(Limits.pushContentCharacters + $1) },
    Row("env") { $0.env = text(Limits.envBytes + $1) },
    Row("callbackExt") { $0.callbackExt = text(Limits.callbackExtBytes + $1) },
    // Two quotes, and of an object `{"a":""}`, count as well: they travel and are kept.
    Row("attach") { $0.attach = .string(text(Limits.attachBytes - 2 + $1)) },
    Row("pushPayload") { $0.pushPayload = ["a": .string(text(Limits.pushPayloadBytes - 8 + $1))] },
  ]

  static func text(_ length: Int) -> String { String(repeating: "x", count: length) }

  func refusal(_ change: (inout NotificationContent) -> Void) -> Refusal? {
    var content = NotificationContent(type: 100, toType: .server)
    change(&content)
    do {
      try content.checkLimits()
      return nil
    } catch {
      return error
    }
  }

  @Test(arguments: rows)
  func theLimitItselfIsAllowed(row: Row) { #expect(refusal { row.set(&$0, 0) } == nil) }

  @Test(arguments: rows)
  func oneBeyondIsRefusedByName(row: Row) {
    let refusal = refusal { row.set(&$0, 1) }
    #expect(refusal?.code == .invalidField)
    #expect(refusal?.field == row.field)
    #expect(refusal?.detail.contains("at most") == true)
  }

  @Test func aRowForEachTextThatASenderSets() {
    let limited = Set(Self.rows.map(\.field))
    // Ids, names and numbers are bounded by their own types; the rest is tested below.
    let others: Set = [
      "serverId", "channelId", "groupId", "roomId", "toType", "toAccids", "fromAccount", "fromDeviceId",
      "type", "status", "setting", "expireAt",
    ]
    #expect(limited.union(others) == Set(NotificationContent.CodingKeys.allCases.map(\.rawValue)))
  }

  @Test func bytesAreOfUTF8() {
    #expect(refusal { $0.body = String(repeating: "鐘", count: Limits.bodyBytes / 3) } == nil)
    #expect(refusal { $0.body = String(repeating: "鐘", count: Limits.bodyBytes / 3 + 1) }?.field == "body")
  }

  @Test func charactersAreUnicodeScalars() {
    #expect(refusal { $0.pushContent = String(repeating: "鐘", count: Limits.pushContentCharacters) } == nil)
    let accented = "e" + String(repeating: "\u{301}", count: Limits.pushContentCharacters)
    #expect(accented.count == 1)
    #expect(refusal { $0.pushContent = accented }?.field == "pushContent")
  }

  @Test func anEmptyClientIdIsRefusedAndOtherTextsMayBeEmpty() {
    #expect(refusal { $0.messageClientId = "" }?.field == "messageClientId")
    #expect(
      refusal {
        $0.body = ""
        $0.ext = ""
        $0.pushContent = ""
      } == nil)
  }

  @Test(arguments: [0, 10_001, Int(Int32.max)])
  func statusesThatACallerMaySet(status: Int) { #expect(refusal { $0.status = status } == nil) }

  @Test(arguments: [-1, 1, 9_999, 10_000, Int(Int32.max) + 1, .max, .min])
  func statusesThatAreRefused(status: Int) { #expect(refusal { $0.status = status }?.field == "status") }

  @Test func namedReceiversAreFromOneToTheLimit() {
    let accounts = (0...Limits.namedReceivers).compactMap { AccountID("a\($0)") }
    #expect(refusal { $0.toAccids = accounts.dropLast() } == nil)
    #expect(refusal { $0.toAccids = accounts }?.field == "toAccids")
    #expect(refusal { $0.toAccids = [] }?.field == "toAccids")
    #expect(refusal { $0.toAccids = ["ann", "bob", "ann"] }?.field == "toAccids[2]")
  }

  @Test func payloadsMayNestToTheLimit() {
    func nested(_ levels: Int) -> JSONValue { (0..<levels).reduce(1) { value, _ in .array([value]) } }
    #expect(refusal { $0.attach = nested(Limits.jsonDepth) } == nil)
    #expect(refusal { $0.attach = nested(Limits.jsonDepth + 1) }?.field == "attach")
    #expect(refusal { $0.pushPayload = ["a": nested(Limits.jsonDepth)] }?.field == "pushPayload")
  }

  @Test(arguments: [.null, 1, "text", [1], true] as [JSONValue])
  func pushPayloadIsAnObject(value: JSONValue) {
    #expect(refusal { $0.pushPayload = value }?.field == "pushPayload")
  }

  @Test(arguments: Catalogue.all.map(\.code) + [0, -1, 18, 101, 9_999])
  func onlyCustomNotificationsAreSent(type: Int) {
    #expect(refusal { $0.type = type }?.field == (type == Catalogue.custom.code ? nil : "type"))
  }
}
