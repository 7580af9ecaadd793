internal import BelfryBytes

/// One entry of a space's log, as a reader finds it: a notification, or an update of one.
package struct LogEntry: Sendable, Hashable {
  package var id: MessageID
  package var audience: Audience
  /// The notification's content as JSON text, an object, in UTF-8, with its updates applied. An entry that
  /// was read has it as a part of Redis's answer: on its way to a consumer it is copied and never parsed.
  /// Empty if the notification was recalled.
  package var content: ArraySlice<UInt8>
  /// Milliseconds since 1970; nil if never updated.
  package var updateTime: Int64?
  /// The earlier entry of the log that this one gives new content to. Such an entry is no notification of its
  /// own. Its audience is the same, so every account that has the earlier one learns of the update here.
  package var updates: MessageID?

  package init(
    id: MessageID, audience: Audience, content: ArraySlice<UInt8>, updateTime: Int64? = nil,
    updates: MessageID? = nil
  ) {
    self.id = id
    self.audience = audience
    self.content = content
    self.updateTime = updateTime
    self.updates = updates
  }

  package init(
    id: MessageID, audience: Audience, contentJSON: String, updateTime: Int64? = nil,
    updates: MessageID? = nil
  ) {
    self.init(
      id: id, audience: audience, content: ArraySlice(contentJSON.utf8), updateTime: updateTime,
      updates: updates)
  }

  /// True if the notification was recalled. An entry that updates a recalled one says that it was recalled.
  package var isRecalled: Bool { content.isEmpty }

  /// The notification that it is, or that it updates.
  package var notificationID: MessageID { updates ?? id }

  /// The time at which the notification was appended, milliseconds since 1970. A recalled one has no content
  /// left, and only its id says the time, which may be some seconds ahead of the clock.
  package var time: Int64 { content.timeAtBeginning ?? notificationID.unixMilliseconds }

  /// The notification's type; 0 if the content is none that Belfry writes. It is the last name of every
  /// content, so nothing else of the content has to be looked at.
  package var type: Int {
    let beforeEnd = content.dropLast()
    let colon = beforeEnd.lastIndex(of: UInt8(ascii: ":")) ?? beforeEnd.endIndex
    return Int64(digits: beforeEnd[colon...].dropFirst()).flatMap { Int(exactly: $0) } ?? 0
  }

  /// True if the notification counts in the number on an app's icon (`needBadge`). After the flags of a
  /// content come only numbers and the names of accounts, so the last brace that opens is that of the flags.
  package var countsInBadge: Bool {
    guard let flags = content.lastIndex(of: UInt8(ascii: "{")) else { return true }
    return !content[flags...].dropFirst().starts(with: Self.noBadge)
  }

  private static let noBadge = Array("\"needBadge\":false".utf8)

  /// The entry with only the parts of its content that counting needs: its type, and if it counts in the
  /// badge. They are copied, since the content would keep all of Redis's answer in memory.
  package var forCounting: LogEntry {
    var entry = self
    let flag = countsInBadge ? "" : "\"needBadge\":false,"
    entry.content = isRecalled ? [] : ArraySlice("{\(flag)\"type\":\(type)}".utf8)
    return entry
  }

  package var contentJSON: String {
    get { String(decoding: content, as: UTF8.self) }
    set { content = ArraySlice(newValue.utf8) }
  }

  /// Appends the notification in the form that consumers receive. The content was rendered once, when it was
  /// sent. Only the fields that the append alone could know are added here.
  package func appendNotification(to bytes: inout [UInt8]) {
    Self.appendNotification(notificationID, updateTime, content, to: &bytes)
  }

  fileprivate static func appendNotification(
    _ id: MessageID, _ updateTime: Int64?, _ content: ArraySlice<UInt8>, to bytes: inout [UInt8]
  ) {
    bytes.append("{\"messageServerId\":\"")
    bytes.append(decimal: id.raw)
    bytes.append("\",")
    if content.timeAtBeginning == nil {
      bytes.append("\"time\":")
      bytes.append(decimal: id.unixMilliseconds)
      bytes.append(UInt8(ascii: ","))
    }
    if let updateTime {
      bytes.append("\"updateTime\":")
      bytes.append(decimal: updateTime)
      bytes.append(UInt8(ascii: ","))
    }
    bytes.append(contentsOf: content.dropFirst())
  }
}

extension ArraySlice<UInt8> {
  /// The time at the beginning of the content. A content has one if the entry's id is ahead of the clock.
  fileprivate var timeAtBeginning: Int64? {
    guard starts(with: TimeField.beginning) else { return nil }
    return Int64(digits: dropFirst(TimeField.beginning.count).prefix { $0 != UInt8(ascii: ",") })
  }
}

private enum TimeField {
  static let beginning = Array("{\"time\":".utf8)
}

extension Notification {
  /// As consumers receive it.
  package var json: [UInt8] {
    var bytes: [UInt8] = []
    LogEntry.appendNotification(messageServerId, updateTime, content.text.bytes[...], to: &bytes)
    return bytes
  }
}

/// The changes of an entry after it was appended: its new body, ext or status, or its recall.
package struct UpdateRecord: Sendable, Hashable, Codable {
  /// Nil: as it was sent.
  package var body: String?
  package var ext: String?
  package var status: Int?
  package var updateTime: Int64
  /// Nil unless it was recalled. Then nothing else is left of it, and nothing changes it any more.
  package var recall: Recall?
  /// In a personal space the stream id of the entry that announces all this; nil in others, and before the
  /// commit.
  private var entry: String?

  /// The account that recalled it, at the time of the update.
  package struct Recall: Sendable, Hashable, Codable {
    /// Nil: a trusted caller in nobody's name.
    package var by: AccountID?
    /// The sender, if a user sent it: the sender may ask for its recall again.
    package var sender: AccountID?
  }

  package init(body: String?, ext: String?, status: Int?, updateTime: Int64) {
    self.body = body
    self.ext = ext
    self.status = status
    self.updateTime = updateTime
  }

  package init(_ recall: Recall, atMilliseconds time: Int64) {
    updateTime = time
    self.recall = recall
  }

  /// The entry of a personal space that announces all this. The next update takes its place, and it is
  /// deleted with the notification when that is read: a mailbox counts its entries, and nobody would read
  /// this one any more.
  package var announcement: MessageID? { entry.flatMap { MessageID(streamForm: $0) } }

  /// The record's text, as its commit writes it.
  func text(in space: SpaceID) throws(Refusal) -> String {
    var record = self
    record.entry = nil
    let text = try RecordJSON.text(record)
    guard space.kind == .account else { return text }
    // Only the commit knows the id. JSON would escape the mark that it replaces.
    return "{\"entry\":\"\(MessageID.endOfThisCommitMark)\"," + text.dropFirst()
  }

  package func applied(to content: NotificationContent) -> NotificationContent {
    var content = content
    if let body { content.body = body }
    if let ext { content.ext = ext }
    if let status { content.status = status }
    return content
  }
}
