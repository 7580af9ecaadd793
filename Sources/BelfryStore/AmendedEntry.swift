import BelfryModel

// An entry as an amendment makes it, the same in either store.
extension LogEntry {
  /// The entry that says what another has become.
  init(_ amendment: Amendment, id: MessageID) {
    self.init(
      id: id, audience: amendment.audience, contentJSON: amendment.notification.content.json,
      updateTime: amendment.notification.updateTime, amends: amendment.notification.messageServerId)
  }

  /// Puts in what became of the entry since it was appended.
  /// - Parameter text: the record in ``RecordTable/amendments``.
  mutating func apply(_ text: String, at place: String) throws(StoreError) {
    guard let amendment = RecordJSON.value(AmendmentRecord.self, text),
      let content = NotificationContent(json: content)
    else { throw StoreError(.corrupt, "entry \(id) or its amendment", at: place) }
    contentJSON = amendment.applied(to: content).json
    updateTime = amendment.updateTime
  }
}
