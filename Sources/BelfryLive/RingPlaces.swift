import BelfryModel

/// Up to where somebody has looked at the rings of an account's spaces.
struct RingPlaces {
  private let start: UInt64
  private var places: [SpaceID: UInt64] = [:]

  /// - Parameter sequence: the loop's sequence number up to which all that arrived is known already.
  init(after sequence: UInt64) { start = sequence }

  /// The items that have arrived since the last look, also those for others; nil if some that may be for the account are
  /// forgotten.
  mutating func take(from follower: SpaceFollower) -> ArraySlice<RingItem>? {
    let space = follower.active.space
    let items = follower.items(after: max(places[space] ?? start, follower.since))
    if let last = items?.last { places[space] = last.sequence }
    return items
  }
}
