import BelfryModel
import BelfryRedis

/// The size of a keyspace, counted key by key, in any order of the keys. A copy of the keyspace is compared
/// with it.
package struct KeyspaceCounts: Sendable {
  package private(set) var keys = 0
  package private(set) var entries = 0
  package private(set) var servers = 0
  package private(set) var groups = 0
  package private(set) var rooms = 0
  /// Keys that expire and that earlier builds counted among ``keys``.
  package private(set) var keysOnceCounted = 0
  /// Hashes of the accounts' names: an account has up to five keys, and there are millions of accounts.
  private var accountHashes: Set<UInt64> = []

  package init() {}

  package var accounts: Int { accountHashes.count }

  /// The counts by name, for people and files.
  package var byName: [(name: String, count: Int)] {
    [
      ("entries", entries), ("accounts", accounts), ("servers", servers), ("groups", groups),
      ("rooms", rooms), ("keys", keys),
    ]
  }

  /// Keys of these kinds expire, and may be gone before a copy is counted: minutes or days after a backup was made.
  static let expiringKinds = kindsOnceCounted.union(["active", "shares", "invitations", "offset"])
  private static let kindsOnceCounted: Set<Substring> = ["copies-lease", "registration", "ticket"]

  /// - Parameter entries: the number of entries, if the key is a log.
  package mutating func add(_ key: KeyspaceKey, entries: Int) {
    if Self.kindsOnceCounted.contains(key.kind) { keysOnceCounted += 1 }
    if Self.expiringKinds.contains(key.kind) { return }
    keys += 1
    switch key.kind {
    case "log":
      self.entries += entries
      if let account = key.account { accountHashes.insert(account) }
    case "settings": add(SpaceID(key: key.name)?.kind)
    case "spaces", "read", "account", "delivered": accountHashes.insert(StableHash.fnv1a(key.name))
    default: break
    }
  }

  private mutating func add(_ kind: SpaceKind?) {
    switch kind {
    case .server: servers += 1
    case .group: groups += 1
    case .room: rooms += 1
    case .account, .direct, nil: break
    }
  }
}

/// A key taken apart into the parts from which ``RedisLayout`` makes it.
package struct KeyspaceKey: Sendable {
  package static let prefix = "belfry:"
  /// Matches every key of a keyspace, and no other.
  package static let pattern = prefix + "*"

  let kind: Substring
  let name: String

  /// Nil for a key that is not Belfry's.
  package init?(_ key: String) {
    guard key.hasPrefix(Self.prefix) else { return nil }
    if key.hasPrefix(OffsetKey.prefix) {
      (kind, name) = ("offset", "")
      return
    }
    // A key without a partition's tag has no space's name either.
    let rest = key.firstIndex(of: "}").map { key[$0...].dropFirst(2) } ?? ""
    kind = rest.prefix { $0 != ":" }
    name = String(rest.dropFirst(kind.count + 1))
  }

  /// A hash of the account, if the key belongs to a personal space.
  fileprivate var account: UInt64? {
    guard let space = SpaceID(key: name), space.kind == .account else { return nil }
    return StableHash.fnv1a(space.name)
  }

  package var isLog: Bool { kind == "log" }
}
