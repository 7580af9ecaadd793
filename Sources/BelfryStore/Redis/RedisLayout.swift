import BelfryBytes
import BelfryModel
import BelfryRedis

/// A key by its parts, which are written into a command without making one string of them first.
struct RedisKey: RedisArgument {
  var prefix: String
  var kind: String
  var name: String

  var text: String { prefix + kind + ":" + name }

  func append(to command: inout RedisCommand) { command.append(joining: prefix, kind, ":", name) }
}

extension RedisCommand {
  /// Without a list of arguments, which would box each of them: a page of a feed has hundreds of commands.
  init(_ name: String, at key: RedisKey) {
    self.init(name)
    key.append(to: &self)
  }
}

/// The keys and channels of a keyspace, by name; docs/redis-layout.md describes their contents.
/// `Functions/partition.lua` makes the same names in Lua; nothing else makes any.
///
/// All names of a partition share its hash tag, so that all keys that one function touches are in one slot.
struct RedisLayout: Sendable {
  let partitions: Partitions
  private let prefixes: [String]
  private let slots: [Int]

  init(_ partitions: Partitions) {
    self.partitions = partitions
    prefixes = partitions.hashTags.map { "belfry:{\($0)}:" }
    slots = prefixes.map { ClusterSlot.of(key: $0) }
  }

  /// The slot of a cluster that all keys and channels of a partition lie in.
  func slot(of partition: Partition) -> Int { slots[partition.number & (slots.count - 1)] }

  func partitions(in slots: Set<Int>) -> [Partition] {
    partitions.all.filter { slots.contains(slot(of: $0)) }
  }

  func partition(of space: SpaceID) -> Partition { partitions.holding(space) }

  /// An account's keys lie in the partition of its personal space.
  func partition(of account: AccountID) -> Partition { partitions.holding(.personal(account)) }

  /// Hash: the version of the data, the number of partitions, and the settings that brokers should agree on.
  static let format = "belfry:format"
  /// The field of the record that says how far the hashes of the partitions were made.
  static let hashesField = "hashes"
  /// Hash: the keys of back ends by id, as JSON, and `version`.
  static let keys = "belfry:keys"
  static let keysVersion = "version"
  /// Stream: the acts of trusted callers.
  static let audit = "belfry:audit"
  /// Sharded channel: nobody listens. A new connection learns there if its user may publish, and it stands for all
  /// channels when a broker asks for its rights.
  static let rights = "belfry:rights"
  /// Hash: the webhook endpoints by id, as JSON, and `version`.
  static let webhooks = "belfry:webhooks"
  /// Hash: the health of an endpoint.
  static func webhookHealth(_ id: EntityID) -> String { "belfry:webhook-health:\(id)" }
  /// Text: exists while any account has a pusher. It is a new word each time that push begins.
  static let push = "belfry:push"
  /// The pattern of every key that belongs to a partition.
  static let anyPartition = "belfry:{*"

  /// A call of a function, to which its arguments are appended.
  func call(_ function: StoreFunction, in partition: Partition, isGuarded: Bool = true) -> RedisCommand {
    var command = RedisCommand(function.onlyReads ? "FCALL_RO" : Self.callName)
    append(function, in: partition, isGuarded: isGuarded, to: &command)
    return command
  }

  /// A call of a function that works on one key, which belongs to no partition.
  static func call(_ function: StoreFunction, on key: String) -> RedisCommand {
    RedisCommand(callName, function.name, 1, key)
  }

  static let callName = "FCALL"

  /// Appends the function's name and its keys, before its arguments: the hash of the partition, and one that never exists.
  ///
  /// While a slot is on its way to another node of a cluster, some of its keys are there and some are not. Redis refuses
  /// what names several keys of the slot then, unless all are there (TRYAGAIN), and knows of no others that the function
  /// touches. With one key alone, half of a commit would be written at each node.
  /// - Parameter isGuarded: false leaves the second key out of what is called often, where a single Redis would spend
  ///   one percent of a call on it for nothing.
  func append(
    _ function: StoreFunction, in partition: Partition, isGuarded: Bool, to command: inout RedisCommand
  ) {
    command.append(function.name)
    command.append(isGuarded ? "2" : "1")
    command.append(joining: prefix(partition), "partition", "", "")
    if isGuarded { command.append(joining: prefix(partition), "whole", "", "") }
  }

  /// Hash: the field `last` has the last id allotted; a field for each space, the last id appended to its log; others
  /// have the names of the dedupe hashes, the history and its rewinds. The fields for spaces, personal spaces among
  /// them, are also the list of the partition's spaces and accounts.
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

  /// Stream: the changes for other partitions, an item for each commit, in their order.
  func outbox(_ partition: Partition) -> String { prefix(partition) + "outbox" }

  /// Hash: the spaces an account belongs or belonged to.
  func spaces(of account: AccountID) -> String { key("spaces", of: account) }

  /// Set: the ids that an account has read above its watermarks.
  func read(of account: AccountID) -> String { key("read", of: account) }

  /// Hash: an account's watermarks and lagging spaces; see `Functions/read.lua`.
  func account(_ account: AccountID) -> String { key("account", of: account) }

  /// Hash: how much each user has written to the account since it last marked an entry read.
  func shares(at account: AccountID) -> String { key("shares", of: account) }

  /// Hash: the places that an account was invited to; see ``InvitationPlace``.
  func invitations(to account: AccountID) -> String { key("invitations", of: account) }

  /// Hash: the keys of the deliveries made to an account.
  func delivered(of account: AccountID) -> String { key("delivered", of: account) }

  /// Stream: the entries that were appended to the logs of a partition while it has readers of copies.
  func copies(_ partition: Partition) -> String { prefix(partition) + "copies" }

  /// Hash: the state of a reader of copies.
  func copyReaderState(_ reader: CopyReader, in partition: Partition) -> String {
    prefix(partition) + "copies:" + reader.text
  }

  /// Hash: an account's pushers by device.
  func pushers(of account: AccountID) -> String { key("pushers", of: account) }

  /// Set: the readers of a partition's copies.
  func copyReaders(_ partition: Partition) -> String { prefix(partition) + "copy-readers" }

  /// Set: the accounts of a partition that have pushers.
  func accountsPushed(_ partition: Partition) -> String { prefix(partition) + "pushed" }

  /// Hash: the number that an account's devices were told last.
  func badges(_ partition: Partition) -> String { prefix(partition) + "badges" }
  func corrections(_ partition: Partition) -> String { prefix(partition) + "corrections" }

  /// Sorted set: the names of the tasks of push that wait for another try.
  func retries(_ partition: Partition) -> String { prefix(partition) + "retries" }

  /// Sorted set: the tasks of push, by time; see `Functions/push.lua`.
  func pushes(_ partition: Partition) -> String { prefix(partition) + "pushes" }

  /// Sorted set: the due spaces of a partition, by time.
  func wake(_ partition: Partition) -> String { prefix(partition) + "wake" }

  /// Sorted set: the spaces of a directory, by age.
  func directory(_ directory: ListingChange.Directory) -> String {
    prefix(partition(of: directory)) + directory.name
  }

  /// A directory belongs to no space, so its own name is hashed.
  func partition(of directory: ListingChange.Directory) -> Partition {
    partitions.holding(key: directory.name)
  }

  /// Sharded channel: the events of a space.
  func live(_ space: SpaceID) -> String { prefix(partition(of: space)) + "live:" + space.key }

  /// The space whose live channel this is; nil if it is none.
  func space(live channel: String) -> SpaceID? {
    let bytes = ArraySlice(channel.utf8)
    // The hash tag ends here: it has no brace itself.
    guard let brace = bytes.firstIndex(of: UInt8(ascii: "}")) else { return nil }
    let rest = bytes[(brace + 1)...]
    guard rest.starts(with: Self.liveInfix) else { return nil }
    return SpaceID(keyBytes: rest.dropFirst(Self.liveInfix.count))
  }

  private static let liveInfix = Array(":live:".utf8)

  private func key(_ name: String, of account: AccountID) -> String {
    prefix(partition(of: account)) + name + ":" + account.text
  }

  /// A caller may send an id of a partition that does not exist. The one that is taken instead holds no such id.
  func prefix(_ partition: Partition) -> String { prefixes[partition.number & (prefixes.count - 1)] }
}

extension RedisLayout {
  // Fields of the hash of a partition that are not spaces.
  static let lastField = "last"
  static let rewoundField = "rewound"
  static let historyField = "history"
  /// A field of an account's hash: how many direct messages its index holds.
  static let directMessagesField = "directMessages"
}
