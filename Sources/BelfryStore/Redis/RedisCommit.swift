import BelfryBytes
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

    // Not the transaction as a whole, which is a dozen references to copy.
    var space: SpaceID { request.transactions[index].space }
    var echo: DeviceEcho? { request.transactions[index].echo }
    var description: String { "commit \(request.transactions[index].space)" }

    /// Nil if it is something else.
    var plainSend: PlainSend? { request.plainSends[index] }

    func add(to call: inout CommitCall) throws(StoreError) { try call.add(request.transactions[index]) }
    func outcome(_ line: ArraySlice<UInt8>) -> CommitOutcome? {
      CommitOutcome(line, of: request.transactions[index])
    }
    func finish(_ result: CommitResult) { request.finish(index, result) }
  }

  let transactions: [Transaction]
  fileprivate let plainSends: [PlainSend?]
  private var results: [CommitResult?]
  private var missing: Int
  private let waiter: CheckedContinuation<[CommitResult], Never>

  init(_ transactions: [Transaction], _ waiter: CheckedContinuation<[CommitResult], Never>) {
    self.transactions = transactions
    plainSends = transactions.map(PlainSend.init)
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
    if let outcome = CommitOutcome(line) {
      self = outcome
      return
    }
    var words = Words(rest: line)
    switch words.next().map({ String(decoding: $0, as: UTF8.self) }) {
    case "committed":
      guard let before = words.next().flatMap({ MessageID(streamBytes: $0) }) else { return nil }
      var (ids, appendedAt): ([MessageID], Int64?) = ([], nil)
      while let word = words.next() {
        if word.first == UInt8(ascii: "@"), let time = Int64(digits: word.dropFirst()) {
          appendedAt = time
        } else if let id = MessageID(streamBytes: word) {
          ids.append(id)
        } else {
          return nil
        }
      }
      guard ids.count == transaction.announcements.count else { return nil }
      self = .committed(Commit(ids: ids, before: before, appendedAt: appendedAt))
    case "ceiling":
      let name = words.next().map { String(decoding: $0, as: UTF8.self) }
      guard let table = transaction.ceilings.keys.first(where: { $0.name == name }) else { return nil }
      self = .ceiling(table)
    default: return nil
    }
  }

  /// Those that say why nothing was done, but for a ceiling.
  init?(_ line: ArraySlice<UInt8>) {
    var words = Words(rest: line)
    switch words.next().map({ String(decoding: $0, as: UTF8.self) }) {
    case "duplicate":
      guard let id = words.next().flatMap({ MessageID(streamBytes: $0) }) else { return nil }
      self = .duplicate(of: id, appendedAt: words.next().flatMap { Int64(digits: $0) })
    case "different": self = .differentContent
    case "conflict": self = .conflict
    case "full": self = .mailboxFull
    default: return nil
    }
  }
}

/// The words of a line, or the lines of an answer, one by one.
struct Words {
  var rest: ArraySlice<UInt8>
  var separator = UInt8(ascii: " ")

  mutating func next() -> ArraySlice<UInt8>? {
    rest.isEmpty ? nil : rest.take(before: separator)
  }
}
