/// What an account has read: everything up to a watermark, and single entries above it (DESIGN §6).
package struct ReadState: Sendable, Hashable {
  package var watermark: MessageID
  package var above: Set<MessageID>

  package init(watermark: MessageID = .zero, above: Set<MessageID> = []) {
    self.watermark = watermark
    self.above = above
  }

  package func contains(_ id: MessageID) -> Bool { id <= watermark || above.contains(id) }

  package mutating func mark(_ id: MessageID) {
    if id > watermark { above.insert(id) }
  }

  package mutating func mark(_ ids: some Sequence<MessageID>) {
    for id in ids { mark(id) }
  }

  /// Never backwards: a mark-read that arrives late must not make anything unread.
  package mutating func raise(to id: MessageID) {
    guard id > watermark else { return }
    watermark = id
    above = above.filter { $0 > id }
  }
}
