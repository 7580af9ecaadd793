package import BelfryModel
import BelfryStore

/// An entry, and the space whose log holds it.
package struct LocatedEntry: Sendable, Hashable {
  package var space: SpaceID
  package var entry: LogEntry
}

/// How an account pays for a search through the logs of others, which anybody can ask for with any id.
package struct SearchPayment {
  /// Throws a refusal if the account is in debt.
  let check: () throws(Refusal) -> Void
  /// Takes what the search cost, by the number of logs that were read.
  let pay: (Int) -> Void

  package init(check: @escaping () throws(Refusal) -> Void, pay: @escaping (Int) -> Void) {
    self.check = check
    self.pay = pay
  }
}

// An id names its partition, not its space. Few of an account's spaces share a partition, so all of these are asked
// in one round trip. An id from before the keyspace grew may be in one of several partitions.
extension FeedReader {
  /// Entries of a stretch that are fetched for each wanted one. The others in between are not for the account, or are
  /// marked read.
  private static let entriesPerWanted = 2

  /// Finds the entry with this id: first in the account's spaces, then in all spaces to which something was appended
  /// at that time. A sender looks for what it sent to another account's personal space, to which it does not belong.
  /// - Parameter payment: what the second search costs the account; nil: nothing.
  /// - Throws: `notFound` if there is none, and what the payment throws.
  package func find(
    _ id: MessageID, for account: AccountID?, paying payment: SearchPayment? = nil
  ) async throws(Refusal) -> LocatedEntry {
    do throws(StoreError) {
      if let account {
        let known = try await store.index(of: account).map { $0.space } + [.personal(account)]
        if let found = try await locate([id], in: known).first { return found }
      }
    } catch {
      throw error.refusal
    }
    let space = try await search(for: id, as: account, payment)
    do throws(StoreError) {
      if let space, let found = try await locate([id], in: [space]).first { return found }
    } catch {
      throw error.refusal
    }
    throw .noNotification(id)
  }

  /// The searches of an account that pays take turns, as its scans do. Otherwise it could begin as many as it has requests
  /// under way before the first of them is paid for.
  private func search(
    for id: MessageID, as account: AccountID?, _ payment: SearchPayment?
  ) async throws(Refusal) -> SpaceID? {
    let search = { [store] () async throws(Refusal) -> SpaceID? in
      try payment?.check()
      do throws(StoreError) {
        let found = try await store.search(for: id)
        payment?.pay(found.logsRead)
        return found.space
      } catch {
        throw error.refusal
      }
    }
    guard let account, payment != nil else { return try await search() }
    return try await scans.pass(as: account, search)
  }

  /// The entries with these ids, as far as they are in these spaces.
  ///
  /// - Parameter ids: ascending. Entries that are marked together were shown together and lie close together, so each
  ///   log is asked for one stretch. Ids that lie beyond a stretch full of other entries are asked for one by one.
  func locate(
    _ ids: [MessageID], in spaces: [SpaceID]
  ) async throws(StoreError) -> [LocatedEntry] {
    var wanted: [Partition: [MessageID]] = [:]
    for partition in Set(ids.flatMap { store.partitions.holding($0) }) {
      wanted[partition] = ids.filter { store.partitions.may(partition, hold: $0) }
    }
    var stretches: [LogRequest] = []
    for space in spaces {
      guard let ids = wanted[store.partitions.holding(space)], let first = ids.first, let last = ids.last
      else { continue }
      let limit = first == last ? 1 : Self.entriesPerWanted * ids.count
      stretches.append(LogRequest(space, after: first.predecessor, through: last, limit: limit))
    }
    var located: [LocatedEntry] = []
    var singles: [LogRequest] = []
    let all = Set(ids)
    for (request, entries) in zip(stretches, try await store.entries(stretches)) {
      for entry in entries where all.contains(entry.id) && entry.updates == nil {
        located.append(LocatedEntry(space: request.space, entry: entry))
      }
      guard entries.count == request.limit, let last = entries.last?.id else { continue }
      for id in wanted[store.partitions.holding(request.space)] ?? [] where id > last {
        singles.append(LogRequest(request.space, after: id.predecessor, through: id, limit: 1))
      }
    }
    for (request, entries) in zip(singles, try await store.entries(singles)) {
      for entry in entries where entry.updates == nil {
        located.append(LocatedEntry(space: request.space, entry: entry))
      }
    }
    return located
  }
}
