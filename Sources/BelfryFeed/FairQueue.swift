internal import BelfryLoop
package import BelfryModel

/// Lets a bounded number of scans run at a time, and fewer still of one account. Other scans wait, and the accounts
/// that have scans waiting take turns. An account that asks for thirty pages at once waits behind itself; an account
/// that asks for one page waits for at most one scan of each other account.
///
/// A waiting scan is a closure and not a task. The closure of a consumer that waits for its catch-up takes a few
/// words; a task suspended inside of the catch-up would keep twelve kilobytes. When ten thousand consumers came back
/// at once, such tasks were most of the broker's memory, and the allocator did not give it back.
package final class FairQueue {
  /// - Returns: true if the entry takes the place, and will call ``leave(as:)``; false if it needs no place any more.
  package typealias Entry = () -> Bool

  private var free: Int
  private let placesPerAccount: Int
  /// How many places each account has taken; accounts without one are left out.
  private var taken: [AccountID: Int] = [:]
  private var coming = FairLines<AccountID, Entry>()
  private var returning = FairLines<AccountID, Entry>()
  private var isReturningNext = true

  package init(places: Int, perAccount placesPerAccount: Int) {
    free = places
    self.placesPerAccount = placesPerAccount
  }

  package func pass<Value, Failure: Error>(
    as account: AccountID, _ work: () async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    await withCheckedContinuation { continuation in enter(as: account) { continuation.take() } }
    defer { leave(as: account) }
    return try await work()
  }

  /// Calls `entry` when its turn comes, perhaps at once. An entry that takes the place calls ``leave(as:)`` in the
  /// end.
  package func enter(as account: AccountID, _ entry: @escaping Entry) {
    enter(as: account, entry, orWaitIn: \.coming)
  }

  private func enter(
    as account: AccountID, _ entry: @escaping Entry,
    orWaitIn lines: ReferenceWritableKeyPath<FairQueue, FairLines<AccountID, Entry>>
  ) {
    // Checked here and not by the caller: a place may become free between a check outside and this point.
    guard free > 0, !isFull(account) else {
      return self[keyPath: lines].append(entry, to: account)
    }
    begin(entry, as: account)
  }

  package func leave(as account: AccountID) {
    giveBack(account)
    while free > 0, let (account, entry) = next() { begin(entry, as: account) }
  }

  /// Gives the place to others during a wait that may be long and needs no place, and takes one again afterwards.
  package func stepOut(as account: AccountID, _ wait: () async -> Void) async {
    leave(as: account)
    await wait()
    await withCheckedContinuation { continuation in
      enter(as: account, { continuation.take() }, orWaitIn: \.returning)
    }
  }

  private func isFull(_ account: AccountID) -> Bool { taken[account, default: 0] >= placesPerAccount }

  /// The place is counted before the entry is called, since the entry may already have called ``leave(as:)`` when it
  /// returns.
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

  /// Alternates between returning and coming entries. Returning ones hold more memory, but if they always went first,
  /// the coming ones might wait for ever.
  private func next() -> (AccountID, Entry)? {
    isReturningNext.toggle()
    return isReturningNext
      ? returning.popFirst(unless: isFull) ?? coming.popFirst(unless: isFull)
      : coming.popFirst(unless: isFull) ?? returning.popFirst(unless: isFull)
  }
}

extension CheckedContinuation<Void, Never> {
  fileprivate func take() -> Bool {
    resume()
    return true
  }
}
