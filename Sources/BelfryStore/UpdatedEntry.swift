import BelfryModel

// How both stores make and apply updates.
extension LogEntry {
  /// The entry that announces an update.
  init(_ update: Update, id: MessageID) {
    self.init(
      id: id, audience: update.audience, contentJSON: update.notification.content.json,
      updateTime: update.notification.updateTime, updates: update.notification.messageServerId)
  }

  /// Applies the update's content and time to the entry.
  /// - Parameter text: the record in ``RecordTable/updates``.
  mutating func apply(_ text: String, at place: String) throws(StoreError) {
    guard let update = RecordJSON.value(UpdateRecord.self, text),
      let content = NotificationContent(json: content)
    else { throw StoreError(.corrupt, "entry \(id) or its update", at: place) }
    contentJSON = update.applied(to: content).json
    updateTime = update.updateTime
  }
}
