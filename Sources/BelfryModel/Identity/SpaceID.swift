internal import BelfryBytes

/// The kind of a space.
///
/// ```swift
/// let kind = SpaceID(key: "group:9")?.kind
/// if kind == .group { print("a group") }
/// ```
public enum SpaceKind: String, Sendable, CaseIterable {
  /// A server with its channels.
  case server
  /// A group.
  case group
  /// A room.
  case room
  /// The personal space of one account, for notifications to that account alone.
  case account
  /// The space of a direct message: one notification that was sent to several accounts by name. Its log has one entry. The
  /// index of each receiver points to that entry, so the send is one append for any number of receivers.
  case direct

  /// True if spaces of this kind have settings, members, and an end.
  package var hasMembers: Bool {
    switch self {
    case .server, .group, .room: true
    case .account, .direct: false
    }
  }
}

/// The id of a space: a server with its channels, a group, a room, an account's personal space, or a direct message.
///
/// ```swift
/// let preference = AccountPreference(space: SpaceID.server(server).key, level: .none)
/// ```
public struct SpaceID: Hashable, Sendable, CustomStringConvertible {
  /// The kind of the space.
  public let kind: SpaceKind
  /// The id as text, for example `server:8106302`. It is part of Redis keys, and its hash decides the partition.
  public let key: String
  /// The part of the key's hash that decides the partition (``Partitions/holding(_:)``). It is stored like the key, since a
  /// feed needs both for every entry.
  let partitionHash: UInt16

  /// Makes an id. Nil if the name is empty, too long, or has a character that no name has.
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

  /// The space of a server.
  public static func server(_ id: EntityID) -> SpaceID { SpaceID(unchecked: .server, name: id.text) }
  /// The space of a room.
  public static func room(_ id: EntityID) -> SpaceID { SpaceID(unchecked: .room, name: id.text) }
  /// The space of a group.
  public static func group(_ id: EntityID) -> SpaceID { SpaceID(unchecked: .group, name: id.text) }
  /// The space of a direct message.
  public static func direct(_ id: EntityID) -> SpaceID { SpaceID(unchecked: .direct, name: id.text) }
  /// The personal space of an account.
  public static func personal(_ account: AccountID) -> SpaceID {
    SpaceID(unchecked: .account, name: account.text)
  }

  /// Reads a `key`. Nil if the kind is unknown or the name is not valid.
  public init?(key: some StringProtocol) { self.init(keyBytes: ArraySlice(key.utf8)) }

  /// Reads a `key` from bytes. This happens for every entry of an index.
  package init?(keyBytes bytes: ArraySlice<UInt8>) {
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
      let kind = Self.kinds.first(where: { $0.word == bytes[..<colon] })?.kind,
      Name.isValid(bytes[(colon + 1)...], lengthLimitBytes: AccountID.lengthLimitBytes)
    else { return nil }
    self.init(kind, key: String(decoding: bytes, as: UTF8.self))
  }

  private static let kinds = SpaceKind.allCases.map { (word: ArraySlice($0.rawValue.utf8), kind: $0) }

  /// The part of the key behind the colon.
  public var name: String { String(key.dropFirst(kind.rawValue.count + 1)) }
  /// The key.
  public var description: String { key }

  // The key decides: the other properties follow from it.
  public static func == (left: Self, right: Self) -> Bool { left.key == right.key }
  public func hash(into hasher: inout Hasher) { hasher.combine(key) }
}

/// The id of a server, channel, group or room: a positive integer below 2^63. In JSON it is a string of decimal digits.
///
/// ```swift
/// guard let server = EntityID("8106302") else { return }
/// print(try await client.server(server).name)
/// ```
public struct EntityID: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// The id as a number.
  public let number: Int64

  /// Nil if the number is not positive.
  public init?(_ number: Int64) {
    guard number > 0 else { return nil }
    self.number = number
  }

  /// Makes an id from any 64 random or hashed bits. The sign is dropped, and zero becomes one, since zero is no id.
  package init(bits: UInt64) { number = max(1, Int64(bits >> 1)) }

  /// Makes the id that represents a name. The id is 63 bits of SHA-256, so nobody can find a name that has the id of another
  /// name.
  package init(hashing name: String) { self.init(bits: Hashing.beginningOfSHA256(Array(name.utf8))) }

  /// Reads an id. Nil if the text is not the one canonical form of a positive number: with two spellings one id would be two
  /// spaces.
  public init?(_ text: String) {
    guard let number = Int64(canonical: text), number > 0 else { return nil }
    self.number = number
  }

  /// The id as decimal digits.
  public var text: String { String(number) }
  /// The id as decimal digits.
  public var description: String { text }
  /// Compares the numbers.
  public static func < (left: Self, right: Self) -> Bool { left.number < right.number }
}
