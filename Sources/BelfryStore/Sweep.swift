import BelfryModel

// The knowledge of the records that both stores need for the sweep.

/// The times when a space was created and removed, read from its settings; milliseconds since 1970. The
/// settings may be of any kind of space.
struct SpaceDates: Decodable {
  var createdAt: Int64
  var removedAt: Int64?

  /// Nil if the text is no settings.
  init?(_ text: String) {
    guard let dates = RecordJSON.value(Self.self, text) else { return nil }
    self = dates
  }
}

extension RecordTable {
  /// True if a record of the table is over: it has expired, or is of a former member who is told of no loss any more. Unreadable
  /// records are kept.
  /// - Parameter channels: those of the table's server; nil if they are not known.
  func isOver(_ text: String, _ bounds: SweepBounds, _ channels: ExistingChannels?) -> Bool {
    if self == .former {
      return MemberRecord(text: text)?.isForgotten(
        retentionFloor: bounds.forgotten, nowMilliseconds: bounds.nowMilliseconds, existing: channels)
        ?? false
    }
    return expires
      && ExpiringText(text: text).map { $0.expiresAtMilliseconds <= bounds.nowMilliseconds } ?? false
  }
}

extension SpaceKind {
  /// The tables that lose records as time goes by.
  var sweptTables: [RecordTable] {
    hasMembers ? [.former, .updates] + RecordTable.ofSpace.filter(\.expires) : [.updates]
  }
}
