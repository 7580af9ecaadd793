import BelfryModel
import ModelSamples
import TestKit

extension FuzzTarget {
  /// Ids, records and contents, in the texts that Redis and clients hold.
  static let model: [FuzzTarget] = [
    text("message id, decimal", { $0.messageID() }, read: { MessageID($0) }, write: { $0.text }),
    text(
      "message id, as Redis has it", { $0.messageID() }, read: { MessageID(streamForm: $0) },
      write: { $0.streamForm }),
    text("entity id", { $0.entityID() }, read: { EntityID($0) }, write: { $0.text }),
    text("key of a space", { $0.spaceID() }, read: { SpaceID(key: $0) }, write: { $0.key }),
    text("audience", { $0.audience() }, read: { Audience(text: $0) }, write: { $0.text }),
    text("member record", { $0.memberRecord() }, read: { MemberRecord(text: $0) }, write: { $0.text }),
    text("feed cursor", { $0.cursor() }, read: { FeedCursor(text: $0) }, write: { $0.text }),
    text(
      "cursor of a log",
      { random in
        LogCursor(
          place: random.messageID(), appendedCount: random.oneIn(2) ? Int64(random.below(1_000)) : nil,
          history: random.oneIn(2) ? "8f1c05f1" : "")
      }, read: { LogCursor(text: $0) }, write: { $0.text }),
    json("any JSON", { $0.json(depth: 6) }),
    json("notification content") { $0.content() },
    json("update") { $0.update() },
    json("index change") { $0.indexChange() },
    json("notification") { random in
      Notification(messageServerId: random.messageID(), time: 1, updateTime: 2, content: random.content())
    },
    json("server record") { random in
      ServerRecord(
        name: random.text(), owner: random.account(), createdAt: 1, defaultChannelId: random.entityID())
    },
    json("channel record") { random in
      ChannelRecord(
        name: random.text(), type: random.pick(ChannelRecord.Kind.allCases),
        membership: random.pick(ChannelRecord.Membership.allCases), createdAt: 1)
    },
    FuzzTarget("a request to send", sample: { $0.contentJSON() }) { bytes in
      let text = String(decoding: bytes, as: UTF8.self)
      guard let content = RecordJSON.value(NotificationContent.self, text) else { return false }
      // Any decoded content can be judged, and content that is accepted is within the limits.
      let actor = Actor(account: "ann")
      guard let sends = try? SendNotification.sends(content, by: actor, generatedClientId: "g") else {
        return true
      }
      for send in sends where (send.content.body ?? "").utf8.count > Limits.bodyBytes {
        throw Wrong("\(send.content) is beyond the limits")
      }
      return true
    },
  ]
}

extension SeededGenerator {
  mutating func contentJSON() -> [UInt8] {
    var content = content()
    content.type = Catalogue.custom.code
    return Array(((try? RecordJSON.text(content)) ?? "").utf8)
  }
}
