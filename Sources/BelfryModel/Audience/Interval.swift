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

/// The stretches in which something held for an account, such as its membership or a subscription, oldest first. Within
/// retention they are complete: an interval that would be one too many is refused, and none is forgotten for it. Earlier ones
/// are kept for one more retention, unless there is no room: a reader is told that an entry is gone only if the record still
/// says that it was for that reader.
package struct Intervals: Sendable, Hashable {
  /// How many intervals of one kind a record holds within retention; of memberships, see ``SpaceKind/intervalsMax``.
  package static let limit = 32

  package private(set) var all: [Interval]

  /// - Parameter all: however many; the limit is for new ones.
  package init(_ all: [Interval] = []) { self.all = all }

  package static func since(_ after: MessageID) -> Intervals { Intervals([Interval(after: after)]) }

  package var isEmpty: Bool { all.isEmpty }
  /// The interval that still lasts.
  package var current: Interval? { all.last.flatMap { $0.through == nil ? $0 : nil } }
  package func contains(_ id: MessageID) -> Bool { all.contains { $0.contains(id) } }

  /// Begins an interval unless one lasts already. If there is no room, intervals that ended before `floor` are forgotten.
  /// - Parameters:
  ///   - most: how many intervals there may be.
  ///   - what: what held so often, for the refusal: `bob has been in server 7`.
  /// - Throws: `tooMany` when there are as many already.
  package mutating func open(
    after id: MessageID, retentionFloor floor: MessageID, atMost most: Int = limit,
    _ what: @autoclosure () -> String
  ) throws(Refusal) {
    guard current == nil else { return }
    if all.count >= most { forget(before: floor) }
    guard all.count < most else { throw .tooOften(what(), most) }
    all.append(Interval(after: id))
  }

  /// Ends the interval that lasts, if one does.
  package mutating func close(through id: MessageID) {
    guard current != nil else { return }
    all[all.count - 1].through = id
  }

  /// Keeps only the intervals that began before `id`.
  package mutating func keep(begunBefore id: MessageID) {
    all.removeAll { $0.after >= id }
  }

  /// Forgets the intervals that ended before `floor`. An end that only the commit will know
  /// (``MessageID/endOfThisCommit``) is later than any floor.
  package mutating func forget(before floor: MessageID) {
    all.removeAll { interval in interval.through.map { $0 >= .zero && $0 < floor } ?? false }
  }

  /// Begins an interval however many there are, unless one lasts already.
  fileprivate mutating func openInAnyCase(after id: MessageID) {
    if current == nil { all.append(Interval(after: id)) }
  }
}

/// The stretches in which entries were withheld from an account, such as while it was blocked from a channel.
///
/// Beginning one is never refused, or the account would be shown what is not for it. Refused is the end that would leave
/// no room for another beginning.
package struct Restrictions: Sendable, Hashable {
  package private(set) var intervals: Intervals

  package init(_ intervals: Intervals = Intervals()) { self.intervals = intervals }
  package static func since(_ after: MessageID) -> Restrictions { Restrictions(.since(after)) }

  package var isEmpty: Bool { intervals.isEmpty }
  package var current: Interval? { intervals.current }
  package func contains(_ id: MessageID) -> Bool { intervals.contains(id) }

  package mutating func begin(after id: MessageID) { intervals.openInAnyCase(after: id) }

  /// - Parameter what: what held so often, for the refusal: `bob has been blocked from channel 9`.
  /// - Throws: `tooMany` when no further interval could be begun afterwards.
  package mutating func end(
    through id: MessageID, retentionFloor floor: MessageID, _ what: @autoclosure () -> String
  ) throws(Refusal) {
    guard current != nil else { return }
    if intervals.all.count >= Intervals.limit { intervals.forget(before: floor) }
    guard intervals.all.count < Intervals.limit else { throw .tooOften(what(), Intervals.limit) }
    intervals.close(through: id)
  }

  /// Ends with the membership, which is never refused. Memberships are limited themselves, so there are at most twice
  /// ``Intervals/limit`` within retention.
  package mutating func endWithMembership(through id: MessageID) { intervals.close(through: id) }

  package mutating func forget(before floor: MessageID) { intervals.forget(before: floor) }
}

extension SpaceKind {
  /// How many membership intervals a record holds within retention. A room's attendee joins several times a day, and
  /// leaves whenever the network fails for half a minute.
  package var intervalsMax: Int { self == .room ? 256 : Intervals.limit }
}

extension Refusal {
  fileprivate static func tooOften(_ what: String, _ most: Int) -> Refusal {
    Refusal(
      .tooMany,
      "\(what) too often: at most \(most) times within the retention time. Try again when the first of them is older than the retention time"
    )
  }
}
