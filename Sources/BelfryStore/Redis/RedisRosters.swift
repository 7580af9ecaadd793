package import BelfryModel
import BelfryRedis

// Repairs the indexes of members that have forgotten a space.
extension RedisStore {
  /// Members read in one step: of the first roster of a round, and of each other.
  private static let membersPerStep = (first: 100, others: 15)

  package func restoreIndexes(
    _ memberships: [StandingMembership], in space: SpaceID, asOf version: MessageID
  ) async throws(StoreError) {
    for first in stride(from: 0, to: memberships.count, by: OutboxRounds.roundMax) {
      let some = memberships[first..<min(first + OutboxRounds.roundMax, memberships.count)]
      let failures = try await sendRelays(some.map { RelayMessage($0, in: space, asOf: version) })
      if let first = failures.first { throw first.problem }
    }
  }

  /// Compares some members of the partition's rosters with their indexes, and repairs these. Ends what their records say of
  /// removed channels.
  func compareRosters(
    of partition: Partition, _ walk: inout RosterWalk, _ bounds: SweepBounds
  ) async throws(StoreError) {
    let rosters = walk.rosters
    if rosters.isEmpty { return }
    let place = "rosters \(partition.number)"
    // In this order: an account whose interval began after the version has just joined. While the outbox holds anything, an
    // index may only be late. The rosters are read after both.
    let version = try await lastIDs(of: [partition])[0]
    let outbox = try await pipeline([RedisCommand("XLEN", layout.outbox(partition))], at: place)[0]
    guard try reading(at: place, { () throws(RedisError) in try outbox.integer() }) == 0 else { return }
    let (members, cursors) = try await members(of: rosters, at: place)
    let lost = try await withoutKnown(members.filter { $0.standing.since < version }, at: place)
    for (space, members) in Dictionary(grouping: lost, by: \.space) {
      try await restoreIndexes(members.map(\.standing), in: space, asOf: version)
    }
    try await endRemovedChannels(
      in: members.map { (space: $0.space, account: $0.standing.account, text: $0.text, record: $0.record) },
      bounds)
    walk.finish(cursors)
  }

  private typealias Member = (
    space: SpaceID, standing: StandingMembership, text: String, record: MemberRecord
  )

  /// A step of each scan. Awaited, since another partition is told of it, and must not know more than this one keeps.
  private func members(
    of rosters: [(space: SpaceID, cursor: String)], at place: String
  ) async throws(StoreError) -> (members: [Member], cursors: [String]) {
    let scans = rosters.enumerated().map { index, roster in
      RedisCommand(
        "HSCAN", layout.table(TableAddress(roster.space, .roster)), roster.cursor, "COUNT",
        index == 0 ? Self.membersPerStep.first : Self.membersPerStep.others)
    }
    let replies = try await pipeline(scans, isAwaited: true, at: place)
    var (members, cursors): ([Member], [String]) = ([], [])
    for (roster, reply) in zip(rosters, replies) {
      let (next, records) = try reading(at: place) { () throws(RedisError) in try reply.scanned() }
      cursors.append(next)
      for (name, text) in records {
        guard let account = AccountID(name), let record = MemberRecord(text: text),
          let standing = StandingMembership(account, record)
        else { continue }
        members.append((roster.space, standing, text, record))
      }
    }
    return (members, cursors)
  }

  private func withoutKnown(_ members: [Member], at place: String) async throws(StoreError) -> [Member] {
    if members.isEmpty { return [] }
    let questions = members.map { member in
      RedisCommand("HGET", layout.spaces(of: member.standing.account), member.space.key)
    }
    let replies = try await pipeline(questions, at: place)
    var unknown: [Member] = []
    try reading(at: place) { () throws(RedisError) in
      for (member, reply) in zip(members, replies) {
        guard let text = try reply.ifPresent?.bytes() else {
          unknown.append(member)
          continue
        }
        // An entry that cannot be read is left for somebody who looks at it.
        let entry = IndexEntry(field: Array(member.space.key.utf8)[...], text: text)
        if let entry, !member.standing.isKnown(to: entry) { unknown.append(member) }
      }
    }
    return unknown
  }
}
