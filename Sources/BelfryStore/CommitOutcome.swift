package import BelfryModel

package typealias CommitResult = Result<CommitOutcome, StoreError>

/// The outcome of a transaction.
package enum CommitOutcome: Sendable, Hashable {
  case committed(Commit)
  /// The same send was committed before, with this id. Nothing was done now.
  /// - Parameter appendedAt: as in ``Commit/appendedAt``.
  case duplicate(of: MessageID, appendedAt: Int64? = nil)
  /// The dedupe key was used before, for another content. Nothing was done.
  case differentContent
  /// A record is no longer what the transaction was decided on: read it and decide again.
  case conflict
  /// The table would have grown past its ceiling.
  case ceiling(RecordTable)
  /// The mailbox of the personal space's account holds as much as it may, of this sender or of all.
  case mailboxFull
}

/// A transaction that was carried out.
package struct Commit: Sendable, Hashable {
  /// The ids of the announcements, in their order.
  package var ids: [MessageID]
  /// The partition's last id before this commit.
  package var before: MessageID
  /// When the announcements were appended, milliseconds since 1970, if their ids are ahead of the clock; nil: the ids say it.
  package var appendedAt: Int64?

  package init(ids: [MessageID], before: MessageID, appendedAt: Int64? = nil) {
    self.ids = ids
    self.before = before
    self.appendedAt = appendedAt
  }
}

/// The earlier send, if any, that a send would repeat.
package enum FirstSend: Sendable, Hashable {
  /// The store knows of no such send within the dedupe window.
  case unknown
  /// The same content was sent with the same `messageClientId`, and has this id.
  /// - Parameter appendedAt: as in ``Commit/appendedAt``.
  case same(MessageID, appendedAt: Int64? = nil)
  /// The `messageClientId` was used for another content.
  case different
}

extension Refusal {
  package static var duplicateContent: Refusal {
    Refusal(
      .duplicateContent, "this messageClientId was already used for another notification",
      field: "messageClientId")
  }
}
