import BelfryModel
import BelfryStore

/// Removes attendees that gave no heartbeat in time, and empties rooms that have closed.
///
/// Every broker has one, and no room belongs to a broker. The commits of joins tell the store which rooms are
/// due, so no attendee is forgotten when a broker dies. A removal is a commit, so several brokers may work on
/// a room at the same time.
final class RoomTimer {
  /// The interval at which due rooms are asked for. An absent attendee is removed about this much late. It
  /// takes one short command per partition, which is some milliseconds of Redis in all.
  static let interval: Duration = .seconds(1)
  /// The time for which other brokers leave a room to the broker that claimed it, in case that broker dies. A
  /// large room that accounts enter all the time is scanned at most this often.
  static let claimMilliseconds: Int64 = 5_000
  /// Presences that are read at once: less than a millisecond of Redis.
  static let presencesPerPage = 1_000
  /// Each attendee is an announcement or an index change, so a commit takes Redis a few milliseconds.
  static let attendeesPerCommit = 100
  /// Commits that empty one room before other rooms have their turn.
  static let emptyingCommitsPerLook = 50

  private let runner: OperationRunner
  private var grace: RoomGrace

  init(_ runner: OperationRunner) {
    self.runner = runner
    grace = RoomGrace(heartbeatMilliseconds: runner.limits.heartbeatMilliseconds, interval: Self.interval)
  }

  private var store: any Store { runner.store }
  private var limits: Limits { runner.limits }

  /// Checks all rooms that are due.
  /// - Throws: the first failure, after all rooms were tried.
  func checkDueRooms() async throws {
    let now = try await store.nowMilliseconds()
    grace.beginRound(at: now)
    var rooms = try await readDueRooms(now)
    if !grace.isOver(at: now) { rooms = try await closedRooms(among: rooms) }
    var failure: (any Error)?
    for due in rooms {
      // A room whose check fails is due again when the claim ends, here or at another broker.
      do { try await look(at: due) } catch { failure = failure ?? error }
    }
    if let failure { throw failure }
  }

  private func readDueRooms(_ now: Int64) async throws(StoreError) -> [DueSpace] {
    do throws(StoreError) {
      let due = try await store.dueSpaces(nowMilliseconds: now)
      if !due.isComplete { grace.noteAbsence(at: now) }
      return due.spaces
    } catch {
      grace.noteAbsence(at: now)
      throw error
    }
  }

  /// The rooms of these that have closed. Nobody comes back to them with a heartbeat, so they are emptied without a grace
  /// period. Otherwise the attendees of a room that closes after a start would see its comings and goings for 20 seconds.
  private func closedRooms(among rooms: [DueSpace]) async throws -> [DueSpace] {
    if rooms.isEmpty { return [] }
    let records = try await store.records(rooms.map { .settings($0.space) })
    // A room whose record cannot be read is left until the grace period is over. The others do not wait for it.
    return rooms.filter { (try? records.json(RoomRecord.self, .settings($0.space)))?.removedAt != nil }
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
    // This does nothing if a commit since the claim has set another time, for a join or for the closing.
    try await store.postpone(claim, toMilliseconds: next)
  }

  /// Removes absent attendees.
  /// - Returns: the time at which the next attendee may be absent, in milliseconds since 1970.
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
  /// - Returns: nil if no attendees are left; `now` if there may be more.
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
