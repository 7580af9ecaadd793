import FoundationEssentials

extension FeedEvent {
  /// Reads an event of the stream. An event that cannot be read becomes ``other(event:data:)``: one odd event must not end
  /// a feed, and must not vanish either.
  init(event: String, data: String, id: String?) {
    self = Self.read(event, Data(data.utf8), id: id) ?? .other(event: event, data: data)
  }

  private static func read(_ event: String, _ data: Data, id: String?) -> FeedEvent? {
    func value<Value: Decodable>(_ type: Value.Type) -> Value? { try? JSONDecoder().decode(type, from: data) }
    switch event {
    case "notification":
      return value(Notification.self).map { .notification($0, cursor: id ?? "") }
    case "updated":
      guard let id else { return nil }
      return value(Notification.self).map { .updated($0, cursor: id) }
    case "read":
      guard let fields = value(ReadFields.self) else { return nil }
      return fields.upTo.map { .read(.upTo($0)) } ?? fields.messageServerIds.map { .read(.ids($0)) }
    case "retracted":
      guard let id else { return nil }
      return value(RetractedFields.self).map { .retracted($0.messageServerId, cursor: id) }
    case "preferences":
      return value(AccountPreferences.self).map { .preferences($0.preferences) }
    case "counts":
      return value(UnreadCounts.self).map { .counts($0) }
    case "gap":
      return value(GapFields.self).map { .gap(from: $0.from, to: $0.to) }
    case "kicked":
      return value(KickedFields.self).map {
        .kicked(reason: $0.reason, retry: $0.retry, byDevice: $0.byDevice)
      }
    case "device":
      return value(JSONValue.self).map { .device($0) }
    default:
      return nil
    }
  }

  private struct ReadFields: Decodable {
    var messageServerIds: [MessageID]?
    var upTo: MessageID?
  }

  private struct RetractedFields: Decodable { var messageServerId: MessageID }

  private struct GapFields: Decodable {
    var from: MessageID
    var to: MessageID
  }

  private struct KickedFields: Decodable {
    var reason: String
    var retry: Bool
    var byDevice: String?
  }
}
