package import BelfryModel
import BelfryRedis

/// What an account's device is pushed to by, as it is kept.
package struct PusherRecord: Sendable, Hashable {
  package var device: DeviceID
  package var text: String

  package init(device: DeviceID, text: String) {
    self.device = device
    self.text = text
  }
}

/// Something that push has to do, in words, and when it is due, milliseconds since 1970.
package struct DuePush: Sendable, Hashable {
  package var text: String
  package var dueAtMilliseconds: Int64

  package init(text: String, dueAtMilliseconds: Int64) {
    self.text = text
    self.dueAtMilliseconds = dueAtMilliseconds
  }
}

/// What came of something that was due: it is done, and perhaps something is to be done later.
package struct SettledPush: Sendable, Hashable {
  package var push: DuePush
  package var later: [DuePush]

  package init(_ push: DuePush, later: [DuePush] = []) {
    self.push = push
    self.later = later
  }
}

/// Pushers, and what push has to do; `Functions/push.lua` says how it is kept.
extension RedisStore {
  // MARK: Whether anybody has a pusher

  /// Nil while nobody has a pusher; another word each time that it begins.
  package func pushWord() async throws(StoreError) -> String? {
    let reply = try await pipeline([RedisCommand("GET", RedisLayout.push)], at: "push")[0]
    return try reading(at: "push") { () throws(RedisError) in try reply.ifPresent?.string() }
  }

  /// From now on what is appended is copied for push, in every partition.
  package func beginPush(word: String) async throws(StoreError) {
    _ = try await callEverywhere(.beginCopies, .push)
    try Self.refuseErrors(
      try await pipeline([RedisCommand("SET", RedisLayout.push, word)], at: "push"), at: "push")
  }

  /// Nothing more is copied for push, if nobody has a pusher. Whoever gives an account its first one at the same time finds
  /// another word afterwards, and begins again.
  ///
  /// Where somebody has one, the copies are begun in every partition once more: a broker that began push while another
  /// ended it may have been overtaken.
  package func endPushIfUnused(word: String) async throws(StoreError) {
    guard try await isPushUnused() else {
      _ = try await callEverywhere(.beginCopies, .push)
      return
    }
    try Self.refuseErrors(try await pipeline([RedisCommand("DEL", RedisLayout.push)], at: "push"), at: "push")
    _ = try await callEverywhere(.endCopies, .push)
    guard try await isPushUnused() else { return try await beginPush(word: word) }
  }

  private func isPushUnused() async throws(StoreError) -> Bool {
    let commands = partitions.all.map { RedisCommand("EXISTS", layout.accountsPushed($0)) }
    let replies = try await pipeline(commands, at: "push")
    return try reading(at: "push") { () throws(RedisError) in
      for reply in replies where try reply.integer() > 0 { return false }
      return true
    }
  }

  // MARK: Pushers

  /// - Returns: false where the account has as many as it may.
  package func putPusher(_ record: PusherRecord, of account: AccountID) async throws(StoreError) -> Bool {
    var command = layout.call(.putPusher, in: layout.partition(of: account))
    command.append(account.text)
    command.append(record.device.text)
    command.append(record.text)
    command.append(Limits.pushersPerAccount)
    let reply = try await call(command, at: "pushers of \(account)")
    return try reading(at: "pushers of \(account)") { () throws(RedisError) in try reply.string() != "full" }
  }

  /// - Parameter text: nil: whatever it is; otherwise only if it is that one still.
  /// - Returns: whether it was there.
  package func removePusher(
    of device: DeviceID, _ account: AccountID, ifStill text: String? = nil
  ) async throws(StoreError) -> Bool {
    var command = layout.call(.removePusher, in: layout.partition(of: account))
    command.append(account.text)
    command.append(device.text)
    command.append(text ?? "")
    let reply = try await call(command, at: "pushers of \(account)")
    return try reading(at: "pushers of \(account)") { () throws(RedisError) in
      try reply.string() == "removed"
    }
  }

  /// Those of each account, by device.
  package func pushers(of accounts: [AccountID]) async throws(StoreError) -> [[PusherRecord]] {
    let commands = accounts.map { RedisCommand("HGETALL", layout.pushers(of: $0)) }
    let replies = try await pipeline(commands, at: "pushers")
    return try reading(at: "pushers") { () throws(RedisError) in
      try replies.map { reply throws(RedisError) in
        let fields = try reply.array()
        var records: [PusherRecord] = []
        for index in stride(from: 0, to: fields.count - 1, by: 2) {
          guard let device = DeviceID(try fields[index].string()) else { continue }
          records.append(PusherRecord(device: device, text: try fields[index + 1].string()))
        }
        return records.sorted { $0.device.text < $1.device.text }
      }
    }
  }

  /// Those of the accounts that have any pushers: one command for each partition that holds some of them.
  package func withPushers(among accounts: [AccountID]) async throws(StoreError) -> [AccountID] {
    try await pick(accounts, "SMISMEMBER", layout.accountsPushed) { reply throws(RedisError) in
      try reply.integer() == 1
    }
  }

  private func pick(
    _ accounts: [AccountID], _ name: String, _ key: (Partition) -> String,
    where isPicked: (RedisReply) throws(RedisError) -> Bool
  ) async throws(StoreError) -> [AccountID] {
    let groups = Dictionary(grouping: accounts) { layout.partition(of: $0) }.map { $0 }
    let commands = groups.map { partition, accounts in
      var command = RedisCommand(name, key(partition))
      for account in accounts { command.append(account.text) }
      return command
    }
    let replies = try await pipeline(commands, at: "pushers")
    return try reading(at: "pushers") { () throws(RedisError) in
      var found: [AccountID] = []
      for (group, reply) in zip(groups, replies) {
        for (account, one) in zip(group.value, try reply.array(count: group.value.count))
        where try isPicked(one) {
          found.append(account)
        }
      }
      return found
    }
  }

  // MARK: Badges

  /// What gateways were told last of how many are unread.
  package enum KnownBadge: Sendable, Hashable {
    /// Nothing, or that nothing is.
    case none
    case unread(Int)
    /// They are being told, or nobody knows which of two numbers arrived last.
    case uncertain
  }

  /// Gateways are about to be told a number, which is counted next. From now on a mark has it corrected, whichever
  /// it is going to be.
  ///
  /// - Parameters:
  ///   - mark: names this telling in ``noteBadge(_:of:since:)``.
  ///   - onlyIfKnown: nothing begins where they were told nothing.
  /// - Returns: what was known before.
  @discardableResult
  package func beginBadge(
    of account: AccountID, mark: String, onlyIfKnown: Bool = false
  ) async throws(StoreError) -> KnownBadge {
    var command = layout.call(.beginBadge, in: layout.partition(of: account))
    command.append(account.text)
    command.append(mark)
    command.append(onlyIfKnown ? 0 : 1)
    let reply = try await call(command, at: "badges")
    let text = try reading(at: "badges") { () throws(RedisError) in try reply.string() }
    return text.isEmpty ? .none : Int(text).map { .unread($0) } ?? .uncertain
  }

  /// They were told it.
  /// - Returns: false if others have told them a number since the telling began.
  package func noteBadge(
    _ unread: Int, of account: AccountID, since mark: String
  ) async throws(StoreError) -> Bool {
    var command = layout.call(.noteBadge, in: layout.partition(of: account))
    command.append(account.text)
    command.append(mark)
    command.append(unread)
    let reply = try await call(command, at: "badges")
    return try reading(at: "badges") { () throws(RedisError) in try reply.string() == "noted" }
  }

  /// Those of the accounts whose gateways were told a number: one command for each partition that holds some of them.
  package func withBadges(among accounts: [AccountID]) async throws(StoreError) -> [AccountID] {
    try await pick(accounts, "HMGET", layout.badges) { $0.ifPresent != nil }
  }

  // MARK: What is to be done

  /// Writes how far push has come, and what is to be done for what it has come past, in one step.
  /// - Returns: false when the lease is lost: then nothing was written.
  package func savePush(
    in partition: Partition, by owner: String, milliseconds: Int, _ state: CopyReaderState,
    before: CopyReaderState, entering pushes: [DuePush] = []
  ) async throws(StoreError) -> Bool {
    let changes = state.changes(since: before)
    var command = layout.call(.savePush, in: partition)
    command.append(owner)
    command.append(milliseconds)
    command.append(state.generation)
    command.append(2 * changes.count)
    for (field, text) in changes {
      command.append(field)
      command.append(text)
    }
    for push in pushes {
      command.append(push.dueAtMilliseconds)
      command.append(push.text)
    }
    let reply = try await call(command, at: "push")
    return try reading(at: "push") { () throws(RedisError) in try reply.string() == "saved" }
  }

  /// Of each partition what is due by now, the oldest first, at most so many pushes and so many corrections.
  package func duePushes(
    in partitions: [Partition], nowMilliseconds now: Int64, limit: Int
  ) async throws(StoreError) -> [[DuePush]] {
    let commands = partitions.flatMap { partition in
      [layout.pushes(partition), layout.corrections(partition)].map {
        RedisCommand("ZRANGEBYSCORE", $0, "-inf", now, "WITHSCORES", "LIMIT", 0, limit)
      }
    }
    let replies = try await pipeline(commands, at: "push")
    return try reading(at: "push") { () throws(RedisError) in
      try partitions.indices.map { index throws(RedisError) in
        let (pushes, corrections) = (try Self.due(replies[2 * index]), try Self.due(replies[2 * index + 1]))
        return corrections.isEmpty
          ? pushes : (pushes + corrections).sorted { $0.dueAtMilliseconds < $1.dueAtMilliseconds }
      }
    }
  }

  private static func due(_ reply: RedisReply) throws(RedisError) -> [DuePush] {
    let words = try reply.array()
    var due: [DuePush] = []
    for index in stride(from: 0, to: words.count - 1, by: 2) {
      let time = Int64(try words[index + 1].string()) ?? 0
      due.append(DuePush(text: try words[index].string(), dueAtMilliseconds: time))
    }
    return due
  }

  /// - Returns: how many were given up because too many wait.
  package func settlePushes(
    _ settled: [SettledPush], in partition: Partition, waitingMax: Int
  ) async throws(StoreError) -> Int {
    var command = layout.call(.settlePushes, in: partition)
    command.append(waitingMax)
    command.append(estimatedMilliseconds ?? 0)
    for one in settled {
      command.append(one.push.text)
      command.append(one.push.dueAtMilliseconds)
      command.append(one.later.count)
      for push in one.later {
        command.append(push.dueAtMilliseconds)
        command.append(push.text)
      }
    }
    let reply = try await call(command, at: "push")
    return Int(try reading(at: "push") { () throws(RedisError) in try reply.integer() })
  }
}
