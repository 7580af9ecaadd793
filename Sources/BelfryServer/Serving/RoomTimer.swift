import BelfryModel
import BelfryStore

/// Looks after rooms: puts out who gave no sign of life in time, and empties those that have closed.
///
/// Every broker has one, and no room belongs to any of them. Which rooms are to be looked at stands in the
/// store, written by the commits that let people in, so nobody is forgotten when the broker that let
/// them in dies. What becomes of a room is decided in a commit, so several may look at it at once.
final class RoomTimer {
  /// An absent attendee is out about this long after their time. Asking which rooms are due is one short
  /// command per partition, some milliseconds of Redis in all.
  static let interval: Duration = .seconds(1)
  /// A room that somebody looks at is left alone by the others for so long, and no longer: who looks may
  /// die. A large room that somebody enters all the time is not gone through more often than this.
  static let claimMilliseconds: Int64 = 5_000
  /// Presences read at once: less than a millisecond of Redis.
  static let presencesPerPage = 1_000
  /// Each of them is an announcement or an index change; together they hold up the others in Redis for
  /// a few milliseconds.
  static let attendeesPerCommit = 100
  /// Emptying goes on at the next round, after the other rooms have had their turn.
  static let emptyingCommitsPerLook = 50

  private let runner: OperationRunner
  private var lastRoundMilliseconds: Int64?
  private var reachableSinceMilliseconds: Int64 = 0

  init(_ runner: OperationRunner) { self.runner = runner }

  private var store: any Store { runner.store }
  private var limits: Limits { runner.limits }

  /// Looks at all rooms whose time has come.
  func checkDueRooms() async throws(StoreError) {
    let now = try await store.nowMilliseconds()
    note(round: now)
    guard isFair(now) else { return }
    for due in try await store.dueSpaces(nowMilliseconds: now) {
      // What fails is due again when the claim ends, here or at another broker.
      try? await look(at: due)
    }
  }

  // MARK: Being fair

  // While the store or this broker was away, nobody could give a sign of life. Without a grace everyone
  // would be taken for absent afterwards, and every room would close.

  private func note(round now: Int64) {
    let isInterrupted = lastRoundMilliseconds.map { now - $0 > limits.heartbeatMilliseconds } ?? true
    if isInterrupted { reachableSinceMilliseconds = now }
    lastRoundMilliseconds = now
  }

  /// Whether whoever is there has had the time for a sign of life, and for another if one was lost.
  private func isFair(_ now: Int64) -> Bool {
    now - reachableSinceMilliseconds >= 2 * limits.heartbeatMilliseconds
  }

  // MARK: One room

  private func look(at due: DueSpace) async throws {
    let now = try await store.nowMilliseconds()
    let claim = DueSpace(space: due.space, atMilliseconds: now + Self.claimMilliseconds)
    try await store.postpone(due, toMilliseconds: claim.atMilliseconds)
    let settings = RecordAddress.settings(due.space)
    let room = try await store.records([settings]).json(RoomRecord.self, settings)
    let next: Int64?
    switch room {
    case nil: next = nil
    case let room? where room.removedAt == nil: next = try await timeOut(due.space, now)
    case .some: next = try await empty(due.space, now)
    }
    // Whoever entered, or closed the room, since the claim has set a time of their own, which stays.
    try await store.postpone(claim, toMilliseconds: next)
  }

  /// Puts out those who are absent. Gives the time when somebody else may be.
  private func timeOut(_ room: SpaceID, _ now: Int64) async throws -> Int64 {
    var next = now + limits.absenceMilliseconds
    var cursor: PageCursor?
    repeat {
      let page = try await store.page(
        of: TableAddress(room, .presence), after: cursor, limit: Self.presencesPerPage)
      var absent: [AccountID] = []
      for (field, text) in page.records {
        let until = PresenceText.untilMilliseconds(text)
        if until > now { next = min(next, until) } else { AccountID(field).map { absent.append($0) } }
      }
      while !absent.isEmpty {
        let batch = Array(absent.prefix(Self.attendeesPerCommit))
        _ = try await runner.run(TimeOutAttendees(room, accounts: batch))
        absent.removeFirst(batch.count)
      }
      cursor = page.next
    } while cursor != nil
    return next
  }

  /// Lets attendees out of a closed room. Gives nil when nobody is left, now when somebody may be.
  private func empty(_ room: SpaceID, _ now: Int64) async throws -> Int64? {
    var cursor: PageCursor?
    for _ in 0..<Self.emptyingCommitsPerLook {
      let page = try await store.page(
        of: TableAddress(room, .roster), after: cursor, limit: Self.attendeesPerCommit)
      _ = try await runner.run(
        EmptyClosedRoom(room, accounts: page.records.compactMap { AccountID($0.field) }))
      guard let next = page.next else { return nil }
      cursor = next
    }
    return now
  }
}
