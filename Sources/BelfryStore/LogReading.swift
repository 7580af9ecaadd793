package import BelfryModel

/// A stretch of one log to read.
package struct LogRequest: Sendable, Hashable {
  package var space: SpaceID
  /// The id before the first entry that is wanted.
  package var after: MessageID
  /// The last id that is wanted.
  package var through: MessageID
  /// At most so many entries are returned, the oldest ones.
  package var limit: Int

  package init(_ space: SpaceID, after: MessageID, through: MessageID = .last, limit: Int) {
    self.space = space
    self.after = after
    self.through = through
    self.limit = limit
  }

  /// The id up to which the answer has all entries: an answer of fewer than were asked for has all that there are.
  package func reach(of answer: [LogEntry]) -> MessageID {
    answer.count < limit ? through : answer.last?.id ?? through
  }
}

/// The result of a search for an entry by its id.
package struct EntrySearch: Sendable, Hashable {
  /// The space whose log holds the entry; nil if none was found.
  package var space: SpaceID?
  /// The number of logs that were read for it: the cost of the search for the store.
  package var logsRead: Int

  package init(space: SpaceID? = nil, logsRead: Int = 0) {
    self.space = space
    self.logsRead = logsRead
  }
}

extension Store {
  /// The space whose log holds this entry; nil if none was found.
  package func locate(_ id: MessageID) async throws(StoreError) -> SpaceID? {
    try await search(for: id).space
  }
}

/// The end of a log, and of the ids of its partition, as of one moment.
package struct LogEnd: Sendable, Hashable {
  /// The last id allotted in the partition, for any purpose; zero if none.
  package var allotted: MessageID
  /// The last entry ever appended to the log, whether or not it is still there; zero if none. A reader that has come
  /// this far need not read the log.
  package var appended: MessageID
  /// Up to this id entries that may be unread were trimmed from the log, by age or length; zero if none were.
  package var lostThrough: MessageID
  /// The losses of ids of the partition, oldest first.
  package var rewinds: [Rewind]
  /// The history in which the partition's last id was allotted; empty if unknown.
  package var history: String
  /// The history in which the partition's next id will be allotted: that of the node which holds the
  /// partition. While it differs from ``history``, nothing was allotted since the last loss.
  package var present: String

  package init(
    allotted: MessageID, appended: MessageID, lostThrough: MessageID = .zero, rewinds: [Rewind] = [],
    history: String = "", present: String = ""
  ) {
    self.allotted = allotted
    self.appended = appended
    self.lostThrough = lostThrough
    self.rewinds = rewinds
    self.history = history
    self.present = present
  }
}

/// The store came back in an earlier state, so the ids of a partition between `kept` and `first` are lost and are not
/// allotted again. An id after `first` may have been allotted before the loss as well, if the clock was also set back by
/// more than ids leap; the history alone tells the two apart.
package struct Rewind: Sendable, Hashable {
  /// The name of the history that ended; empty where the partition had no id yet.
  package var ended: String
  /// The last id that was kept.
  package var kept: MessageID
  /// The first id that was allotted afterwards.
  package var first: MessageID

  package init(ended: String, kept: MessageID, first: MessageID) {
    self.ended = ended
    self.kept = kept
    self.first = first
  }
}
