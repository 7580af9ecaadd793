import ModelSamples

@testable import BelfryModel
@testable import BelfryStore

// A row for each decoder of what comes from outside: from clients, from Redis, from files.
extension FuzzTarget {
  static let all: [FuzzTarget] = model + store

  private static let model: [FuzzTarget] = [
    text("message id, decimal", { $0.messageID() }, read: { MessageID($0) }, write: { $0.text }),
    text(
      "message id, as Redis has it", { $0.messageID() }, read: { MessageID(streamForm: $0) },
      write: { $0.streamForm }),
    text("entity id", { $0.entityID() }, read: { EntityID($0) }, write: { $0.text }),
    text("key of a space", { $0.spaceID() }, read: { SpaceID(key: $0) }, write: { $0.key }),
    text("audience", { $0.audience() }, read: { Audience(text: $0) }, write: { $0.text }),
    text("member record", { $0.memberRecord() }, read: { MemberRecord(text: $0) }, write: { $0.text }),
    text("feed cursor", { $0.cursor() }, read: { FeedCursor(text: $0) }, write: { $0.text }),
    json("any JSON", { $0.json(depth: 6) }),
    json("notification content") { $0.content() },
    json("amendment") { $0.amendment() },
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
      // Whatever was decoded can be judged, and what is let through is within the limits.
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

  private static let store: [FuzzTarget] = [
    FuzzTarget("message id, as bytes", sample: { Array($0.messageID().streamForm.utf8) }) { bytes in
      let id = MessageID(streamBytes: bytes[...])
      guard id == MessageID(streamForm: String(decoding: bytes, as: UTF8.self)) else {
        throw Wrong("as bytes it is \(id?.text ?? "nothing"), as text it is not")
      }
      return id != nil
    },
    FuzzTarget("live message", sample: { $0.liveMessage() }) { LiveMessage(bytes: $0) != nil },
    text(
      "cursor of a listing", { $0.tableScan() }, read: { TableScan(text: $0)?.text }, write: { $0 }),
  ]
}

extension SeededGenerator {
  fileprivate mutating func contentJSON() -> [UInt8] {
    var content = content()
    content.type = Catalogue.custom.code
    return Array(((try? RecordJSON.text(content)) ?? "").utf8)
  }

  fileprivate mutating func liveMessage() -> [UInt8] {
    let (id, entry) = (
      messageID().streamForm, "\n\(audience().text)\n" + String(decoding: contentJSON(), as: UTF8.self)
    )
    let text =
      switch below(6) {
      case 0: "appended \(id) \(messageID().streamForm)\(entry)"
      case 1: "passing \(id)\(entry)"
      case 2: "amended \(id) \(below(1_000))\(entry)"
      case 3: "standings\n" + accounts().map(\.text).joined(separator: " ")
      case 4:
        LiveText.read(
          ReadEcho(items: [messageID()], watermark: messageID(), upTo: nil, device: DeviceID("phone")))
      default: "index"
      }
    return Array(text.utf8)
  }

  fileprivate mutating func tableScan() -> String {
    oneIn(2) ? "\(next())" : "\(next()).\(1 + below(100)).\(next()).\(account())"
  }
}
