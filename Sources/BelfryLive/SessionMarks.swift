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
  /// Counts how often marks were forgotten or may have been missed. An answer to an earlier question then says nothing.
  private(set) var generation: UInt32 = 0
  private var unknown: UnknownMarks
  /// The store's history in which the marks were heard.
  private var history: String

  /// So many ids are kept of each kind: some hundred kilobytes for an account that marks without end.
  static let idsLimit = 4_096

  init(_ snapshot: FeedSnapshot) {
    state = snapshot.view.read
    unknown = UnknownMarks(in: snapshot)
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
    unknown = UnknownMarks(in: snapshot)
    generation &+= 1
  }

  /// A mark may arrive after a snapshot that has it. The index may have learned of a space again between the two. Then that
  /// space lags, although the mark says that it does not: entries that nobody was shown would count as read.
  mutating func apply(_ echo: ReadEcho, _ partitions: Partitions) {
    var news = echo
    if isOutdated(echo) { news.caughtUp = [] }
    state.apply(news, partitions)
    unknown.hear(echo)
    forgetOldest()
  }

  /// True if the snapshot has more than the mark: another mark, or a space that the index has learned of since.
  func isOutdated(_ echo: ReadEcho) -> Bool { echo.version + 1 < state.version }

  /// True if only the store knows whether the entry is marked.
  func mustAsk(about id: MessageID, in space: SpaceID) -> Bool {
    unknown.mayHave(id) && !state.contains(id, in: space)
  }

  /// Takes note that the store is asked about the entry.
  /// - Returns: false if it has been asked already.
  mutating func beginQuestion(about id: MessageID) -> Bool { unknown.beginQuestion(about: id) }

  mutating func endQuestion(about id: MessageID) { unknown.endQuestion(about: id) }

  /// Takes in the store's answer to a question of this generation.
  mutating func applyAnswer(_ answer: ReadState, about id: MessageID, in space: SpaceID) {
    if answer.contains(id, in: space) {
      state.above.insert(id)
      forgetOldest()
    } else if !state.contains(id, in: space) {
      // Otherwise the mark was heard while the store was asked.
      unknown.noteUnmarked(id)
    }
  }

  /// Forgets the half with the smaller ids, so that sorting costs each mark little. The store still has them.
  private mutating func forgetOldest() {
    guard state.above.count > Self.idsLimit else { return }
    let ids = state.above.sorted()
    state.above = Set(ids.suffix(Self.idsLimit / 2))
    state.hasUnknownMarks = true
    unknown.add(ids.dropLast(Self.idsLimit / 2))
    generation &+= 1
  }
}

/// The entries that may be marked without the session knowing it.
///
/// Nearly every account has only marks that its session knows. So the rest is allocated for the few others: there are as many
/// sessions as accounts with streams.
private indirect enum UnknownMarks {
  case none
  case some(Bounds)

  struct Bounds {
    /// One id of each partition that has unknown marks. The marks of later entries there were all heard.
    var heardAfter: [MessageID]
    /// True if the marks in all other partitions were heard.
    var isKnownElsewhere: Bool
    /// Entries that were not marked when the store was asked. A mark that comes later is heard, and removes them from here.
    var unmarked: Set<MessageID> = []
    /// The entries that the store is being asked about.
    var asked: Set<MessageID> = []
  }

  init(in snapshot: FeedSnapshot) {
    guard snapshot.view.read.hasUnknownMarks else {
      self = .none
      return
    }
    // Zero says nothing of the partition that it seems to name.
    let lastIDs = snapshot.lastIDs.values.filter { $0 > .zero }
    self = .some(Bounds(heardAfter: lastIDs, isKnownElsewhere: false))
  }

  /// True if the entry may have been marked without the session's knowledge.
  func mayHave(_ id: MessageID) -> Bool {
    guard case .some(let bounds) = self, !bounds.unmarked.contains(id) else { return false }
    let bound = bounds.heardAfter.lazy.filter { $0.partition == id.partition }.max()
    return bound.map { id <= $0 } ?? !bounds.isKnownElsewhere
  }

  mutating func hear(_ echo: ReadEcho) {
    change { if !$0.unmarked.isEmpty { $0.unmarked.subtract(echo.marked) } }
  }

  mutating func noteUnmarked(_ id: MessageID) {
    change {
      if $0.unmarked.count >= SessionMarks.idsLimit { $0.unmarked.removeAll() }
      $0.unmarked.insert(id)
    }
  }

  mutating func beginQuestion(about id: MessageID) -> Bool {
    var isNew = false
    change { isNew = $0.asked.insert(id).inserted }
    return isNew
  }

  mutating func endQuestion(about id: MessageID) { change { _ = $0.asked.remove(id) } }

  private mutating func change(_ body: (inout Bounds) -> Void) {
    guard case .some(var bounds) = self else { return }
    // Otherwise each change would copy the sets, which are still in here.
    self = .none
    body(&bounds)
    self = .some(bounds)
  }

  /// Adds marks that the session forgets; the ids ascend.
  mutating func add(_ forgotten: ArraySlice<MessageID>) {
    var bounds = Bounds(heardAfter: [], isKnownElsewhere: true)
    if case .some(let earlier) = self { bounds = earlier }
    for id in forgotten {
      if let place = bounds.heardAfter.firstIndex(where: { $0.partition == id.partition }) {
        bounds.heardAfter[place] = max(bounds.heardAfter[place], id)
      } else if bounds.isKnownElsewhere {
        bounds.heardAfter.append(id)
      }
    }
    self = .some(bounds)
  }
}
