import BelfryModel
import BelfryStore

/// Removes attendees that gave no heartbeat in time, and empties rooms that have closed.
///
/// Every broker has one, and no room belongs to a broker. The store knows which rooms are due, by the commits of joins, so
/// no attendee is forgotten when a broker dies. Removing is a commit, so several brokers may work on a room at once.
final class RoomTimer {
  /// How often due rooms are asked for, and so about how late an absent attendee is removed. One short command per
  /// partition, some milliseconds of Redis in all.
  static let interval: Duration = .seconds(1)
  /// How long other brokers leave a room to the one that claimed it, which may die meanwhile. A large room that accounts
  /// enter all the time is not scanned more often than this.
  static let claimMilliseconds: Int64 = 5_000
  /// Presences read at once: less than a millisecond of Redis.
  static let presencesPerPage = 1_000
  /// Each attendee is an announcement or an index change, so a commit takes Redis a few milliseconds.
  static let attendeesPerCommit = 100
  /// Commits that empty one room before other rooms have their turn.
  static let emptyingCommitsPerLook = 50

  private let runner: OperationRunner
  private var lastRoundMilliseconds: Int64?
  private var reachableSinceMilliseconds: Int64 = 0

  init(_ runner: OperationRunner) { self.runner = runner }

  private var store: any Store { runner.store }
  private var limits: Limits { runner.limits }

  /// Checks all rooms that are due.
  /// - Throws: the first failure, after all rooms were tried.
  func checkDueRooms() async throws {
    let now = try await store.nowMilliseconds()
    note(round: now)
    guard isFair(now) else { return }
    var failure: (any Error)?
    for due in try await store.dueSpaces(nowMilliseconds: now) {
      // A room for which it fails is due again when the claim ends, here or at another broker.
      do { try await look(at: due) } catch { failure = failure ?? error }
    }
    if let failure { throw failure }
  }

  // MARK: Grace after an interruption

  // While the store or this broker was away, attendees could give no heartbeat. Without a grace all of them would count as
  // absent afterwards, and every room would close.

  private func note(round now: Int64) {
    let isInterrupted = lastRoundMilliseconds.map { now - $0 > uninterruptedMilliseconds } ?? true
    if isInterrupted { reachableSinceMilliseconds = now }
    lastRoundMilliseconds = now
  }

  /// Rounds that are no further apart than this have missed no interruption. Never less than some intervals: with short
  /// heartbeats each round would count as an interruption, and the grace would not end.
  private var uninterruptedMilliseconds: Int64 {
    max(limits.heartbeatMilliseconds, 3 * Int64(Self.interval / Duration.milliseconds(1)))
  }

  /// Whether attendees have had time for a heartbeat, and for another if one was lost.
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
    // Does nothing if a commit since the claim, by a join or the closing, has set another time.
    try await store.postpone(claim, toMilliseconds: next)
  }

  /// Removes absent attendees.
  /// - Returns: when the next attendee may be absent, milliseconds since 1970.
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

  /// Removes attendees of a closed room.
  /// - Returns: nil when none is left; `now` when some may be.
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
