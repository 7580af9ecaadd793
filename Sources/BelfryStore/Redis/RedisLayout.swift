import BelfryModel
import BelfryRedis

/// A key by its parts: written into a command they need not be one string first.
struct RedisKey: RedisArgument {
  var prefix: String
  var kind: String
  var name: String

  var text: String { prefix + kind + ":" + name }

  func append(to command: inout RedisCommand) { command.append(joining: prefix, kind, ":", name) }
}

extension RedisCommand {
  /// Not by the list of arguments, which boxes each of them: a page of a feed has hundreds of commands.
  init(_ name: String, at key: RedisKey) {
    self.init(name)
    key.append(to: &self)
  }
}

/// The keys and channels of a partition, by name; docs/redis-layout.md says what each holds.
/// `Functions/partition.lua` says the same in Lua, and no third place does.
///
/// All names of a partition share its hash tag, so that whatever one function touches is in one slot.
enum RedisLayout {
  static func prefix(_ partition: Partition) -> String { prefixes[partition.number] }

  private static let prefixes = Partition.allCases.map { "belfry:{\($0.hashTag)}:" }

  /// Hash: `last`, the last id allotted; by space, the last one appended to its log; and which dedupe
  /// buckets there are. It is the list of the partition's spaces and accounts, too.
  static func clock(_ partition: Partition) -> String { prefix(partition) + "clock" }

  /// Stream: the entries of a space.
  static func log(_ space: SpaceID) -> RedisKey {
    RedisKey(prefix: prefix(space.partition), kind: "log", name: space.key)
  }

  /// Hash: one kind of record.
  static func table(_ address: TableAddress) -> RedisKey {
    RedisKey(prefix: prefix(address.space.partition), kind: address.table.name, name: address.space.key)
  }

  /// Hash: what other partitions are to learn.
  static func outbox(_ partition: Partition) -> String { prefix(partition) + "outbox" }

  /// Hash: the spaces an account belongs or belonged to.
  static func spaces(of account: AccountID) -> String { key("spaces", of: account) }

  /// Set: what an account has read above its watermark.
  static func read(of account: AccountID) -> String { key("read", of: account) }

  /// Hash: `watermark`, up to which the account has read everything.
  static func account(_ account: AccountID) -> String { key("account", of: account) }

  /// Hash: which deliveries an account has had.
  static func arrived(of account: AccountID) -> String { key("arrived", of: account) }

  /// Sorted set: the spaces of a partition that are to be looked at, by when.
  static func wake(_ partition: Partition) -> String { prefix(partition) + "wake" }

  /// Sorted set: the spaces of a directory, in the order of their places.
  static func directory(_ directory: ListingChange.Directory) -> String {
    prefix(partition(of: directory)) + name(of: directory)
  }

  /// Of its own: a directory belongs to no space.
  static func partition(of directory: ListingChange.Directory) -> Partition {
    Partition(holding: name(of: directory))
  }

  private static func name(of directory: ListingChange.Directory) -> String {
    "directory:\(directory.rawValue)"
  }

  /// Sharded channel: what happens in a space.
  static func live(_ space: SpaceID) -> String { prefix(space.partition) + "live:" + space.key }

  /// An account's keys lie in the partition of its own space.
  private static func key(_ name: String, of account: AccountID) -> String {
    prefix(SpaceID.personal(account).partition) + name + ":" + account.text
  }
}

extension RedisLayout {
  // Fields of the clock that are not spaces.
  static let lastField = "last"
  static let watermarkField = "watermark"
  /// What stands for "no id yet".
  static let noID = "0-0"
}
