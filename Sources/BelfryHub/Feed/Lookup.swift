package import BelfryModel
import BelfryStore

/// An entry, and the space whose log holds it.
package struct LocatedEntry: Sendable, Hashable {
  package var space: SpaceID
  package var entry: LogEntry
}

// An id names its partition, not its space. Among an account's own spaces few share a partition, so
// asking each of those is one round trip.
extension Hub {
  /// Spaces asked for one id in one round trip, when all of a partition's have to be asked.
  private static let spacesPerRound = 500

  /// Finds the entry with this id: first where the account is, then in the whole partition, since whoever
  /// sends to one account's own space is not in it.
  package func find(_ id: MessageID, for account: AccountID?) async throws(Refusal) -> LocatedEntry {
    do throws(StoreError) {
      var tried: Set<SpaceID> = []
      if let account {
        let own = try await FeedSnapshot.take(of: account, from: store).view.spaces(in: id.partition)
        if let found = try await locate([id], in: [id.partition: own]).first { return found }
        tried = Set(own)
      }
      let others = try await store.spaces(in: id.partition).filter { !tried.contains($0) }
      for start in stride(from: 0, to: others.count, by: Self.spacesPerRound) {
        let some = Array(others[start..<min(start + Self.spacesPerRound, others.count)])
        if let found = try await locate([id], in: [id.partition: some]).first { return found }
      }
    } catch {
      throw error.refusal
    }
    throw Refusal(.notFound, "there is no notification \(id)", field: "messageServerId")
  }

  /// The entries with these ids, as far as they are in the spaces given for their partitions.
  func locate(
    _ ids: [MessageID], in spaces: [Partition: [SpaceID]]
  ) async throws(StoreError) -> [LocatedEntry] {
    let requests = ids.flatMap { id in
      (spaces[id.partition] ?? []).map { LogRequest($0, after: id.predecessor, through: id, limit: 1) }
    }
    guard !requests.isEmpty else { return [] }
    return zip(requests, try await store.entries(requests)).flatMap { request, entries in
      entries.map { LocatedEntry(space: request.space, entry: $0) }
    }
  }
}
