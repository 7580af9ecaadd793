import BelfryModel
import BelfryStore

/// Stretches of shared logs that a reader has fetched although most of their entries were for others: who each entry is for,
/// without its text. The readers after it pass what is not for them without fetching it.
///
/// The members of a large server who are not subscribed see nothing of most of its log. If each of them fetched the log, one
/// page would cost as much as a hundred.
///
/// An entry's audience never changes, and entries are added only at the end of a log. So what a stretch says stays true, whether or
/// not the log goes on, until its partition loses entries: then others may come in their place.
package final class HiddenStretches {
  /// Entries; one for many named accounts counts as several.
  static let weightMax = 65_536
  static let weightPerSpaceMax = 32_768
  /// A stretch that others use stays while one reader goes through all that follows it in a long log.
  static let missesMax = 256

  struct Entry {
    var id: MessageID
    /// The notification that the entry is or updates.
    var notificationID: MessageID
    var audience: Audience

    init(_ entry: LogEntry) {
      (id, notificationID, audience) = (entry.id, entry.notificationID, entry.audience)
    }

    var weight: Int { 1 + (audience.named.count + audience.except.count) / 4 }
  }

  private struct Stretch {
    let era: LogEra
    /// All entries after the one and through the other are known.
    var after: MessageID
    var through: MessageID
    var entries: [Entry]
    var weight: Int
    /// How often a reader has since fetched something further on.
    var missCount = 0

    init(_ entries: [LogEntry], of request: LogRequest, lostThrough: MessageID, in era: LogEra) {
      self.era = era
      let after = max(request.after, lostThrough)
      through = request.reach(of: entries)
      self.after = after
      self.entries = entries.lazy.filter { $0.id > after }.map { Entry($0) }
      weight = self.entries.reduce(1) { $0 + $1.weight }
    }

    func firstIndex(after id: MessageID) -> Int {
      var (low, high) = (0, entries.count)
      while low < high {
        let middle = (low + high) / 2
        if entries[middle].id > id { high = middle } else { low = middle + 1 }
      }
      return low
    }

    /// True if nothing is missing between the two.
    func touches(_ other: Stretch) -> Bool {
      era == other.era && after <= other.through && other.after <= through
    }

    /// Takes in another stretch, which touches this one.
    mutating func join(_ other: Stretch) {
      if other.after < after {
        let before = other.entries.prefix { $0.id <= after }
        entries.insert(contentsOf: before, at: 0)
        weight += before.reduce(0) { $0 + $1.weight }
        after = other.after
      }
      if other.through > through {
        let next = other.entries[other.firstIndex(after: through)...]
        entries += next
        weight += next.reduce(0) { $0 + $1.weight }
        through = other.through
      }
    }
  }

  private var stretches: [SpaceID: Stretch] = [:]
  private var weight = 0

  package init() {}

  /// Keeps what a reader fetched in answer to a request.
  /// - Parameters:
  ///   - lostThrough: all up to this id was trimmed, as of a moment after the entries were fetched. Nothing is known of that part:
  ///     a reader who passed it here would not notice that it missed what was trimmed.
  ///   - era: the log's, before the entries were fetched and afterwards.
  func keepStretch(_ entries: [LogEntry], of request: LogRequest, lostThrough: MessageID, in era: LogEra) {
    // Nobody else reads what is one account's own.
    switch request.space.kind {
    case .account, .direct: return
    case .server, .group, .room: break
    }
    let fresh = Stretch(entries, of: request, lostThrough: lostThrough, in: era)
    guard fresh.after < fresh.through, fresh.weight <= Self.weightPerSpaceMax else { return }
    // Taken out, so that a long stretch is extended in place. One that has its full length stays as it is.
    let known = stretches[request.space]?.weight ?? 0
    var kept = stretches.removeValue(forKey: request.space) ?? fresh
    weight -= known
    if !kept.touches(fresh) {
      kept.missCount += 1
      if kept.era != fresh.era || fresh.after < kept.after || kept.missCount > Self.missesMax { kept = fresh }
    } else if kept.weight + fresh.weight <= Self.weightPerSpaceMax {
      kept.join(fresh)
    }
    if weight + kept.weight > Self.weightMax { (stretches, weight) = ([:], 0) }
    stretches[request.space] = kept
    weight += kept.weight
  }

  /// The place at which a reader of a log goes on, who passes what is known not to be for it. The last such entry is left to the
  /// reader: by fetching that one, its cursor passes all of them.
  /// - Parameters:
  ///   - era: the log's when the reader's stretch of it was bounded.
  ///   - isForReader: says of an entry, by the id of the notification and by its audience, if it may be for the reader.
  func placePastHidden(
    after place: MessageID, through last: MessageID, in space: SpaceID, _ era: LogEra,
    isForReader: (MessageID, Audience) -> Bool
  ) -> MessageID {
    guard let stretch = stretches[space], stretch.era == era, stretch.after <= place, place < stretch.through
    else {
      return place
    }
    let first = stretch.firstIndex(after: place)
    var end = first
    while end < stretch.entries.count {
      let entry = stretch.entries[end]
      if entry.id > last || isForReader(entry.notificationID, entry.audience) { break }
      end += 1
    }
    guard end - first >= 2 else { return place }
    stretches[space]?.missCount = 0
    return stretch.entries[end - 2].id
  }
}

/// Changes when a log may have lost entries, or be on another node.
struct LogEra: Sendable, Hashable {
  let history: String
  let present: String
  let lastRewind: Rewind?
}

extension LogEra {
  init(_ end: LogEnd) {
    self.init(history: end.history, present: end.present, lastRewind: end.rewinds.last)
  }
}

extension FeedScan.Log {
  /// True if the entry was for the account when it was sent. Nothing else can show it to the account.
  func wasSent(to account: AccountID, _ id: MessageID, _ audience: Audience) -> Bool {
    Visibility.asSent(id, audience, for: account, membership: membership, retentionFloor: .zero).isVisible
  }

  /// True if more than half of these entries, which were fetched together, are for others.
  /// - Parameter limit: the number that was asked for. A reader of small pages never gets many at once.
  func isMostlyHidden(_ entries: [LogEntry], upTo limit: Int, from account: AccountID) -> Bool {
    guard entries.count >= min(Self.judgedAtLeast, limit) else { return false }
    var left = (entries.count - 1) / 2
    for entry in entries where wasSent(to: account, entry.notificationID, entry.audience) {
      if left == 0 { return false }
      left -= 1
    }
    return true
  }

  /// Fewer entries say little about those that follow.
  private static let judgedAtLeast = 16
}
