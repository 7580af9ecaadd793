import BelfryModel

// An entry as an update makes it, the same in either store.
extension LogEntry {
  /// The entry that says what another has become.
  init(_ update: Update, id: MessageID) {
    self.init(
      id: id, audience: update.audience, contentJSON: update.notification.content.json,
      updateTime: update.notification.updateTime, updates: update.notification.messageServerId)
  }

  /// Puts in what became of the entry since it was appended.
  /// - Parameter text: the record in ``RecordTable/updates``.
  mutating func apply(_ text: String, at place: String) throws(StoreError) {
    guard let update = RecordJSON.value(UpdateRecord.self, text),
      let content = NotificationContent(json: content)
    else { throw StoreError(.corrupt, "entry \(id) or its update", at: place) }
    contentJSON = update.applied(to: content).json
    updateTime = update.updateTime
  }
}
