internal import BelfryBytes
import Synchronization

/// Settings of spaces and channels by their texts, decoded.
///
/// Every send decides on them, and they hardly ever change: decoding them was a tenth of a send. Keyed by the
/// text, so what is found here is what decoding would give, whoever changed the record meanwhile.
enum RecentSettings {
  /// At most some kilobytes each; more spaces than are usually written to at once.
  static let countMax = 2_048

  private struct Key: Hashable {
    var type: ObjectIdentifier
    var text: UTF8Text
  }

  private struct Known {
    var values = RecentValues<Key, any Sendable>(countMax: countMax)
    /// The one that was asked for last, which the lines of a batch ask for one after the other: the texts are one
    /// and the same then, and a look at where they lie spares hashing them.
    var last: (key: Key, value: any Sendable)?

    mutating func use(_ key: Key) -> (any Sendable)? {
      if let last, last.key == key { return last.value }
      guard let value = values.use(key) else { return nil }
      last = (key, value)
      return value
    }
  }

  private static let decoded = Mutex(Known())

  /// Nil when the text is not that of such a record.
  static func value<Value: Decodable & Sendable>(_ type: Value.Type, _ text: String) -> Value? {
    let key = Key(type: ObjectIdentifier(type), text: UTF8Text(text))
    if let known = decoded.withLock({ $0.use(key) }) as? Value { return known }
    guard let value = RecordJSON.value(type, text) else { return nil }
    decoded.withLock { $0.values.remember(value, as: key) }
    return value
  }
}
