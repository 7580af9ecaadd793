import BelfryModel

// The way in which both stores make and apply updates.
extension LogEntry {
  /// The entry that announces an update.
  init(_ update: Update, id: MessageID) {
    self.init(
      id: id, audience: update.audience, contentJSON: update.content?.json ?? "", updateTime: update.time,
      updates: update.messageServerId)
  }

  /// Applies the notification's update to its entry. If the notification was recalled, nothing is left of it,
  /// also not in the entries that updated it before.
  /// - Parameter text: the notification's record in ``RecordTable/updates``.
  mutating func apply(_ text: String, at place: String) throws(StoreError) {
    let update = RecordJSON.value(UpdateRecord.self, text)
    if let update, update.recall != nil {
      content = []
      return updateTime = update.updateTime
    }
    if updates != nil { return }
    guard let update,
      let content = NotificationContent(json: content)
    else { throw StoreError(.corrupt, "entry \(id) or its update cannot be read", at: place) }
    contentJSON = update.applied(to: content).json
    updateTime = update.updateTime
  }
}
