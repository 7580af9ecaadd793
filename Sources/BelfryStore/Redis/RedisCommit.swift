package import BelfryModel
import BelfryRedis

extension RedisStore {
  package func commit(_ transactions: [Transaction]) async -> [CommitResult] {
    if transactions.isEmpty { return [] }
    return await withCheckedContinuation { commits.add(CommitRequest(transactions, $0)) }
  }
}

/// Transactions that somebody waits for, and what has become of them so far.
final class CommitRequest {
  /// One of them.
  struct Place {
    let request: CommitRequest
    let index: Int

    var transaction: Transaction { request.transactions[index] }
    func finish(_ result: CommitResult) { request.finish(index, result) }
  }

  let transactions: [Transaction]
  private var results: [CommitResult?]
  private var missing: Int
  private let waiter: CheckedContinuation<[CommitResult], Never>

  init(_ transactions: [Transaction], _ waiter: CheckedContinuation<[CommitResult], Never>) {
    self.transactions = transactions
    self.waiter = waiter
    results = Array(repeating: nil, count: transactions.count)
    missing = transactions.count
  }

  /// Each once.
  private func finish(_ index: Int, _ result: CommitResult) {
    results[index] = result
    missing -= 1
    if missing == 0 { waiter.resume(returning: results.compactMap(\.self)) }
  }
}

extension CommitOutcome {
  /// Reads a line of the answer of `commit`; nil when it is none.
  init?(_ line: ArraySlice<UInt8>, of transaction: Transaction) {
    let words = line.split(separator: UInt8(ascii: " "))
    guard let first = words.first else { return nil }
    switch String(decoding: first, as: UTF8.self) {
    case "committed":
      var ids: [MessageID] = []
      for word in words.dropFirst() {
        guard let id = MessageID(streamBytes: word) else { return nil }
        ids.append(id)
      }
      guard ids.count == transaction.announcements.count + 1 else { return nil }
      let before = ids.removeFirst()
      self = .committed(Commit(ids: ids, before: before))
    case "duplicate":
      guard words.count == 2, let id = MessageID(streamBytes: words[1]) else { return nil }
      self = .duplicate(of: id)
    case "different": self = .differentContent
    case "conflict": self = .conflict
    case "ceiling":
      let name = words.last.map { String(decoding: $0, as: UTF8.self) }
      guard let table = transaction.ceilings.keys.first(where: { $0.name == name }) else { return nil }
      self = .ceiling(table)
    default: return nil
    }
  }
}
