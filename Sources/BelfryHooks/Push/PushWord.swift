package import BelfryStore
import Synchronization

/// Knows if any account has a pusher, as Redis had it a moment ago. All loops of a broker share it.
package final class PushWord: Sendable {
  package static let interval: Duration = .seconds(1)
  /// How often it checks if no account has a pusher any more. Each check costs one command for each partition.
  package static let endingInterval: Duration = .seconds(60)

  private let known = Mutex<String?>(nil)

  package init() {}

  package var isPushing: Bool { known.withLock { $0 != nil } }

  package func refresh(from store: RedisStore) async throws(StoreError) {
    let word = try await store.pushWord()
    known.withLock { $0 = word }
  }

  /// Makes brokers copy new entries for push, before the first pusher is added.
  /// - Returns: the word if push had begun before; nil if it begins with this pusher.
  package func begin(in store: RedisStore) async throws(StoreError) -> String? {
    if let word = try await store.pushWord() {
      known.withLock { $0 = word }
      return word
    }
    let word = Self.newWord()
    try await store.beginPush(word: word)
    known.withLock { $0 = word }
    return nil
  }

  /// To call after a pusher was added, which may have been overlooked. Push that was just begun is begun once more: another
  /// broker may have been about to end it, and may have ended the copies since.
  package func confirm(_ word: String?, in store: RedisStore) async throws(StoreError) {
    if let word, try await store.pushWord() == word { return }
    try await store.beginPush(word: Self.newWord())
    try await refresh(from: store)
  }

  package static func newWord() -> String { String(UInt64.random(in: .min ... .max), radix: 36) }
}
