import BelfryBytes
package import BelfryModel
package import BelfryStore

/// The content of one delivery.
package struct WebhookEvent: Sendable {
  package enum Kind: String, Sendable {
    case sent = "notification.sent"
    case updated = "notification.updated"
    case retracted = "notification.retracted"
    case test = "webhook.test"
  }

  /// The id of the delivery, the same at each try.
  package let id: String
  private let kind: Kind
  private let space: SpaceID?
  private let timeMilliseconds: Int64
  private let expiresAtMilliseconds: Int64?
  /// A JSON object.
  private let notification: [UInt8]?
  /// How many copies fell out of retention before they could be delivered.
  private let lost: Int64

  package init(_ copy: EntryCopy, lost: Int64) {
    id = copy.id.text
    kind = copy.isRecall ? .retracted : copy.updates == nil ? .sent : .updated
    space = copy.space
    timeMilliseconds = copy.timeMilliseconds
    expiresAtMilliseconds = Audience(bytes: copy.audience)?.expiresAt
    notification = copy.notification
    self.lost = lost
  }

  /// An event that only shows that deliveries arrive.
  package init(test id: String, nowMilliseconds: Int64) {
    self.id = id
    kind = .test
    space = nil
    timeMilliseconds = nowMilliseconds
    expiresAtMilliseconds = nil
    notification = nil
    lost = 0
  }

  package func mediaType(_ format: WebhookFormat) -> String {
    switch format {
    case .belfry: "application/json"
    case .cloudevents: "application/cloudevents+json"
    }
  }

  package func body(_ format: WebhookFormat) -> [UInt8] {
    var text = JSONText(capacity: 512 + (notification?.count ?? 0))
    switch format {
    case .belfry:
      text.field("type", kind.rawValue)
      text.field("timestamp", Timestamp.text(milliseconds: timeMilliseconds))
      if lost > 0 { text.field("lost", lost) }
      var data = JSONText()
      if let space { data.field("space", space.key) }
      if let notification { data.field("notification", json: notification) }
      text.field("data", object: data)
    case .cloudevents:
      text.field("specversion", "1.0")
      text.field("id", id)
      text.field("source", space?.key ?? "belfry:test")
      text.field("type", kind.rawValue)
      text.field("time", Timestamp.text(milliseconds: timeMilliseconds))
      if let time = expiresAtMilliseconds { text.field("expirytime", Timestamp.text(milliseconds: time)) }
      if lost > 0 { text.field("belfrylost", lost) }
      text.field("datacontenttype", "application/json")
      text.field("data", json: notification ?? Array("{}".utf8))
    }
    return text.finish()
  }
}
