import BelfryModel
import BelfryRedis

/// The hashes of the partitions, which are all made with the keyspace. So a hash that is missing later is at another node of
/// a cluster, and the functions refuse its partition.
///
/// The format record says in its field `hashes` how far they have been made. Until all are, a missing one may be one that
/// never was there.
final class PartitionHashes {
  enum Stage: Sendable {
    /// The record says nothing: the keyspace is of a release that made a hash with the first id of its partition.
    case ofEarlierRelease
    /// A broker has made the record, and brokers make the hashes at each node as they connect to it.
    case begun
    case made
  }

  /// With these words the functions, too, refuse a partition whose hash is missing (`refuse_incomplete_partition`).
  static let incompleteCause = "the partition is incomplete: its hash is missing"

  static let begun = "begun"
  static let made = "made"

  private let layout: RedisLayout
  private(set) var stage = Stage.ofEarlierRelease
  private var known: Set<Partition> = []
  var onAllKnown: (() -> Void)?

  init(_ layout: RedisLayout) { self.layout = layout }

  func take(_ field: String?) {
    stage =
      switch field {
      case Self.made: .made
      case Self.begun: .begun
      default: .ofEarlierRelease
      }
  }

  /// Makes the hash of a partition, unless it is there.
  func making(_ partition: Partition) -> RedisCommand {
    RedisCommand("HSETNX", layout.partitionHash(partition), RedisLayout.lastField, MessageID.zero.streamForm)
  }

  var writingMade: RedisCommand {
    RedisCommand("HSET", RedisLayout.format, RedisLayout.hashesField, Self.made)
  }

  /// Makes the hashes that a new connection can make: on a single Redis all that are missing. At a node of a cluster those of
  /// a new keyspace alone: a missing one of an earlier release may be at another node, which no connection can tell.
  func setUp(isOfCluster: Bool, then following: RedisSetUp) -> RedisSetUp {
    guard stage == .begun || (stage == .ofEarlierRelease && !isOfCluster) else { return following }
    let all = layout.partitions.all
    return RedisSetUp(all.map { making($0) }) { [self] replies in
      // A node refuses it for the partitions that others have, and for all of them while it may not write.
      for (partition, reply) in zip(all, replies) {
        if case .integer = reply { known.insert(partition) }
      }
      guard known.count == all.count else { return following }
      if isOfCluster {
        onAllKnown?()
        return following
      }
      return RedisSetUp([writingMade]) { [self] replies in
        if case .integer = replies[0] { stage = .made }
        return following
      }
    }
  }
}

// MARK: - While the broker works

extension RedisStore {
  /// Makes the hashes that were never made, and then says so in the format record.
  ///
  /// Once all were made, a cluster is only looked at: a node that came back empty answers every partition of its own with a
  /// refusal, and nobody else would tell an operator why.
  /// - Throws: `incomplete` if one that was made is missing; `unavailable` if a missing one may be at another node, or if that
  ///   cannot be known now.
  func makeMissingHashes() async throws(StoreError) {
    let (hashes, place) = (format.hashes, "partition hashes")
    if hashes.stage == .made, !redis.isCluster { return }
    let all = layout.partitions.all
    let questions = all.map { RedisCommand("HEXISTS", layout.partitionHash($0), RedisLayout.lastField) }
    let replies = try await refusingErrors(questions, at: place)
    let missing = zip(all, replies).filter { $1 == .integer(0) }.map(\.0)
    if hashes.stage == .made {
      guard let first = missing.first else { return }
      throw Self.missing(missing, first: first, at: redis.place(of: layout.slot(of: first)))
    }
    for partition in missing where redis.isCluster { try await refuseKeysElsewhere(of: partition, at: place) }
    _ = try await refusingErrors(missing.map { hashes.making($0) }, at: place)
    _ = try await refusingErrors([hashes.writingMade], at: place)
    hashes.take(PartitionHashes.made)
  }

  /// Only where all nodes say so it is certain that a partition has no keys elsewhere, its hash among them.
  private func refuseKeysElsewhere(of partition: Partition, at place: String) async throws(StoreError) {
    let slot = layout.slot(of: partition)
    let owner = redis.place(of: slot)
    for (node, result) in await redis.sendToAll(RedisCommand("CLUSTER", "COUNTKEYSINSLOT", slot)) {
      let count = try reading(at: place) { () throws(RedisError) in try result.get().integer() }
      if node == owner || count == 0 { continue }
      throw StoreError(
        .unavailable,
        "the hash of partition \(partition.number) is missing, and \(node) has keys of its slot \(slot) but does not serve "
          + "that slot. Finish moving the slot, or bring the keys to \(owner ?? "the node that serves it")",
        at: place)
    }
  }

  /// Refuses what would be answered "not found" only because a part of a partition is at another node: the hash of the
  /// partition, or settings of a space which the hash names.
  func refuseIncomplete(_ spaces: [SpaceID]) async throws(StoreError) {
    if spaces.isEmpty { return }
    let place = "partition hashes"
    // In one step, or a space that is made in between would seem to have lost its settings.
    let questions = spaces.flatMap { space in
      [
        RedisCommand("MULTI"),
        RedisCommand(
          "HMGET", layout.partitionHash(layout.partition(of: space)), RedisLayout.lastField, space.key),
        RedisCommand("EXISTS", at: layout.table(TableAddress(space, .settings))),
        RedisCommand("EXEC"),
      ]
    }
    let replies = try await pipeline(questions, at: place)
    for (space, last) in zip(spaces, stride(from: 3, to: replies.count, by: 4)) {
      let isComplete = try reading(at: place) { () throws(RedisError) in
        let answers = try replies[last].array(count: 2)
        let fields = try answers[0].array(count: 2)
        guard fields[0].ifPresent != nil else { return false }
        // A hash that is missing from a single Redis is nowhere else.
        return fields[1].ifPresent == nil || !redis.isCluster || answers[1] == .integer(1)
      }
      guard isComplete else { throw Self.incomplete(layout.partition(of: space)) }
    }
  }

  private static func missing(_ partitions: [Partition], first: Partition, at node: String?) -> StoreError {
    StoreError(
      .incomplete,
      "\(partitions.count) partitions have no hash; the first is partition \(first.number) at \(node ?? "no node"). The node came "
        + "back empty, or slots are being moved: see docs/cluster.md, \"A node that came back empty\"",
      at: "partition hashes")
  }

  static func incomplete(_ partition: Partition) -> StoreError {
    StoreError(
      .incomplete,
      "a part of partition \(partition.number) is missing, perhaps because its slot is being moved: finish that, or see "
        + "docs/cluster.md, \"A node that came back empty\"",
      at: "partition hashes")
  }
}
