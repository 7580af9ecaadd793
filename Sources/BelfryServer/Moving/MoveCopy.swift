import BelfryRedis
import BelfryStore

// Writes to the target and waits for it, from the pause on.

/// A value as `DUMP` returns it, and its expiry.
struct MovedValue: Hashable {
  /// Nil if there is no such key.
  var dump: ArraySlice<UInt8>?
  /// Milliseconds since 1970; -1: never.
  var expiresAt: Int64
}

extension MoveRun {
  /// The most bytes that are read together, by estimate, except for a single larger value.
  private static let bytesAtOnce = 8 << 20
  static let keysAtOnce = 512
  /// `proto-max-bulk-len`, minus the rest of the command around the value. Redis closes the connection if
  /// more is sent.
  private static let valueBytesMax = 512 << 20

  /// - Parameter isAgain: true if an earlier command may have copied some keys. Equal values then stay.
  func copy(_ plan: MovePlan, isAgain: Bool, _ report: inout MoveReport) async throws(BackupError) {
    var done = 0
    if let division = plan.division {
      try await copyDivided(division, &report)
      done += division.keys.count
    }
    for some in plan.keys.chunks(of: Self.keysAtOnce) {
      for batch in try await batches(of: some) {
        try await copyAtOnce(batch, isAgain: isAgain, &report)
      }
      done += some.count
      progress(.copied(keys: done, of: plan.count))
    }
  }

  /// Groups of keys, each with values of about ``bytesAtOnce``.
  func batches(of keys: [MovedKey]) async throws(BackupError) -> [[MovedKey]] {
    var batches: [[MovedKey]] = []
    var bytes = 0
    for (key, size) in zip(keys, try await sizes(of: keys.map(\.here))) {
      if batches.isEmpty || bytes + size > Self.bytesAtOnce {
        batches.append([])
        bytes = 0
      }
      batches[batches.count - 1].append(key)
      bytes += size
    }
    return batches
  }

  private func copyAtOnce(
    _ keys: [MovedKey], isAgain: Bool, _ report: inout MoveReport
  ) async throws(BackupError) {
    let values = try await Self.values(of: keys.map(\.here), at: source.nodes[0])
    let known = isAgain ? try await valuesAtTarget(of: keys.map(\.there)) : []
    var commands = [[RedisCommand]](repeating: [], count: target.nodes.count)
    for (index, (key, value)) in zip(keys, values).enumerated() {
      // The key has expired since it was listed.
      guard let dump = value.dump else { continue }
      guard dump.count < Self.valueBytesMax else {
        throw BackupError(
          .redisFailed,
          "its key \(String(decoding: key.here, as: UTF8.self)) has a value of \(dump.count) bytes, more than can be sent to a "
            + "Redis (\(Self.valueBytesMax))", at: source.place)
      }
      if isAgain, known[index] == value { continue }
      commands[target.node(of: key.there)].append(Self.restoring(key.there, dump, value.expiresAt))
      report.copied += 1
      report.copiedBytes += dump.count
    }
    for (node, commands) in zip(target.nodes, commands) { _ = try await node.ask(commands) }
  }

  private static func restoring(
    _ key: [UInt8], _ dump: ArraySlice<UInt8>, _ expiresAt: Int64
  ) -> RedisCommand {
    var command = RedisCommand("RESTORE", key, max(expiresAt, 0))
    command.append(bytes: dump)
    command.append("REPLACE")
    command.append("ABSTTL")
    return command
  }

  static func values(of keys: [[UInt8]], at node: RedisSession) async throws(BackupError) -> [MovedValue] {
    let replies = try await node.ask(
      keys.flatMap { [RedisCommand("DUMP", $0), RedisCommand("PEXPIRETIME", $0)] })
    return try MoveSide.reading { () throws(RedisError) in
      var values: [MovedValue] = []
      for index in stride(from: 0, to: replies.count - 1, by: 2) {
        let expiresAt = try replies[index + 1].integer()
        // The key may have expired between the two commands. Without its time it would be copied for good.
        let dump = expiresAt == -2 ? nil : try replies[index].ifPresent?.bytes()
        values.append(MovedValue(dump: dump, expiresAt: expiresAt))
      }
      return values
    }
  }

  /// The values of keys that several nodes may have, in the order of the keys.
  func valuesAtTarget(of keys: [[UInt8]]) async throws(BackupError) -> [MovedValue] {
    var values = [MovedValue](repeating: MovedValue(dump: nil, expiresAt: -2), count: keys.count)
    for (number, node) in target.nodes.enumerated() {
      let places = keys.indices.filter { target.node(of: keys[$0]) == number }
      let found = try await Self.values(of: places.map { keys[$0] }, at: node)
      for (place, value) in zip(places, found) { values[place] = value }
    }
    return values
  }
}

extension Array {
  func chunks(of count: Int) -> [[Element]] {
    stride(from: 0, to: self.count, by: count).map {
      Array(self[$0..<Swift.min($0 + count, self.count)])
    }
  }
}
