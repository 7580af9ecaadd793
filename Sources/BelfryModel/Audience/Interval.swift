/// A stretch of a log: the entries after one id, up to and including another.
package struct Interval: Sendable, Hashable {
  package var after: MessageID
  /// Nil while it lasts.
  package var through: MessageID?

  package init(after: MessageID, through: MessageID? = nil) {
    self.after = after
    self.through = through
  }

  package func contains(_ id: MessageID) -> Bool {
    after < id && (through.map { id <= $0 } ?? true)
  }
}

/// When something was the case, over and over: belonged, left, belonged again.
package struct Intervals: Sendable, Hashable {
  /// Older ones are forgotten first. Whoever joins and leaves more often than this within the retention
  /// loses sight of what was sent in the oldest of those stays.
  package static let limit = 8

  package private(set) var all: [Interval]

  package init(_ all: [Interval] = []) {
    self.all = all.count <= Self.limit ? all : Array(all.suffix(Self.limit))
  }

  package static func since(_ after: MessageID) -> Intervals { Intervals([Interval(after: after)]) }

  package var isEmpty: Bool { all.isEmpty }
  /// The interval that still lasts.
  package var current: Interval? { all.last.flatMap { $0.through == nil ? $0 : nil } }
  package func contains(_ id: MessageID) -> Bool { all.contains { $0.contains(id) } }

  /// Begins a new interval unless one lasts already.
  package mutating func open(after id: MessageID) {
    guard current == nil else { return }
    self = Intervals(all + [Interval(after: id)])
  }

  /// Ends the interval that lasts, if one does.
  package mutating func close(through id: MessageID) {
    guard current != nil else { return }
    all[all.count - 1].through = id
  }

  /// Only what began before `id`.
  package mutating func keep(begunBefore id: MessageID) {
    all.removeAll { $0.after >= id }
  }

  /// Forgets what ended before `floor`: nothing from then is left to see. An end that only the commit
  /// will know (``MessageID/endOfThisCommit``) is later than any floor.
  package mutating func forget(before floor: MessageID) {
    all.removeAll { interval in interval.through.map { $0 >= .zero && $0 < floor } ?? false }
  }
}
