import BelfryBytes
package import BelfryModel
import BelfryRedis

/// A space of which something could not be delivered yet, while others go on.
package struct WebhookDelay: Sendable, Hashable {
  /// The first copy of the space that is undelivered.
  package var id: MessageID
  /// How often it was tried.
  package var attempts: Int
  /// When it is tried again, milliseconds since 1970.
  package var dueAtMilliseconds: Int64

  package init(id: MessageID, attempts: Int, dueAtMilliseconds: Int64) {
    self.id = id
    self.attempts = attempts
    self.dueAtMilliseconds = dueAtMilliseconds
  }
}

/// How far an endpoint has had the copies of a partition.
package struct WebhookState: Sendable, Hashable {
  /// All copies up to this one are delivered, or of a space that is behind.
  package var position: MessageID
  /// How many copies there had been up to the position; nil after a replay, until all are delivered.
  package var count: Int64?
  package var generation: String
  /// How many copies fell out of retention undelivered, of which the receiver has yet to be told.
  package var lost: Int64 = 0
  package var behind: [SpaceID: WebhookDelay] = [:]

  package init(position: MessageID, count: Int64?, generation: String) {
    self.position = position
    self.count = count
    self.generation = generation
  }
}

/// What whoever holds the lease begins with.
package struct WebhookClaim: Sendable, Hashable {
  package var state: WebhookState
  /// How many copies there have been in all, and how many there are.
  package var added: Int64
  package var length: Int64
  /// The last of them.
  package var last: MessageID
}

/// An entry of a log as it is copied for webhooks.
package struct WebhookCopy: Sendable, Hashable {
  package var id: MessageID
  package var space: SpaceID
  /// The notification's content as JSON, an object; with what became of it, in an update.
  package var content: ArraySlice<UInt8>
  /// The notification that this is an update of, and when it was updated.
  package var updates: MessageID?
  package var updateTime: Int64?

  /// Whether it says that the notification was recalled: then there is no content.
  package var isRecall: Bool { content.isEmpty && updates != nil }

  /// As consumers receive it; of a recall, which notification it was.
  package var notification: [UInt8] {
    var bytes: [UInt8] = []
    if isRecall, let updates {
      bytes.append("{\"messageServerId\":\"")
      bytes.append(decimal: updates.raw)
      bytes.append("\"}")
      return bytes
    }
    LogEntry(
      id: id, audience: Audience(.named), content: content, updateTime: updateTime, updates: updates
    ).appendNotification(to: &bytes)
    return bytes
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

  /// Writes an endpoint's record. A new one is copied for in every partition before its record is there.
  package func putWebhook(_ id: EntityID, _ record: String, isNew: Bool, version: String)
    async throws(StoreError)
  {
    if isNew { _ = try await callEverywhere(.beginWebhook, id) }
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
    _ = try await callEverywhere(.endWebhook, id)
    return try reading(at: "webhooks") { () throws(RedisError) in try replies[0].integer() == 1 }
  }

  private func callEverywhere(
    _ function: StoreFunction, _ id: EntityID, _ argument: (Partition) -> String? = { _ in nil }
  ) async throws(StoreError) -> [RedisReply] {
    let replies = try await call(
      partitions.all.map { partition in
        var command = layout.call(function, in: partition)
        command.append(id.text)
        if let argument = argument(partition) { command.append(argument) }
        return command
      }, at: "webhooks")
    try Self.refuseErrors(replies, at: "webhooks")
    return replies
  }

  private static func refuseErrors(_ replies: [RedisReply], at place: String) throws(StoreError) {
    for case .error(let message) in replies {
      throw StoreError(RedisError.replied(message, to: place), at: place)
    }
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

  /// The lease of an endpoint in a partition, and what it has had; nil where another broker has it.
  package func claimWebhook(
    _ id: EntityID, in partition: Partition, by owner: String, milliseconds: Int
  ) async throws(StoreError) -> WebhookClaim? {
    var command = layout.call(.claimWebhook, in: partition)
    command.append(id.text)
    command.append(owner)
    command.append(milliseconds)
    let reply = try await call(command, at: "webhook \(id)")
    return try reading(at: "webhook \(id)") { () throws(RedisError) in
      let parts = try reply.array()
      guard parts.count == 4 else { return nil }
      return WebhookClaim(
        state: try WebhookState(parts[3]), added: Int64(try parts[0].string()) ?? 0,
        length: Int64(try parts[1].string()) ?? 0,
        last: MessageID(streamForm: try parts[2].string()) ?? .zero)
    }
  }

  /// Writes what has changed, and keeps the lease for so long; with 0 it is given back.
  /// - Returns: false when the lease is lost, or there was a replay: then nothing was written.
  package func saveWebhook(
    _ id: EntityID, in partition: Partition, by owner: String, milliseconds: Int, _ state: WebhookState,
    before: WebhookState
  ) async throws(StoreError) -> Bool {
    var command = layout.call(.saveWebhook, in: partition)
    command.append(id.text)
    command.append(owner)
    command.append(milliseconds)
    command.append(state.generation)
    for (field, text) in state.changes(since: before) {
      command.append(field)
      command.append(text)
    }
    let reply = try await call(command, at: "webhook \(id)")
    return try reading(at: "webhook \(id)") { () throws(RedisError) in try reply.string() == "saved" }
  }

  /// Copies after an id, oldest first.
  package func webhookCopies(
    in partition: Partition, after: MessageID, through: MessageID = .last, limit: Int
  ) async throws(StoreError) -> [WebhookCopy] {
    var command = RedisCommand("XRANGE", layout.copies(partition))
    command.append("(" + after.streamForm)
    command.append(through == .last ? "+" : through.streamForm)
    command.append("COUNT")
    command.append(limit)
    let reply = try await pipeline([command], at: "copies")[0]
    return try reading(at: "copies") { () throws(RedisError) in
      var copies: [WebhookCopy] = []
      for element in try reply.array() {
        let parts = try element.array(count: 2)
        let fields = try parts[1].array()
        var copy: WebhookCopy?
        if let id = MessageID(streamForm: try parts[0].string()) { copy = try WebhookCopy(id, fields) }
        if let copy { copies.append(copy) }
      }
      return copies
    }
  }

  /// Delivers again what was appended from a time on, and after an id in that id's partition.
  package func replayWebhook(_ id: EntityID, from first: MessageID, version: String)
    async throws(StoreError)
  {
    let start = MessageID(firstAtUnixMilliseconds: first.unixMilliseconds)
    _ = try await callEverywhere(.replayWebhook, id) { partition in
      (first.partition == partition && first > start ? first.predecessor : start.predecessor).streamForm
    }
    let note = RedisCommand("HSET", RedisLayout.webhooks, RedisLayout.keysVersion, version)
    try Self.refuseErrors(try await pipeline([note], at: "webhooks"), at: "webhooks")
  }

  /// For how many partitions something waits for an endpoint, and since when; nil if nothing does.
  package func oldestWaiting(_ id: EntityID) async throws(StoreError) -> Int64? {
    let states = try await pipeline(
      partitions.all.map { RedisCommand("HGETALL", layout.webhookState(id, in: $0)) }, at: "webhooks")
    var commands: [RedisCommand] = []
    var oldest: Int64?
    for (partition, reply) in zip(partitions.all, states) {
      let state = try reading(at: "webhooks") { () throws(RedisError) in try? WebhookState(reply) }
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

// MARK: - As it is kept

extension WebhookState {
  private static let behindPrefix = "behind:"

  fileprivate init(_ reply: RedisReply) throws(RedisError) {
    let fields = try reply.array()
    self.init(position: .zero, count: nil, generation: "")
    for index in stride(from: 0, to: fields.count - 1, by: 2) {
      let (name, text) = (try fields[index].string(), try fields[index + 1].string())
      switch name {
      case "position": position = MessageID(streamForm: text) ?? .zero
      case "count": count = Int64(text)
      case "generation": generation = text
      case "lost": lost = Int64(text) ?? 0
      default:
        guard name.hasPrefix(Self.behindPrefix),
          let space = SpaceID(key: name.dropFirst(Self.behindPrefix.count)), let delay = WebhookDelay(text)
        else { continue }
        behind[space] = delay
      }
    }
    if generation.isEmpty {
      throw RedisError(.unexpectedReply, cause: "wanted the state of a webhook", place: "reply")
    }
  }

  /// Fields and texts to write; an empty text for one that goes.
  fileprivate func changes(since before: WebhookState) -> [(field: String, text: String)] {
    var changes: [(field: String, text: String)] = []
    if position != before.position { changes.append(("position", position.streamForm)) }
    if count != before.count { changes.append(("count", count.map { String($0) } ?? "?")) }
    if lost != before.lost { changes.append(("lost", lost == 0 ? "" : String(lost))) }
    for (space, delay) in behind where before.behind[space] != delay {
      changes.append((Self.behindPrefix + space.key, delay.text))
    }
    for space in before.behind.keys where behind[space] == nil {
      changes.append((Self.behindPrefix + space.key, ""))
    }
    return changes
  }
}

extension WebhookDelay {
  fileprivate var text: String { "\(id.streamForm) \(attempts) \(dueAtMilliseconds)" }

  fileprivate init?(_ text: String) {
    let parts = text.split(separator: " ")
    guard parts.count == 3, let id = MessageID(streamForm: parts[0]), let attempts = Int(parts[1]),
      let due = Int64(parts[2])
    else { return nil }
    self.init(id: id, attempts: attempts, dueAtMilliseconds: due)
  }
}

extension WebhookCopy {
  fileprivate init?(_ id: MessageID, _ fields: RedisReplies) throws(RedisError) {
    var space: SpaceID?
    var content: ArraySlice<UInt8>?
    var updates: MessageID?
    var updateTime: Int64?
    for index in stride(from: 0, to: fields.count - 1, by: 2) {
      let value = try fields[index + 1].bytes()
      switch try fields[index].string() {
      case "space": space = SpaceID(keyBytes: value)
      case "updates": updates = MessageID(streamBytes: value)
      case "updateTime": updateTime = Int64(String(decoding: value, as: UTF8.self))
      // The audience with the notification, as in a log.
      default: content = value
      }
    }
    guard let space, let content else { return nil }
    self.init(id: id, space: space, content: content, updates: updates, updateTime: updateTime)
  }
}
