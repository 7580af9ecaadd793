import BelfryBytes
import BelfryModel
import BelfryOutbound
import Foundation
import Testing

@testable import BelfryHooks

/// The bytes of pushes.
@Suite struct PushTests {
  private func bytes(_ text: String) throws -> [UInt8] { try #require(Base64URL.decode(text.utf8)) }

  /// RFC 5915: the scalar and the point, with the curve's name.
  private func key(_ scalar: [UInt8], _ point: [UInt8]) throws -> P256PrivateKey {
    let curve: [UInt8] = [0xa0, 0x0a, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07]
    let der =
      [0x30, 0x77, 0x02, 0x01, 0x01, 0x04, 0x20] + scalar + curve + [0xa1, 0x44, 0x03, 0x42, 0x00] + point
    let text = Data(der).base64EncodedString(options: .lineLength64Characters)
    let pem = "-----BEGIN EC PRIVATE KEY-----\n\(text)\n-----END EC PRIVATE KEY-----\n"
    return try #require(P256PrivateKey(pem: Array(pem.utf8)))
  }

  /// Source: RFC 8291 §5.
  @Test func theExampleOfTheStandardIsEncryptedAsItStandsThere() throws {
    let own = try key(
      bytes("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"),
      bytes("BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8"))
    let message = WebPushEncryption.encrypt(
      Array("When I grow up, I want to be a watermelon".utf8),
      for: try bytes(
        "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"),
      secret: try bytes("BTBZMqHH6r4Tts7J_aSIgg"), own: own, salt: try bytes("DGv6ra1nlYgDCS1FRnbzlw"))
    #expect(
      message.map { Base64URL.encode($0) }
        == "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6Tlz"
        + "AC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN")
  }

  @Test func aKeyThatIsNoneIsRefused() throws {
    let point = P256PrivateKey().point
    #expect(P256PrivateKey.isPoint(point))
    var other = point
    other[40] ^= 1
    #expect(!P256PrivateKey.isPoint(other))
    #expect(!P256PrivateKey.isPoint(Array(point.dropLast())))
    #expect(!P256PrivateKey.isPoint([UInt8](repeating: 0, count: 65)))
    #expect(WebPushEncryption.encrypt([1], for: other, secret: [UInt8](repeating: 1, count: 16)) == nil)
    #expect(P256PrivateKey(pem: Array("-----BEGIN EC PRIVATE KEY-----\nAAAA\n".utf8)) == nil)
    #expect(P256PrivateKey(pem: P256PrivateKey().pem) != nil)
  }

  @Test func aMessageFillsWhatPushServicesTakeAndNoMore() throws {
    let receiver = P256PrivateKey().point
    let secret = [UInt8](repeating: 1, count: 16)
    let most = [UInt8](repeating: 32, count: WebPushEncryption.textMaxBytes)
    #expect(WebPushEncryption.encrypt(most, for: receiver, secret: secret)?.count == 4_096)
    #expect(WebPushEncryption.encrypt(most + [32], for: receiver, secret: secret) == nil)
  }

  private func message(_ change: (inout NotificationContent) -> Void) throws -> PushMessage {
    var content = NotificationContent(type: 100, toType: .accounts)
    content.body = "body"
    content.fromNick = "Alice"
    change(&content)
    let entry = LogEntry(
      id: try #require(MessageID(5)), audience: Audience(.named), contentJSON: content.json)
    return PushMessage(entry, content, in: .personal(try #require(AccountID("bob"))), unread: 3)
  }

  private func read(_ text: [UInt8]) throws -> JSONObject {
    guard case .object(let members) = try JSONParser.value(of: text) else { throw Unread() }
    return members
  }
  private struct Unread: Error {}

  @Test func theTextIsWhatWasAskedFor() throws {
    #expect(try message { _ in }.text == "Alice: body")
    #expect(try message { $0.setting.needPushNick = false }.text == "body")
    #expect(try message { $0.fromNick = nil }.text == "body")
    #expect(try message { $0.pushContent = "push" }.text == "Alice: push")
    #expect(try message { $0.body = nil }.text == nil)
  }

  @Test func whatIsTooLongForABrowserIsCut() throws {
    let payload = JSONValue.string(String(repeating: "p", count: 2_000))
    let whole = try message { $0.pushPayload = payload }
    #expect(try read(whole.webPushText())["pushPayload"] == payload)
    let long = try message {
      $0.pushPayload = payload
      $0.body = String(repeating: "é", count: 1_990)
    }
    let text = long.webPushText()
    #expect(text.count <= WebPushEncryption.textMaxBytes)
    #expect(try read(text)["isCut"] == .bool(true))
    #expect(try read(text)["pushPayload"] == nil)
    #expect(try read(text)["messageServerId"] == "5")
  }

  @Test func gatewaysAreToldWhatTheStandardHas() throws {
    var gateway = try #require(
      MatrixGateway(url: "https://push.example", appID: "app", pushkey: "key", data: ["brand": "x"]))
    #expect(gateway.url.text == "https://push.example/_matrix/push/v1/notify")
    let other = try #require(
      MatrixGateway(url: "https://push.example/a/b", appID: "", pushkey: "", data: nil))
    #expect(other.url.text == "https://push.example/a/b")
    let pushed = try message { $0.pushPayload = ["room": 7] }
    let full = try #require(try read(pushed.matrixBody(for: gateway, sinceSeconds: 9))["notification"])
    guard case .object(let members) = full else { throw Unread() }
    #expect(members["event_id"] == "5")
    #expect(members["counts"] == ["unread": 3])
    #expect(
      members["devices"]
        == [
          [
            "app_id": "app", "pushkey": "key", "pushkey_ts": 9, "data": ["brand": "x"],
            "tweaks": ["sound": "default"],
          ]
        ])
    gateway.data = ["format": "event_id_only"]
    guard case .object(let ids)? = try read(pushed.matrixBody(for: gateway, sinceSeconds: 9))["notification"]
    else { throw Unread() }
    #expect(ids["content"] == nil && ids["sender"] == nil && ids["sender_display_name"] == nil)
    guard
      case .object(let badge)? =
        try read(PushMessage.matrixBadge(0, for: gateway, sinceSeconds: 9))["notification"]
    else { throw Unread() }
    #expect(badge["event_id"] == nil && badge["counts"] == ["unread": 0])
  }

  @Test func onlyAGatewaysAnswerIsOne() throws {
    let gateway = try #require(
      MatrixGateway(url: "https://push.example", appID: "a", pushkey: "k", data: nil))
    #expect(gateway.isRejected(by: Array(#"{"rejected":[]}"#.utf8)) == false)
    #expect(gateway.isRejected(by: Array(#"{"rejected":["x","k"]}"#.utf8)) == true)
    for garbage in ["", "{}", "[]", "<html>", #"{"rejected":"k"}"#] {
      #expect(gateway.isRejected(by: Array(garbage.utf8)) == nil)
    }
  }

  @Test func tasksAreReadAsTheyAreWritten() throws {
    let (bob, phone) = (try #require(AccountID("bob")), try #require(DeviceID("phone")))
    let space = SpaceID.server(try #require(EntityID(7 as Int64)))
    for task in [
      PushTask(.badge, for: bob), PushTask(.badge, for: bob, device: phone, attempts: 2),
      PushTask(.notification(try #require(MessageID(99)), space), for: bob),
      PushTask(.notification(try #require(MessageID(99)), space), for: bob, device: phone, attempts: 1),
    ] {
      #expect(PushTask(text: task.text) == task)
    }
    for text in [
      "", "push", "badge bob * -1", "badge bob * x", "push server:7 9 bob *", "badge bob  0", "b bob * 0",
    ] {
      #expect(PushTask(text: text) == nil)
    }
  }

  @Test func aTokenForAPushServiceIsSignedForItsOrigin() throws {
    let key = VAPIDKey(P256PrivateKey(), contact: "mailto:ops@example.com")
    let header = try #require(key.authorization(for: "https://push.example", nowSeconds: 1_000))
    let token = try #require(header.dropFirst("vapid t=".count).split(separator: ",").first)
    let parts = token.split(separator: ".")
    #expect(parts.count == 3)
    let claims = try read(try #require(Base64URL.decode(parts[1].utf8)))
    #expect(claims["aud"] == "https://push.example")
    #expect(claims["exp"] == .integer(1_000 + 12 * 3_600))
    #expect(claims["sub"] == "mailto:ops@example.com")
    #expect(Base64URL.decode(parts[2].utf8)?.count == 64)
    #expect(header.hasSuffix(",k=" + key.publicText))
  }

  @Test func originsAreWrittenWithoutThePortThatEveryoneTakes() {
    #expect(OutboundURL("https://Push.example:443/a?b")?.origin == "https://push.example")
    #expect(OutboundURL("https://push.example:8443/")?.origin == "https://push.example:8443")
    #expect(OutboundURL("http://[::1]:80/")?.origin == "http://[::1]")
  }
}
