/// A cache of limited size that approximates least recently used with two generations: a value that is used moves to the
/// younger one; when that is full it becomes the older, and what was not used since is dropped.
package struct RecentValues<Key: Hashable, Value> {
  private let generationMax: Int
  private var younger: [Key: Value] = [:]
  private var older: [Key: Value] = [:]

  /// - Parameter countMax: how many it holds at most.
  package init(countMax: Int) { generationMax = max(1, countMax / 2) }

  package var count: Int { younger.count + older.count }

  package mutating func use(_ key: Key) -> Value? {
    if let value = younger[key] { return value }
    guard let value = older.removeValue(forKey: key) else { return nil }
    remember(value, as: key)
    return value
  }

  package mutating func remember(_ value: Value, as key: Key) {
    if younger.count >= generationMax, younger[key] == nil {
      older = younger
      younger = [:]
    }
    younger[key] = value
  }
}
