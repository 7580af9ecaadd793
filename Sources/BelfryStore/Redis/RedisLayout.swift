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

/// The keys and channels of a keyspace, by name; docs/redis-layout.md says what each holds.
/// `Functions/partition.lua` says the same in Lua, and no third place does.
///
/// All names of a partition share its hash tag, so that whatever one function touches is in one slot.
struct RedisLayout: Sendable {
  let partitions: Partitions
  private let prefixes: [String]

  init(_ partitions: Partitions) {
    self.partitions = partitions
    prefixes = partitions.hashTags.map { "belfry:{\($0)}:" }
  }

  func partition(of space: SpaceID) -> Partition { partitions.holding(space) }

  /// An account's keys lie in the partition of its own space.
  func partition(of account: AccountID) -> Partition { partitions.holding(.personal(account)) }

  /// Hash: of which version the data is, how many partitions there are, and by which settings brokers work.
  static let format = "belfry:format"
  /// Hash: the keys of back ends by id, as JSON, and `version`.
  static let keys = "belfry:keys"
  static let keysVersion = "version"
  /// Stream: what trusted callers did.
  static let audit = "belfry:audit"
  /// Every key of any partition, however many there are.
  static let anyPartition = "belfry:{*"

  /// A call of one of our functions; its arguments are to be appended.
  func call(_ function: StoreFunction, in partition: Partition) -> RedisCommand {
    RedisCommand(function.onlyReads ? "FCALL_RO" : "FCALL", function.name, 1, partitionHash(partition))
  }

  /// Hash: `last`, the last id allotted; by space, the last one appended to its log; and which dedupe
  /// buckets there are. It is the list of the partition's spaces and accounts, too.
  func partitionHash(_ partition: Partition) -> String { prefix(partition) + "partition" }

  /// Stream: the entries of a space.
  func log(_ space: SpaceID) -> RedisKey {
    RedisKey(prefix: prefix(partition(of: space)), kind: "log", name: space.key)
  }

  /// Hash: one kind of record.
  func table(_ address: TableAddress) -> RedisKey {
    RedisKey(
      prefix: prefix(partition(of: address.space)), kind: address.table.name, name: address.space.key)
  }

  /// Stream: what other partitions are to learn, an item for each commit, in their order.
  func outbox(_ partition: Partition) -> String { prefix(partition) + "outbox" }

  /// Hash: the spaces an account belongs or belonged to.
  func spaces(of account: AccountID) -> String { key("spaces", of: account) }

  /// Set: what an account has read above its watermarks.
  func read(of account: AccountID) -> String { key("read", of: account) }

  /// Hash: up to where the account has read everything; `Functions/read.lua` says how.
  func account(_ account: AccountID) -> String { key("account", of: account) }

  /// Hash: how much each user has written to the account since it last marked something read.
  func shares(at account: AccountID) -> String { key("shares", of: account) }

  /// Hash: which deliveries an account has had.
  func delivered(of account: AccountID) -> String { key("delivered", of: account) }

  /// Sorted set: the spaces of a partition that are to be looked at, by when.
  func wake(_ partition: Partition) -> String { prefix(partition) + "wake" }

  /// Sorted set: the spaces of a directory, in the order of their places.
  func directory(_ directory: ListingChange.Directory) -> String {
    prefix(partition(of: directory)) + directory.name
  }

  /// Of its own: a directory belongs to no space.
  func partition(of directory: ListingChange.Directory) -> Partition {
    partitions.holding(key: directory.name)
  }

  /// Set: the spaces of a partition that have an entry in a stretch of time, of 2^20 milliseconds.
  func activeSpaces(of id: MessageID) -> String {
    prefix(id.partition) + "active:\(id.unixMilliseconds >> 20)"
  }

  /// Sharded channel: what happens in a space.
  func live(_ space: SpaceID) -> String { prefix(partition(of: space)) + "live:" + space.key }

  private func key(_ name: String, of account: AccountID) -> String {
    prefix(partition(of: account)) + name + ":" + account.text
  }

  /// An id that a caller made up may name a partition that there is not. Nothing with that id is in the one that is
  /// looked at instead.
  func prefix(_ partition: Partition) -> String { prefixes[partition.number & (prefixes.count - 1)] }
}

extension RedisLayout {
  // Fields of the clock that are not spaces.
  static let lastField = "last"
  static let rewoundField = "rewound"
  static let historyField = "history"
  /// A field of an account's hash: how many direct messages its index holds.
  static let directMessagesField = "directMessages"
}
