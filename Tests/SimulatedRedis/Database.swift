/// The keys of a Redis.
struct Database: Hashable, Sendable {
  struct Key: Hashable, Sendable {
    var value: StoredValue
    /// Milliseconds since 1970.
    var expiresAt: Int64?
  }

  private(set) var keys: [Bytes: Key] = [:]

  static func == (one: Database, other: Database) -> Bool { one.keys == other.keys }
  func hash(into hasher: inout Hasher) { hasher.combine(keys) }

  /// A rough count of the memory, for a limit.
  private(set) var byteCount = 0
  private let limits: EncodingLimits

  init(_ limits: EncodingLimits) { self.limits = limits }

  subscript(key: Bytes) -> Key? { keys[key] }

  var scanOrder: ScanOrder { ScanOrder(keys.keys) }

  mutating func put(_ key: Bytes, _ entry: Key) {
    remove(key)
    byteCount += Self.keyBytes(key) + entry.value.byteCount
    keys[key] = entry
  }

  @discardableResult
  mutating func remove(_ key: Bytes) -> Key? {
    guard let old = keys.removeValue(forKey: key) else { return nil }
    byteCount -= Self.keyBytes(key) + old.value.byteCount
    return old
  }

  mutating func setExpiry(_ key: Bytes, _ expiresAt: Int64?) { keys[key]?.expiresAt = expiresAt }

  /// Changes a value in place, or a new one. The caller has made sure of the kind.
  mutating func change<Value: ValueOfKind, Result>(
    _ key: Bytes, of _: Value.Type, _ body: (inout Value) throws(CommandError) -> Result
  ) throws(CommandError) -> Result {
    var (value, expiresAt) = (Value.make(limits), Int64?.none)
    if let place = keys.index(forKey: key) {
      expiresAt = keys.values[place].expiresAt
      if let known = Value.of(keys.values[place].value) { value = known }
      byteCount -= Self.keyBytes(key) + keys.values[place].value.byteCount
      // Nothing else refers to the value while it changes, so it is not copied.
      keys.values[place].value = .string(StringValue())
    }
    defer {
      if value.isToBeRemoved {
        keys[key] = nil
      } else {
        byteCount += Self.keyBytes(key) + value.stored.byteCount
        keys[key] = Key(value: value.stored, expiresAt: expiresAt)
      }
    }
    return try body(&value)
  }

  private static func keyBytes(_ key: Bytes) -> Int { key.count + 64 }
}
