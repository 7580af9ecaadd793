import BelfryFeed
import BelfryModel
import BelfryStore

/// The read entries of an account, as far as its session knows them.
///
/// An account may have marked tens of thousands of entries one by one, so a session does not keep them in memory. It keeps the
/// marks that it heard. These suffice for entries that arrive now, since an entry arrives before it is marked. An update or a
/// recall may be about an entry from long before. If the session has not heard a mark of it, it has to ask the store.
struct SessionMarks {
  /// Watermarks, and in `above` the marks that are known here.
  private(set) var state: ReadState
  /// One id of each partition. The marks of later entries were all heard, and are in `state`. An array takes a quarter of the
  /// memory of a dictionary.
  private var heardAfter: [MessageID]
  /// Entries that were not marked when the store was asked. A mark that comes later is heard, and removes them from here.
  private var unmarked: Set<MessageID> = []
  /// The store's history in which the marks were heard.
  private var history: String
  /// Counts how often marks were forgotten or may have been missed. An answer to an earlier question then says nothing.
  private(set) var generation = 0

  /// So many ids are kept of each kind: some hundred kilobytes for an account that marks without end.
  static let idsLimit = 4_096

  init(_ snapshot: FeedSnapshot) {
    state = snapshot.view.read
    heardAfter = Self.bounds(of: snapshot)
    history = snapshot.history
  }

  /// Goes on from a later snapshot. Marks may have been missed while live messages were lost. Those that are known stay
  /// known, since a mark is never taken back. A store that begins another history may have lost some of them, and has those
  /// entries shown again.
  mutating func renewMarks(from snapshot: FeedSnapshot) {
    let known = snapshot.history == history ? state.above : []
    history = snapshot.history
    state = snapshot.view.read
    state.mark(known)
    heardAfter = Self.bounds(of: snapshot)
    unmarked = []
    generation += 1
  }

  /// A mark may arrive after a snapshot that has it. The index may have learned of a space again between the two. Then that
  /// space lags, although the mark says that it does not: entries that nobody was shown would count as read.
  mutating func apply(_ echo: ReadEcho, _ partitions: Partitions) {
    var news = echo
    if isOutdated(echo) { news.caughtUp = [] }
    state.apply(news, partitions)
    if !unmarked.isEmpty { unmarked.subtract(echo.marked) }
    forgetOldest()
  }

  /// True if the snapshot has more than the mark: another mark, or a space that the index has learned of since.
  func isOutdated(_ echo: ReadEcho) -> Bool { echo.version + 1 < state.version }

  /// True if only the store knows whether the entry is marked.
  func mustAsk(about id: MessageID, in space: SpaceID) -> Bool {
    if !state.hasUnknownMarks || state.contains(id, in: space) || unmarked.contains(id) { return false }
    return heardAfter.lazy.filter { $0.partition == id.partition }.max().map { id <= $0 } ?? true
  }

  /// Zero says nothing of the partition that it seems to name.
  private static func bounds(of snapshot: FeedSnapshot) -> [MessageID] {
    snapshot.lastIDs.values.filter { $0 > .zero }
  }

  /// Takes in the store's answer to a question of this generation.
  mutating func applyAnswer(_ answer: ReadState, about id: MessageID, in space: SpaceID) {
    if answer.contains(id, in: space) {
      state.above.insert(id)
      forgetOldest()
    } else if !state.contains(id, in: space) {
      // Otherwise the mark was heard while the store was asked.
      if unmarked.count >= Self.idsLimit { unmarked.removeAll() }
      unmarked.insert(id)
    }
  }

  /// Forgets the half with the smaller ids, so that sorting costs each mark little. The store still has them.
  private mutating func forgetOldest() {
    guard state.above.count > Self.idsLimit else { return }
    let ids = state.above.sorted()
    let forgotten = ids.dropLast(Self.idsLimit / 2)
    state.above = Set(ids.suffix(Self.idsLimit / 2))
    state.hasUnknownMarks = true
    for place in heardAfter.indices {
      let last = forgotten.last { $0.partition == heardAfter[place].partition }
      heardAfter[place] = max(heardAfter[place], last ?? .zero)
    }
    generation += 1
  }
}
