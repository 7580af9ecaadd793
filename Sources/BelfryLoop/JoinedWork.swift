/// Work that several callers share. A run serves all callers that came before it began. So each caller gets a result that is
/// not older than its call, and many calls at once cost one or two runs.
///
/// For the loop's thread alone.
///
/// ```swift
/// let counts = JoinedWork<AccountID, Int>(in: scope) { account in await countUnread(of: account) }
/// // A hundred calls while one run is under way are served together by the next.
/// let count = await counts.result(for: "bob")
/// ```
package final class JoinedWork<Key: Hashable & Sendable, Value: Sendable> {
  private let scope: LoopScope
  private let work: (Key) async -> Value
  private var waiting: [Key: [CheckedContinuation<Value?, Never>]] = [:]
  /// The keys with a run, or with one that is about to begin.
  private var running: Set<Key> = []

  package init(in scope: LoopScope, _ work: @escaping (Key) async -> Value) {
    self.scope = scope
    self.work = work
  }

  /// - Returns: the result of a run that begins after this call; nil if the scope is closed.
  package func result(for key: Key) async -> Value? {
    await withCheckedContinuation { continuation in
      waiting[key, default: []].append(continuation)
      guard running.insert(key).inserted else { return }
      // The runs are not those of a caller: it would go on for as long as others come.
      if !scope.start({ [self] in await runWhileWanted(key) }) {
        running.remove(key)
        for one in waiting.removeValue(forKey: key) ?? [] { one.resume(returning: nil) }
      }
    }
  }

  private func runWhileWanted(_ key: Key) async {
    while let callers = waiting.removeValue(forKey: key) {
      let value = await work(key)
      for caller in callers { caller.resume(returning: value) }
    }
    running.remove(key)
  }
}
