package import BelfryStore
import Synchronization

/// Knows if any account has a pusher, as Redis had it a moment ago. All loops of a broker share it.
package final class PushWord: Sendable {
  package static let interval: Duration = .seconds(1)
  /// How often it is looked whether nobody has one any more: one command for each partition.
  package static let endingInterval: Duration = .seconds(60)

  private let known = Mutex<String?>(nil)

  package init() {}

  package var isPushing: Bool { known.withLock { $0 != nil } }

  package func refresh(from store: RedisStore) async throws(StoreError) {
    let word = try await store.pushWord()
    known.withLock { $0 = word }
  }

  /// Has what is appended copied for push, before the first pusher is there.
  package func begin(in store: RedisStore) async throws(StoreError) -> String {
    if let word = try await store.pushWord() {
      known.withLock { $0 = word }
      return word
    }
    let word = Self.newWord()
    try await store.beginPush(word: word)
    known.withLock { $0 = word }
    return word
  }

  /// After a pusher was added: it may have been taken for none.
  package func confirm(_ word: String, in store: RedisStore) async throws(StoreError) {
    if try await store.pushWord() == word { return }
    try await store.beginPush(word: Self.newWord())
    try await refresh(from: store)
  }

  package static func newWord() -> String { String(UInt64.random(in: .min ... .max), radix: 36) }
}
