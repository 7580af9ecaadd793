import BelfryBytes
import BelfryInterface
import BelfryModel
import BelfryStore
import Synchronization

/// All keys of back ends, as Redis had them a moment ago, so that requests are checked without asking Redis.
///
/// Every broker asks every two seconds if they have changed. If the keys could not be read for half a minute,
/// they are not accepted any more, because one of them may have been revoked.
final class BackEndKeys: Sendable {
  static let interval: Duration = .seconds(2)
  static let ageMax: Duration = .seconds(30)
  /// The most keys. They are read all together, and every broker holds them.
  static let countMax = OperatorRoutes.keysMaximum

  private struct Content {
    var version: String?
    var keys: [EntityID: BackEndKey] = [:]
    var lookedAt: ContinuousClock.Instant?

    /// Records a look at the version. True if the keys have not changed since the last look.
    mutating func note(_ found: String?, lookedAt time: ContinuousClock.Instant) -> Bool {
      guard let last = lookedAt, version == found else { return false }
      lookedAt = max(last, time)
      return true
    }
  }

  private let content = Mutex(Content())

  var all: [BackEndKey] { content.withLock { $0.keys.values.sorted { $0.id < $1.id } } }

  func holds(_ id: EntityID, nowSeconds: Int64) -> Bool {
    content.withLock { ($0.keys[id]?.expiresAtSeconds).map { $0 > nowSeconds } ?? ($0.keys[id] != nil) }
  }

  /// - Throws: if the key is not accepted, and also if that cannot be known.
  func verify(_ text: UTF8Text, nowSeconds: Int64, now: ContinuousClock.Instant = .now) throws(Refusal)
    -> BackEndKey
  {
    let (key, lookedAt) = content.withLock { content in
      (BackEndKey.id(in: text).flatMap { content.keys[$0] }, content.lookedAt)
    }
    guard let lookedAt, lookedAt.duration(to: now) <= Self.ageMax else {
      throw Refusal(.unavailable, "keys cannot be checked while Redis cannot be reached; try again")
    }
    if BackEndKey.isCut(text) {
      throw Refusal(.unauthorized, "the end of this key is missing; copy the whole key")
    }
    guard let key, key.isGood(text) else {
      throw Refusal(.unauthorized, "this key does not exist or was revoked")
    }
    if let end = key.expiresAtSeconds, end <= nowSeconds {
      throw Refusal(.unauthorized, "the key has expired")
    }
    return key
  }

  /// - Returns: true if the keys have changed.
  func refresh(from store: RedisStore) async throws(StoreError) -> Bool {
    // The time before the question. Changes after it will be seen next time.
    let now = ContinuousClock.now
    let version = try await store.backEndKeysVersion()
    if content.withLock({ $0.note(version, lookedAt: now) }) { return false }
    let found = try await store.backEndKeys()
    let keys = found.records.compactMap { BackEndKey(id: $0.id, record: $0.text) }
    return take(keys, version: found.version, lookedAt: now)
  }

  /// If two looks overlap, the one that began later counts: the other may have read a key before it was
  /// revoked.
  func take(_ keys: [BackEndKey], version: String?, lookedAt: ContinuousClock.Instant) -> Bool {
    content.withLock { content in
      if let last = content.lookedAt, last > lookedAt { return false }
      content.version = version
      content.keys = Dictionary(keys.map { ($0.id, $0) }) { $1 }
      content.lookedAt = lookedAt
      return true
    }
  }
}
