package import BelfryModel
package import BelfryStore

/// Stretches of shared logs that earlier counts have read: of each entry its audience, its type and if it counts in badges,
/// without its text. A broadcast that is pushed to all members of a server counts the same entries for each.
///
/// A stretch is good for as long as its log has the same last entry: updates and recalls are appended, too.
package final class RecentStretches {
  /// Entries; one for many named accounts counts as several.
  static let weightMax = 16_384

  private struct Stretch {
    /// The log's last entry.
    var end: MessageID
    /// All entries after the one and through the other are known.
    var after: MessageID
    var through: MessageID
    var entries: [LogEntry]

    /// Nil if some of the answer is not known.
    func answer(_ request: LogRequest) -> [LogEntry]? {
      guard end == request.through, after <= request.after, request.after <= through else { return nil }
      let known = entries.drop { $0.id <= request.after }
      guard through == end || known.count >= request.limit else { return nil }
      return Array(known.prefix(request.limit))
    }

    /// Both in one, if nothing is missing in between.
    func joined(with other: Stretch) -> Stretch? {
      guard end == other.end, after <= other.through, other.after <= through else { return nil }
      let before = entries.prefix { $0.id <= other.after }
      return Stretch(
        end: end, after: min(after, other.after), through: max(through, other.through),
        entries: before + other.entries + entries.drop { $0.id <= other.through })
    }
  }

  private var stretches: [SpaceID: Stretch] = [:]
  private var weight = 0
  private var history = ""

  package init() {}

  /// - Parameters:
  ///   - history: the store's; what was read in another one is forgotten.
  ///   - read: from the store, what is not known.
  package func entries(
    _ requests: [LogRequest], history now: String,
    read: ([LogRequest]) async throws(StoreError) -> [[LogEntry]]
  ) async throws(StoreError) -> [[LogEntry]] {
    if history != now { (history, stretches, weight) = (now, [:], 0) }
    var answers = requests.map { stretches[$0.space]?.answer($0) }
    let missing = requests.indices.filter { answers[$0] == nil }
    if !missing.isEmpty {
      let found = try await read(missing.map { requests[$0] })
      for (index, entries) in zip(missing, found) {
        answers[index] = entries
        if now == history { keep(entries, requests[index]) }
      }
    }
    return answers.map { $0 ?? [] }
  }

  private func keep(_ entries: [LogEntry], _ request: LogRequest) {
    // Nobody else counts what is one account's own.
    switch request.space.kind {
    case .account, .direct: return
    case .server, .group, .room: break
    }
    let fresh = Stretch(
      end: request.through, after: request.after, through: request.reach(of: entries),
      entries: entries.map(\.forCounting))
    let known = stretches.removeValue(forKey: request.space)
    if let known {
      // The known stretch ends later, so it is kept. The fresh one comes from a count that began before.
      if known.end > fresh.end { return stretches[request.space] = known }
      weight -= Self.weight(known)
    }
    var kept = known?.joined(with: fresh) ?? fresh
    if Self.weight(kept) > Self.weightMax / 4 { kept = fresh }
    guard Self.weight(kept) <= Self.weightMax / 4 else { return }
    if weight + Self.weight(kept) > Self.weightMax { (stretches, weight) = ([:], 0) }
    weight += Self.weight(kept)
    stretches[request.space] = kept
  }

  private static func weight(_ stretch: Stretch) -> Int {
    stretch.entries.reduce(1) { $0 + 1 + $1.audience.named.count / 4 }
  }
}
