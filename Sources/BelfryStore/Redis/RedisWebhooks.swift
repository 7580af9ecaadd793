import BelfryBytes
package import BelfryModel
import BelfryRedis

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

  /// Writes an endpoint's record. A new one is copied for in every partition before its record is there.
  package func putWebhook(_ id: EntityID, _ record: String, isNew: Bool, version: String)
    async throws(StoreError)
  {
    if isNew { _ = try await callEverywhere(.beginCopies, .webhook(id)) }
    let write = RedisCommand("HSET", RedisLayout.webhooks, id.text, record, RedisLayout.keysVersion, version)
    try Self.refuseErrors(try await pipeline([write], at: "webhooks"), at: "webhooks")
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

  /// By name: `failingSince`, `failedAt`, `failure`, `disabled`.
  package func webhookHealth(_ id: EntityID) async throws(StoreError) -> [String: String] {
    let reply = try await pipeline([RedisCommand("HGETALL", RedisLayout.webhookHealth(id))], at: "webhooks")[
      0]
    return try reading(at: "webhooks") { () throws(RedisError) in
      let fields = try reply.array()
      var found: [String: String] = [:]
      for index in stride(from: 0, to: fields.count - 1, by: 2) {
        found[try fields[index].string()] = try fields[index + 1].string()
      }
      return found
    }
  }

  /// Takes note of a failure.
  /// - Returns: since when it has failed, milliseconds since 1970.
  package func noteWebhookFailure(_ id: EntityID, _ cause: String, nowMilliseconds: Int64)
    async throws(StoreError) -> Int64
  {
    let key = RedisLayout.webhookHealth(id)
    let replies = try await pipeline(
      [
        RedisCommand("HSETNX", key, "failingSince", nowMilliseconds),
        RedisCommand("HSET", key, "failedAt", nowMilliseconds, "failure", cause),
        RedisCommand("HGET", key, "failingSince"),
      ], at: "webhooks")
    return try reading(at: "webhooks") { () throws(RedisError) in
      Int64(try replies[2].ifPresent?.string() ?? "") ?? nowMilliseconds
    }
  }

  package func noteWebhookSuccess(_ id: EntityID) async throws(StoreError) {
    _ = try await pipeline(
      [RedisCommand("HDEL", RedisLayout.webhookHealth(id), "failingSince")], at: "webhooks")
  }

  /// - Parameter because: nil: it is not disabled any more.
  package func disableWebhook(_ id: EntityID, because cause: String?, version: String)
    async throws(StoreError)
  {
    let key = RedisLayout.webhookHealth(id)
    let command =
      cause.map { RedisCommand("HSET", key, "disabled", $0) }
      ?? RedisCommand("HDEL", key, "disabled", "failingSince")
    let note = RedisCommand("HSET", RedisLayout.webhooks, RedisLayout.keysVersion, version)
    _ = try await pipeline([command, note], at: "webhooks")
  }

  // MARK: Delivering

  /// Delivers again what was appended from a time on, and after an id in that id's partition.
  package func replayWebhook(_ id: EntityID, from first: MessageID, version: String)
    async throws(StoreError)
  {
    let start = MessageID(firstAtUnixMilliseconds: first.unixMilliseconds)
    _ = try await callEverywhere(.replayCopies, .webhook(id)) { partition in
      (first.partition == partition && first > start ? first.predecessor : start.predecessor).streamForm
    }
    let note = RedisCommand("HSET", RedisLayout.webhooks, RedisLayout.keysVersion, version)
    try Self.refuseErrors(try await pipeline([note], at: "webhooks"), at: "webhooks")
  }

  /// For how many partitions something waits for an endpoint, and since when; nil if nothing does.
  package func oldestWaiting(_ id: EntityID) async throws(StoreError) -> Int64? {
    let states = try await pipeline(
      partitions.all.map { RedisCommand("HGETALL", layout.copyReaderState(.webhook(id), in: $0)) },
      at: "webhooks")
    var commands: [RedisCommand] = []
    var oldest: Int64?
    for (partition, reply) in zip(partitions.all, states) {
      let state = try reading(at: "webhooks") { () throws(RedisError) in try? CopyReaderState(reply) }
      guard let state else { continue }
      for delay in state.behind.values { oldest = min(oldest ?? .max, delay.id.unixMilliseconds) }
      commands.append(
        RedisCommand(
          "XRANGE", layout.copies(partition), "(" + state.position.streamForm, "+", "COUNT", 1))
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
