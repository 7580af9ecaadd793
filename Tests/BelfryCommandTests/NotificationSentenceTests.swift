import BelfryModel
import Foundation
import Testing

@testable import belfry

@Suite struct NotificationSentenceTests {
  private let utc = TimeZone(secondsFromGMT: 0) ?? .current

  private func sentence(
    _ code: Int, _ attach: JSONValue? = nil, from account: AccountID? = AccountID("alice"),
    to receivers: [String] = []
  ) -> String? {
    var content = NotificationContent(type: code, toType: .server)
    content.fromAccount = account
    content.serverId = EntityID("12")
    content.channelId = EntityID("34")
    content.groupId = EntityID("56")
    content.roomId = EntityID("78")
    content.attach = attach
    var names = SpaceNames()
    names.learn(from: content)
    return NotificationSentence(content, names, to: receivers.compactMap { AccountID($0) }, in: utc).text
  }

  @Test func `an operator reads the names of the receivers`() {
    #expect(sentence(1, to: ["bob"]) == "alice invited bob to server 12")
    #expect(sentence(32, ["event": 1], to: ["bob"]) == "bob is in server 12 now")
    #expect(sentence(32, ["event": 2], to: ["bob", "carol"]) == "bob and carol are no longer in server 12")
    #expect(sentence(310, ["reason": "blocked"], to: ["bob"]) == "bob was banned from group 56")
  }

  @Test func `what happened is a sentence, with names where they are known`() {
    let campfire: JSONValue = ["serverId": "12", "name": "Campfire"]
    #expect(sentence(1, ["serverInfo": campfire, "postscript": ""]) == "alice invited you to Campfire")
    #expect(sentence(1, ["postscript": "Come!"]) == "alice invited you to server 12: Come!")
    #expect(
      sentence(8, ["serverInfo": campfire, "invitedAccids": ["bob", "carol", "dave"]])
        == "alice added bob, carol and dave to Campfire")
    #expect(
      sentence(12, ["serverInfo": campfire, "kickedAccids": ["bob"]]) == "alice removed bob from Campfire")
    #expect(
      sentence(14, ["memberInfo": ["accid": "bob", "role": "admin"]])
        == "alice changed bob (role admin) in server 12")
    #expect(sentence(17, ["channelInfo": ["name": "news"]]) == "alice changed the settings of channel news")
    #expect(sentence(32, ["event": 1]) == "you are in server 12 now")
    #expect(sentence(32, ["event": 2]) == "you are no longer in server 12")
    #expect(
      sentence(19, ["channelId": "34", "type": 2, "opeType": 1, "accids": ["bob"]])
        == "alice put bob on the block list of channel 34")
    #expect(
      sentence(208, ["muted": true, "accids": ["bob"], "expiresAt": 1_767_981_731_000])
        == "alice muted bob in channel 34 until 2026-01-09 18:02:11")
    #expect(
      sentence(310, ["reason": "destroyed", "groupInfo": ["name": "Ringers"]]) == "Ringers was deleted")
    #expect(sentence(318, ["oldOwner": "alice", "newOwner": "bob"]) == "alice handed group 56 over to bob")
    #expect(sentence(320, ["file": ["name": "peal.pdf"]]) == "alice shared peal.pdf in group 56")
    #expect(sentence(402, ["accid": "bob", "reason": "timeout"]) == "bob lost the connection to room 78")
    #expect(
      sentence(404, ["expiresAt": 1_767_981_731_000])
        == "alice invited you to the stage of room 78 until 2026-01-09 18:02:11")
    #expect(
      sentence(405, ["accid": "bob", "accepted": false])
        == "bob declined the invitation to the stage of room 78")
    #expect(sentence(406, ["accid": "bob", "role": "guest"]) == "bob is now a guest in room 78")
    #expect(sentence(408, ["roomInfo": ["subject": "Practice"]]) == "Practice was closed")
  }

  @Test func `a name that was told before is told again`() throws {
    var names = SpaceNames()
    func cells(_ type: Int, _ attach: JSONValue?) -> [String] {
      var content = NotificationContent(type: type, toType: .server)
      content.serverId = EntityID("12")
      content.fromAccount = AccountID("alice")
      content.attach = attach
      names.learn(from: content)
      let notification = BelfryModel.Notification(messageServerId: .last, time: 0, content: content)
      return Array(NotificationText.cells(notification, names, in: utc).dropFirst(2))
    }
    #expect(
      cells(32, ["event": 1]) == ["server 12", "serverEnterLeave", "alice", "you are in server 12 now"])
    _ = cells(7, ["serverInfo": ["serverId": "12", "name": "Campfire"]])
    #expect(
      cells(32, ["event": 1])
        == ["server 12 (Campfire)", "serverEnterLeave", "alice", "you are in Campfire now"])
  }

  @Test func `a request comes with the command that accepts it`() {
    func command(_ code: Int, _ attach: JSONValue, as account: String? = nil) -> String? {
      var content = NotificationContent(type: code, toType: .server)
      (content.serverId, content.channelId) = (EntityID("12"), EntityID("34"))
      (content.groupId, content.roomId) = (EntityID("56"), EntityID("78"))
      content.attach = attach
      return NotificationText.accepting(content, as: account)
    }
    let request: JSONValue = ["requestId": "9", "accid": "bob"]
    #expect(command(1, request) == "belfry server accept 12 9")
    #expect(command(1, request, as: "bob") == "belfry server accept 12 9 --as bob")
    #expect(command(3, request) == "belfry server approve 12 9")
    #expect(command(202, request) == "belfry channel accept 12 34 9")
    #expect(command(301, request) == "belfry group accept 56 9")
    #expect(command(305, request) == "belfry group approve 56 9")
    #expect(command(404, ["token": "5"]) == "belfry room accept-stage 78 5")
    #expect(command(2, request) == nil && command(100, request) == nil)
    // A text that is not an id is not put into a command.
    #expect(command(1, ["requestId": "9; rm"]) == nil)
  }

  @Test func `many accounts are counted`() {
    let accounts = JSONValue.array((1...1_000).map { .string("a\($0)") })
    #expect(sentence(308, ["accids": accounts]) == "a1, a2, a3, a4 and 996 others joined group 56")
  }

  @Test(arguments: Catalogue.all.map(\.code))
  func `each built-in type has one, also of an attachment that is not as it should be`(code: Int) {
    for attach in [nil, .null, "text", ["accids": "bob", "serverInfo": 5, "expiresAt": "soon"]]
      as [JSONValue?]
    {
      let text = sentence(code, attach, from: nil)
      #expect((text == nil) == (code == Catalogue.custom.code))
      #expect(text?.isEmpty != true && text?.contains("{") != true)
    }
  }

  @Test func `what a sender wrote, and what is not known, has none`() {
    #expect(sentence(100, ["a": 1]) == nil)
    #expect(sentence(9_999, ["a": 1]) == nil)
  }
}
