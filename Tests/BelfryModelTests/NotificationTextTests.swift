import BelfryModel
import ModelSamples
import TestKit
import Testing

/// The hand-written rendering says what the encoder would.
struct NotificationTextTests {
  @Test(arguments: 0..<200)
  func isWhatTheEncoderWrites(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    var content = random.content()
    #expect(RecordJSON.value(NotificationContent.self, content.json) == content)
    // Numbers with a fraction may be spelt in more than one way; nothing else may.
    content.attach = nil
    content.pushPayload = nil
    #expect(content.json == (try RecordJSON.text(content)))
  }

  @Test func aFieldThatIsForgottenWouldBeMissed() throws {
    var content = NotificationContent(type: 100, toType: .accounts)
    content.toAccids = ["bob"]
    content.attach = ["a": [1, .null, "\u{7}\"\\\n"]]
    content.pushPayload = ["b": true]
    content.fromNick = "Ann"
    content.fromClientType = "web"
    content.pushContent = "ding"
    content.env = "prod"
    content.expireAt = 1_763_700_000_000
    content.callbackExt = "x"
    content.fromDeviceId = "phone"
    content.roomId = 3
    content.groupId = 4
    content.channelId = 5
    content.serverId = 6
    content.messageClientId = "c"
    content.fromAccount = "ann"
    content.body = "b"
    content.ext = "e"
    let written = try #require(RecordJSON.value(JSONObject.self, content.json))
    #expect(Set(written.keys) == Set(NotificationContent.CodingKeys.allCases.map(\.rawValue)))
    #expect(RecordJSON.value(NotificationContent.self, content.json) == content)
  }
}
