import BelfryBytes

/// What an entry that comes live is to the cursors that pass it: the id they then stand at, and where their base
/// may stand.
///
/// Both as text, too, rendered once for all of them: a cursor's text is the only thing in an event that is each
/// consumer's own, and of most nothing in it but these differs from one event to the next. Digit by digit it took
/// a third of what a delivery takes that shares its system call with others.
package struct CursorStep: Sendable {
  package let id: MessageID
  package let base: MessageID
  private let idText: [UInt8]
  private let baseText: [UInt8]

  package init(to id: MessageID, base: MessageID) {
    self.id = id
    self.base = base
    idText = Self.text(id)
    baseText = Self.text(base)
  }

  /// What was rendered of an id; nil if that is another.
  func text(of id: MessageID) -> [UInt8]? {
    if id == self.id { return idText }
    return id == base ? baseText : nil
  }

  private static func text(_ id: MessageID) -> [UInt8] {
    var text: [UInt8] = []
    text.append(addingCapacity: FeedCursor.idBytesMost) { $0.append(base36: id.raw.magnitude) }
    return text
  }
}
