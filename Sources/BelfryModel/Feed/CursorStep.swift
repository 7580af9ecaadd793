import BelfryBytes

/// What an entry that comes live is to the cursors that pass it: the id they then stand at.
///
/// As text, too, rendered once for all of them: a cursor's text is the only thing in an event that is each
/// consumer's own, and of most nothing in it but this id differs from one event to the next. Digit by digit it took
/// a third of what a delivery takes that shares its system call with others.
package struct CursorStep: Sendable {
  package let id: MessageID
  let idText: [UInt8]

  package init(to id: MessageID) {
    self.id = id
    var text: [UInt8] = []
    text.append(addingCapacity: FeedCursor.idBytesMost) { $0.append(base36: id.raw.magnitude) }
    idText = text
  }
}
