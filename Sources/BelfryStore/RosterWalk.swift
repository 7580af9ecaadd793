import BelfryModel

/// Which rosters of a partition are looked at next: in each round some, and over rounds all. The spaces come in the order of
/// a hash of their names, so that only the next few have to be remembered.
struct RosterWalk {
  /// Rosters of one round.
  static let spacesMax = 8

  /// The walk goes on here, in the order of hashes.
  private var place: UInt64
  /// The space whose roster was left in the middle, and where.
  private var unfinished: (space: SpaceID, cursor: String)?
  /// The spaces that come next, by how far their hashes are behind the place.
  private var next: [(distance: UInt64, space: SpaceID)] = []

  /// - Parameter place: random, so that a broker that is started again does not always look at the same ones.
  init(from place: UInt64) { self.place = place }

  mutating func beginRound() { next = [] }

  /// Takes note of spaces of this round, in any order, perhaps repeated.
  mutating func offer(_ spaces: [SpaceID]) {
    for space in spaces where space.kind.hasMembers {
      let distance = Self.hash(space) &- place
      guard next.count < Self.spacesMax || distance < next[next.count - 1].distance,
        !next.contains(where: { $0.space == space })
      else { continue }
      next.insert((distance, space), at: next.firstIndex { distance < $0.distance } ?? next.count)
      if next.count > Self.spacesMax { next.removeLast() }
    }
  }

  /// The rosters of this round, each with the cursor from which to scan it.
  var rosters: [(space: SpaceID, cursor: String)] {
    next.map { _, space in (space, unfinished?.space == space ? unfinished?.cursor ?? "0" : "0") }
  }

  /// Ends the round.
  /// - Parameter cursors: where the scan of each roster has come to; `0` at its end. The walk goes on at the first roster
  ///   that is not at its end.
  mutating func finish(_ cursors: [String]) {
    unfinished = nil
    for ((_, space), cursor) in zip(next, cursors) {
      place = Self.hash(space)
      if cursor != "0" {
        unfinished = (space, cursor)
        break
      }
      place &+= 1
    }
  }

  /// FNV-1a, which gives the same in every process, unlike Swift's hashing.
  private static func hash(_ space: SpaceID) -> UInt64 {
    space.key.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }
}
