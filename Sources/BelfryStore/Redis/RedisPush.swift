package import BelfryModel
import BelfryRedis

/// The record of a pusher: the way to push to an account's device.
package struct PusherRecord: Sendable, Hashable {
  package var device: DeviceID
  package var text: String
  /// Nil if the last push to it was accepted, or none was tried.
  package var failure: PushFailure?

  package init(device: DeviceID, text: String) {
    self.device = device
    self.text = text
  }
}

/// A task of push, in words, and when it is due, milliseconds since 1970.
package struct DuePush: Sendable, Hashable {
  package var text: String
  package var dueAtMilliseconds: Int64

  package init(text: String, dueAtMilliseconds: Int64) {
    self.text = text
    self.dueAtMilliseconds = dueAtMilliseconds
  }
}

/// The outcome of a due task: it is done, and other tasks may take its place later.
package struct SettledPush: Sendable, Hashable {
  package var push: DuePush
  package var later: [DuePush]
  /// True if nothing was tried and the same task is looked at later. It is no retry because of that.
  package var isPutOff: Bool

  package init(_ push: DuePush, later: [DuePush] = [], isPutOff: Bool = false) {
    self.push = push
    self.later = later
    self.isPutOff = isPutOff
  }
}

/// How many retries may wait in a partition.
package struct PushRetryLimits: Sendable, Hashable {
  package var ofPartition: Int
  package var ofAccount: Int

  package init(ofPartition: Int, ofAccount: Int) {
    self.ofPartition = ofPartition
    self.ofAccount = ofAccount
  }
}

/// Pushers, and the tasks of push; `Functions/pushers.lua` and `Functions/push.lua` describe their keys.
extension RedisStore {
  // MARK: The word that says that there are pushers

  /// Nil while no account has a pusher. It is a new word each time that push begins.
  package func pushWord() async throws(StoreError) -> String? {
    let reply = try await pipeline([RedisCommand("GET", RedisLayout.push)], at: "push")[0]
    return try reading(at: "push") { () throws(RedisError) in try reply.ifPresent?.string() }
  }

  /// Begins to copy entries for push, in every partition.
  package func beginPush(word: String) async throws(StoreError) {
    _ = try await callEverywhere(.beginCopies, .push)
    try Self.refuseErrors(
      try await pipeline([RedisCommand("SET", RedisLayout.push, word)], at: "push"), at: "push")
  }

  /// Stops copying for push, if no account has a pusher. If an account gets its first pusher at the same
  /// time, its caller finds another word afterwards, and begins again.
  ///
  /// If an account has a pusher, the copies are begun in every partition once more: a broker that began push
  /// while another ended it may have been overtaken.
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

  /// - Returns: false if the account has as many pushers as it may.
  package func putPusher(_ record: PusherRecord, of account: AccountID) async throws(StoreError) -> Bool {
    var command = layout.call(.putPusher, in: layout.partition(of: account))
    command.append(account.text)
    command.append(record.device.text)
    command.append(record.text)
    command.append(Limits.pushersPerAccount)
    let reply = try await call(command, at: "pushers of \(account)")
    return try reading(at: "pushers of \(account)") { () throws(RedisError) in try reply.string() != "full" }
  }

  /// - Parameter text: removes the pusher only if it still has this text; nil: in any case.
  /// - Returns: true if it was there.
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

  /// Keeps a failure with its pusher, unless that was replaced or removed meanwhile.
  package func notePushFailure(_ record: PusherRecord, of account: AccountID) async throws(StoreError) {
    guard let failure = record.failure else { return }
    var command = layout.call(.notePushFailure, in: layout.partition(of: account))
    command.append(account.text)
    command.append(record.device.text)
    command.append(record.text)
    command.append(failure.text)
    _ = try await call(command, at: "pushers of \(account)")
  }

  /// A push was accepted after a failure.
  package func endPushFailure(of device: DeviceID, _ account: AccountID) async throws(StoreError) {
    let command = RedisCommand("HDEL", layout.pushers(of: account), PushFailure.mark + device.text)
    try Self.refuseErrors(
      try await pipeline([command], at: "pushers of \(account)"), at: "pushers of \(account)")
  }

  /// The pushers of each account, by device.
  package func pushers(of accounts: [AccountID]) async throws(StoreError) -> [[PusherRecord]] {
    let commands = accounts.map { RedisCommand("HGETALL", layout.pushers(of: $0)) }
    let replies = try await pipeline(commands, at: "pushers")
    return try reading(at: "pushers") { () throws(RedisError) in
      try replies.map { reply throws(RedisError) in
        let fields = try reply.array()
        var records: [PusherRecord] = []
        var failures: [String: PushFailure] = [:]
        for index in stride(from: 0, to: fields.count - 1, by: 2) {
          let (name, text) = (try fields[index].string(), try fields[index + 1].string())
          if let device = DeviceID(name) {
            records.append(PusherRecord(device: device, text: text))
          } else {
            failures[name] = PushFailure(text: text)
          }
        }
        for index in records.indices where !failures.isEmpty {
          records[index].failure = failures[PushFailure.mark + records[index].device.text]
        }
        return records.sorted { $0.device.text < $1.device.text }
      }
    }
  }

  /// Those accounts that have pushers, and those whose node is away, which may have some. It takes one command for each
  /// partition that holds some of the accounts.
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
    var found: [AccountID] = []
    for (group, result) in zip(groups, await pipelineEach(commands, at: "pushers")) {
      guard case .success(let reply) = result else {
        found += group.value
        continue
      }
      try reading(at: "pushers") { () throws(RedisError) in
        for (account, one) in zip(group.value, try reply.array(count: group.value.count))
        where try isPicked(one) {
          found.append(account)
        }
      }
    }
    return found
  }

  // MARK: Badges

  /// The number of unread entries that gateways were told last.
  package enum KnownBadge: Sendable, Hashable {
    /// Gateways were told nothing, or that nothing is unread.
    case none
    case unread(Int)
    /// Gateways are being told a number, or nobody knows which of two numbers arrived last.
    case uncertain
  }

  /// Notes that gateways are about to be told a number, which is counted next. From now on a mark has the
  /// number corrected, even if it is not known yet.
  ///
  /// - Parameters:
  ///   - mark: names this telling in ``noteBadge(_:of:since:)``.
  ///   - onlyIfKnown: true: nothing begins if they were told nothing before.
  /// - Returns: the number that was known before.
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

  /// Notes that gateways were told the number.
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

  /// Those accounts whose gateways were told a number, and those whose node is away. It takes one command for each partition
  /// that holds some of the accounts.
  package func withBadges(among accounts: [AccountID]) async throws(StoreError) -> [AccountID] {
    try await pick(accounts, "HMGET", layout.badges) { $0.ifPresent != nil }
  }

  // MARK: Tasks

  /// Writes the position of push, and the tasks for the copies that it has passed, in one step.
  /// - Returns: false if the lease is lost. Nothing was written then.
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

  /// The tasks of each partition that are due now, the oldest first, at most so many pushes and so many
  /// corrections. A partition whose node is away has none.
  /// - Throws: if no partition answers.
  package func duePushes(
    in partitions: [Partition], nowMilliseconds now: Int64, limit: Int
  ) async throws(StoreError) -> [[DuePush]] {
    let questions = partitions.flatMap { partition in
      [layout.pushes(partition), layout.corrections(partition)].map { key in
        (
          partition: partition,
          command: RedisCommand("ZRANGEBYSCORE", key, "-inf", now, "WITHSCORES", "LIMIT", 0, limit)
        )
      }
    }
    let answers = try await ask(questions, at: "push") { reply throws(RedisError) in try Self.due(reply) }
    let due = Dictionary(grouping: answers, by: \.partition)
    return partitions.map { partition in
      let kinds = (due[partition] ?? []).map(\.answer).filter { !$0.isEmpty }
      return kinds.count < 2
        ? kinds.first ?? [] : kinds.joined().sorted { $0.dueAtMilliseconds < $1.dueAtMilliseconds }
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

  /// - Returns: the texts of the retries that were given up because too many wait, in the partition or of an account.
  package func settlePushes(
    _ settled: [SettledPush], in partition: Partition, _ limits: PushRetryLimits
  ) async throws(StoreError) -> [String] {
    var command = layout.call(.settlePushes, in: partition)
    command.append(limits.ofPartition)
    command.append(limits.ofAccount)
    for one in settled {
      command.append(one.push.text)
      command.append(one.push.dueAtMilliseconds)
      command.append(one.isPutOff ? 1 : 0)
      command.append(one.later.count)
      for push in one.later {
        command.append(push.dueAtMilliseconds)
        command.append(push.text)
      }
    }
    let reply = try await call(command, at: "push")
    return try reading(at: "push") { () throws(RedisError) in
      try reply.array().map { text throws(RedisError) in try text.string() }
    }
  }
}
