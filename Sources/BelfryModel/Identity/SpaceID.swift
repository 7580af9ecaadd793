internal import BelfryBytes

/// What kind of space a log belongs to.
public enum SpaceKind: String, Sendable, CaseIterable {
  case server, group, room
  /// A personal space, for what concerns one account alone.
  case account
  /// The space of a direct message: one notification sent to several accounts by name. Its log has one entry, to which
  /// each receiver's index points, so it is one append, however many receivers.
  case direct
}

/// A space: a server (with its channels inside), a group, a room, an account's personal space, a direct message.
public struct SpaceID: Hashable, Sendable, CustomStringConvertible {
  public let kind: SpaceKind
  /// Its name in Redis keys and in what is hashed to a partition, for example `server:8106302`.
  public let key: String
  /// The part of the key's hash that decides the partition (``Partitions/holding(_:)``). Stored like the key, since a feed
  /// needs both for every entry.
  let partitionHash: UInt16

  public init?(kind: SpaceKind, name: String) {
    guard Name.isValid(name, lengthLimitBytes: AccountID.lengthLimitBytes) else { return nil }
    self.init(unchecked: kind, name: name)
  }

  private init(unchecked kind: SpaceKind, name: String) {
    self.init(kind, key: kind.rawValue + ":" + name)
  }

  private init(_ kind: SpaceKind, key: String) {
    self.kind = kind
    self.key = key
    partitionHash = StableHash.partitionHash(key)
  }

  public static func server(_ id: EntityID) -> SpaceID { SpaceID(unchecked: .server, name: id.text) }
  public static func room(_ id: EntityID) -> SpaceID { SpaceID(unchecked: .room, name: id.text) }
  public static func group(_ id: EntityID) -> SpaceID { SpaceID(unchecked: .group, name: id.text) }
  public static func direct(_ id: EntityID) -> SpaceID { SpaceID(unchecked: .direct, name: id.text) }
  public static func personal(_ account: AccountID) -> SpaceID {
    SpaceID(unchecked: .account, name: account.text)
  }

  /// Reads a `key`; nil when the kind is unknown or the name is not one.
  public init?(key: some StringProtocol) { self.init(keyBytes: ArraySlice(key.utf8)) }

  /// Reads a `key` from bytes, as for every entry of an index.
  package init?(keyBytes bytes: ArraySlice<UInt8>) {
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
      let kind = Self.kinds.first(where: { $0.word == bytes[..<colon] })?.kind,
      Name.isValid(bytes[(colon + 1)...], lengthLimitBytes: AccountID.lengthLimitBytes)
    else { return nil }
    self.init(kind, key: String(decoding: bytes, as: UTF8.self))
  }

  private static let kinds = SpaceKind.allCases.map { (word: ArraySlice($0.rawValue.utf8), kind: $0) }

  public var name: String { String(key.dropFirst(kind.rawValue.count + 1)) }
  public var description: String { key }

  // The key says all there is.
  public static func == (left: Self, right: Self) -> Bool { left.key == right.key }
  public func hash(into hasher: inout Hasher) { hasher.combine(key) }
}

/// The id of a server, channel, group or room: a positive decimal integer below 2^63, a string in JSON.
public struct EntityID: Hashable, Sendable, Comparable, CustomStringConvertible {
  public let number: Int64

  public init?(_ number: Int64) {
    guard number > 0 else { return nil }
    self.number = number
  }

  /// Any 64 random or hashed bits make an id: the sign is dropped, and zero is no id.
  package init(bits: UInt64) { number = max(1, Int64(bits >> 1)) }

  /// The id that stands for a name. Nobody can find a name that has the id of another's name: the id is 63 bits of SHA-256.
  package init(hashing name: String) { self.init(bits: Hashing.beginningOfSHA256(Array(name.utf8))) }

  /// Nil unless `text` is the number's one canonical form: two spellings of one id would be two spaces.
  public init?(_ text: String) {
    guard let number = Int64(canonical: text), number > 0 else { return nil }
    self.number = number
  }

  public var text: String { String(number) }
  public var description: String { text }
  public static func < (left: Self, right: Self) -> Bool { left.number < right.number }
}
