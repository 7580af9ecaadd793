internal import BelfryLoop
package import BelfryModel
package import BelfryStore

/// Lets a bounded number of scans run at a time, and of one account fewer still. The others wait, and the accounts
/// that wait take turns: one that asks for thirty pages at once waits behind itself, and whoever asks for one is next
/// after at most one scan of each other account.
///
/// What waits is a closure and not a task: a consumer that has yet to begin its catch-up costs a few words here,
/// where a task, suspended deep inside of it, keeps twelve kilobytes. With ten thousand that come back at once
/// that was most of the broker's memory, and the allocator did not give it back.
package final class FairQueue {
  /// - Returns: whether the place is taken, and will be left. Who is not interested any more passes it on.
  package typealias Entry = () -> Bool

  private var free: Int
  private let placesPerAccount: Int
  /// How many places each account has; who has none is not in it.
  private var taken: [AccountID: Int] = [:]
  private var coming = Lines()
  private var returning = Lines()
  private var isReturningNext = true

  package init(places: Int, perAccount placesPerAccount: Int) {
    free = places
    self.placesPerAccount = placesPerAccount
  }

  package func pass<Value>(
    as account: AccountID, _ work: () async throws(StoreError) -> Value
  ) async throws(StoreError) -> Value {
    await withCheckedContinuation { continuation in enter(as: account) { continuation.take() } }
    defer { leave(as: account) }
    return try await work()
  }

  /// Calls `entry` when it is its turn, perhaps at once. Who takes the place calls ``leave(as:)`` in the end.
  package func enter(as account: AccountID, _ entry: @escaping Entry) {
    enter(as: account, entry, orWaitIn: \.coming)
  }

  private func enter(
    as account: AccountID, _ entry: @escaping Entry,
    orWaitIn lines: ReferenceWritableKeyPath<FairQueue, Lines>
  ) {
    // Looked at in here, after whatever led here: between an outer look and this one a place may become free.
    guard free > 0, !isFull(account) else {
      return self[keyPath: lines].append(entry, of: account)
    }
    begin(entry, as: account)
  }

  package func leave(as account: AccountID) {
    giveBack(account)
    while free > 0, let (account, entry) = next() { begin(entry, as: account) }
  }

  /// For a wait that needs no place and may be long, by somebody who has one: others get it meanwhile.
  package func stepOut(as account: AccountID, _ wait: () async -> Void) async {
    leave(as: account)
    await wait()
    await withCheckedContinuation { continuation in
      enter(as: account, { continuation.take() }, orWaitIn: \.returning)
    }
  }

  private func isFull(_ account: AccountID) -> Bool { taken[account, default: 0] >= placesPerAccount }

  /// The place is taken first: what begins may be over, and have left, before it is known to have begun.
  private func begin(_ entry: Entry, as account: AccountID) {
    free -= 1
    taken[account, default: 0] += 1
    if !entry() { giveBack(account) }
  }

  private func giveBack(_ account: AccountID) {
    free += 1
    taken[account] = taken[account].flatMap { $0 > 1 ? $0 - 1 : nil }
    coming.resume(account)
    returning.resume(account)
  }

  /// By turns: those who return hold more memory than those who come, who would wait for ever if they always
  /// went first.
  private func next() -> (AccountID, Entry)? {
    isReturningNext.toggle()
    return isReturningNext
      ? returning.popFirst(unless: isFull) ?? coming.popFirst(unless: isFull)
      : coming.popFirst(unless: isFull) ?? returning.popFirst(unless: isFull)
  }
}

/// What waits, of each account in the order in which it came, and the accounts in the order of their turns.
private struct Lines {
  private var waiting: [AccountID: Queue<FairQueue.Entry>] = [:]
  private var turns = Queue<AccountID>()
  /// Those that wait and have no turn, since they have all their places.
  private var resting: Set<AccountID> = []

  mutating func append(_ entry: @escaping FairQueue.Entry, of account: AccountID) {
    if waiting[account] == nil { turns.append(account) }
    waiting[account, default: Queue()].append(entry)
  }

  mutating func popFirst(unless isFull: (AccountID) -> Bool) -> (AccountID, FairQueue.Entry)? {
    while let account = turns.popFirst() {
      if isFull(account) {
        resting.insert(account)
        continue
      }
      guard let entry = waiting[account]?.popFirst() else { continue }
      if waiting[account]?.isEmpty == true { waiting[account] = nil } else { turns.append(account) }
      return (account, entry)
    }
    return nil
  }

  /// The account has a place again.
  mutating func resume(_ account: AccountID) {
    if resting.remove(account) != nil { turns.append(account) }
  }
}

extension CheckedContinuation<Void, Never> {
  fileprivate func take() -> Bool {
    resume()
    return true
  }
}
