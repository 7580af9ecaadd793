import BelfryBytes
package import BelfryModel
import BelfryRedis

/// How an endpoint fares. Times are in milliseconds since 1970.
package struct WebhookHealth: Sendable, Hashable {
  /// Since when nothing could be delivered; nil if the last try was a success.
  package var failingSince: Int64?
  package var failedAt: Int64?
  /// Why, in words.
  package var failure: String?

  package init(failingSince: Int64? = nil, failedAt: Int64? = nil, failure: String? = nil) {
    (self.failingSince, self.failedAt, self.failure) = (failingSince, failedAt, failure)
  }
}

/// Webhook endpoints, and what each has had. All brokers share it.
extension RedisStore {
  // MARK: Endpoints

  /// Another one whenever endpoints or what is known of them may have changed.
  package func webhooksVersion() async throws(StoreError) -> String {
    let reply = try await pipeline(
      [RedisCommand("HGET", RedisLayout.webhooks, RedisLayout.keysVersion)], at: "webhooks")[0]
    return try reading(at: "webhooks") { () throws(RedisError) in try reply.ifPresent?.string() ?? "" }
  }

  /// Records by id.
  package func webhooks() async throws(StoreError) -> [(id: String, text: String)] {
    let reply = try await pipeline([RedisCommand("HGETALL", RedisLayout.webhooks)], at: "webhooks")[0]
    return try reading(at: "webhooks") { () throws(RedisError) in
      let fields = try reply.array()
      var records: [(id: String, text: String)] = []
      for index in stride(from: 0, to: fields.count - 1, by: 2) {
        let name = try fields[index].string()
        if name != RedisLayout.keysVersion { records.append((name, try fields[index + 1].string())) }
      }
      return records
    }
  }

  /// Adds an endpoint. It is copied for in every partition before its record is there.
  /// - Returns: false if there are as many as there may be.
  package func addWebhook(
    _ id: EntityID, _ record: String, countMax: Int, version: String
  ) async throws(StoreError) -> Bool {
    _ = try await callEverywhere(.beginCopies, .webhook(id))
    let answer = try await putWebhook(id, record, ifStill: "", countMax: countMax, version: version)
    if answer == "written" { return true }
    _ = try await callEverywhere(.endCopies, .webhook(id))
    return false
  }

  /// Writes an endpoint's record, if the one that is kept is still the one that was read.
  /// - Returns: false if it is not: then nothing was written.
  package func changeWebhook(
    _ id: EntityID, _ record: String, ifStill expected: String, version: String
  ) async throws(StoreError) -> Bool {
    try await putWebhook(id, record, ifStill: expected, countMax: 0, version: version) == "written"
  }

  private func putWebhook(
    _ id: EntityID, _ record: String, ifStill expected: String, countMax: Int, version: String
  ) async throws(StoreError) -> String {
    var command = RedisLayout.call(.putWebhook, on: RedisLayout.webhooks)
    command.append(id.text)
    command.append(expected)
    command.append(record)
    command.append(version)
    command.append(countMax)
    let reply = try await call(command, at: "webhooks")
    return try reading(at: "webhooks") { () throws(RedisError) in try reply.string() }
  }

  /// - Returns: whether there was one.
  package func removeWebhook(_ id: EntityID, version: String) async throws(StoreError) -> Bool {
    let replies = try await pipeline(
      [
        RedisCommand("HDEL", RedisLayout.webhooks, id.text),
        RedisCommand("HSET", RedisLayout.webhooks, RedisLayout.keysVersion, version),
        RedisCommand("UNLINK", RedisLayout.webhookHealth(id)),
      ], at: "webhooks")
    try Self.refuseErrors(replies, at: "webhooks")
    _ = try await callEverywhere(.endCopies, .webhook(id))
    return try reading(at: "webhooks") { () throws(RedisError) in try replies[0].integer() == 1 }
  }

  // MARK: How endpoints fare

  package func webhookHealths(of ids: [EntityID]) async throws(StoreError) -> [WebhookHealth] {
    let commands = ids.map {
      RedisCommand("HMGET", RedisLayout.webhookHealth($0), "failingSince", "failedAt", "failure")
    }
    let replies = try await pipeline(commands, at: "webhooks")
    return try reading(at: "webhooks") { () throws(RedisError) in
      try replies.map { reply throws(RedisError) -> WebhookHealth in
        let values = try reply.array(count: 3)
        return WebhookHealth(
          failingSince: Int64(try values[0].ifPresent?.string() ?? ""),
          failedAt: Int64(try values[1].ifPresent?.string() ?? ""), failure: try values[2].ifPresent?.string()
        )
      }
    }
  }

  /// Takes note of a failure.
  /// - Parameter gap: a failure so many milliseconds after the last one begins a new run.
  /// - Returns: since when there have been nothing but failures, milliseconds since 1970.
  package func noteWebhookFailure(
    _ id: EntityID, _ cause: String, nowMilliseconds: Int64, gapMilliseconds gap: Int64
  ) async throws(StoreError) -> Int64 {
    var command = RedisLayout.call(.noteWebhookFailure, on: RedisLayout.webhookHealth(id))
    command.append(nowMilliseconds)
    command.append(cause)
    command.append(gap)
    let reply = try await call(command, at: "webhooks")
    return try reading(at: "webhooks") { () throws(RedisError) in
      Int64(try reply.string()) ?? nowMilliseconds
    }
  }

  /// Since when there have been nothing but failures, of each, milliseconds since 1970; nil where something was delivered.
  package func webhooksFailingSince(_ ids: [EntityID]) async throws(StoreError) -> [Int64?] {
    let commands = ids.map { RedisCommand("HGET", RedisLayout.webhookHealth($0), "failingSince") }
    let replies = try await pipeline(commands, at: "webhooks")
    return try reading(at: "webhooks") { () throws(RedisError) in
      try replies.map { reply throws(RedisError) -> Int64? in
        guard let since = reply.ifPresent else { return nil }
        return Int64(try since.string())
      }
    }
  }

  /// Ends a run of failures.
  package func endWebhookFailures(_ id: EntityID) async throws(StoreError) {
    _ = try await pipeline(
      [RedisCommand("HDEL", RedisLayout.webhookHealth(id), "failingSince")], at: "webhooks")
  }

  // MARK: Delivering

  /// Delivers again what was appended from a time on, and after an id in that id's partition.
  package func replayWebhook(_ id: EntityID, from first: MessageID, version: String)
    async throws(StoreError)
  {
    let start = MessageID(firstAtUnixMilliseconds: first.unixMilliseconds)
    var left = partitions.all
    var replies = try await callEverywhere(.replayCopies, .webhook(id)) { partition in
      (first.partition == partition && first > start ? first.predecessor : start.predecessor).streamForm
    }
    while true {
      left = try Self.unfinished(left, replies)
      if left.isEmpty { break }
      replies = try await callReader(.replayCopies, .webhook(id), in: left) { _ in "" }
    }
    let note = RedisCommand("HSET", RedisLayout.webhooks, RedisLayout.keysVersion, version)
    try Self.refuseErrors(try await pipeline([note], at: "webhooks"), at: "webhooks")
  }

  /// The partitions in which a replay has more spaces to go back in than one call does.
  private static func unfinished(
    _ partitions: [Partition], _ replies: [RedisReply]
  ) throws(StoreError) -> [Partition] {
    try reading(at: "webhooks") { () throws(RedisError) in
      var unfinished: [Partition] = []
      for (partition, reply) in zip(partitions, replies) where try reply.string() == "more" {
        unfinished.append(partition)
      }
      return unfinished
    }
  }

  /// All that an endpoint is behind with is due at once.
  package func hastenWebhook(_ id: EntityID, version: String) async throws(StoreError) {
    _ = try await callEverywhere(.hastenCopies, .webhook(id))
    let note = RedisCommand("HSET", RedisLayout.webhooks, RedisLayout.keysVersion, version)
    try Self.refuseErrors(try await pipeline([note], at: "webhooks"), at: "webhooks")
  }

  /// Since when the oldest waits that an endpoint has yet to have, milliseconds since 1970; nil if nothing does.
  package func oldestWaiting(_ id: EntityID) async throws(StoreError) -> Int64? {
    let reader = CopyReader.webhook(id)
    let states = try await pipeline(
      partitions.all.map { RedisCommand("HGET", layout.copyReaderState(reader, in: $0), "position") },
      at: "webhooks")
    let waiting = try await pipeline(
      partitions.all.map { RedisCommand("ZRANGE", layout.copiesWaiting(reader, in: $0), 0, 0, "WITHSCORES") },
      at: "webhooks")
    var oldest: Int64?
    for reply in waiting {
      let time = try reading(at: "webhooks") { () throws(RedisError) -> Int64? in
        let first = try reply.array()
        return first.count == 2 ? Int64(try first[1].string()) : nil
      }
      if let time { oldest = min(oldest ?? .max, time) }
    }
    var commands: [RedisCommand] = []
    for (partition, reply) in zip(partitions.all, states) {
      let position = try reading(at: "webhooks") { () throws(RedisError) in try reply.ifPresent?.string() }
      guard let position else { continue }
      commands.append(RedisCommand("XRANGE", layout.copies(partition), "(" + position, "+", "COUNT", 1))
    }
    for reply in try await pipeline(commands, at: "webhooks") {
      let first = try reading(at: "webhooks") { () throws(RedisError) in
        try reply.array().first.map { element throws(RedisError) in try element.array(count: 2)[0].string() }
      }
      if let id = first.flatMap({ MessageID(streamForm: $0) }) {
        oldest = min(oldest ?? .max, id.unixMilliseconds)
      }
    }
    return oldest
  }
}
