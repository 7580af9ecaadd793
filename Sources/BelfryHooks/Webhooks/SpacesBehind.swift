import BelfryModel
import BelfryStore
import BelfrySystem

/// The lane's knowledge of spaces that are behind. There may be thousands, so it knows only how many there are, and the
/// copies that wait of those that it works on.
struct SpacesBehind {
  /// With more spaces than this, the lane continues with spaces that are not behind, and stops at the first copy that
  /// fails.
  static let countMax = 4_096

  private(set) var count: Int
  private var known: [SpaceID: HeldCopies] = [:]
  private var changed: Set<SpaceID> = []
  /// When the next space is due, as far as it is known, in milliseconds since 1970.
  private var nextAtMilliseconds: Int64?

  init(count: Int = 0) { self.count = count }

  var hasRoom: Bool { count < Self.countMax }

  /// Meaningful only while some spaces are behind.
  var nextLook: ContinuousClock.Instant {
    .now + .milliseconds(max((nextAtMilliseconds ?? 0) - WallClock.nowMilliseconds(), 0))
  }

  /// The changes that are not saved yet.
  var unsaved: [SpaceID: HeldCopies] { known.filter { changed.contains($0.key) } }

  /// Replaces the known spaces by those that the store returned.
  mutating func take(_ held: [SpaceID: HeldCopies]) {
    known = held
    changed = []
  }

  /// Replaces the known spaces by those that are due.
  mutating func take(_ due: DueCopies) {
    take(Dictionary(due.spaces.map { ($0.space, $0.held) }) { $1 })
    nextAtMilliseconds = due.nextAtMilliseconds
  }

  func holds(_ space: SpaceID) -> Bool { known[space]?.first != nil }

  /// Puts a copy behind the others of its space.
  mutating func hold(_ copy: EntryCopy) {
    known[copy.space]?.hold(copy.id)
    changed.insert(copy.space)
  }

  /// - Parameter held: the copies that wait now. Without any, the space is no longer behind.
  mutating func put(_ held: HeldCopies, of space: SpaceID) {
    let isBehind = held.first != nil
    if isBehind != holds(space) { count += isBehind ? 1 : -1 }
    known[space] = held
    changed.insert(space)
    if isBehind, let due = held.dueAtMilliseconds { nextAtMilliseconds = min(nextAtMilliseconds ?? due, due) }
  }

  mutating func noteSaved() {
    changed = []
    known = known.filter { $0.value.first != nil }
  }
}
