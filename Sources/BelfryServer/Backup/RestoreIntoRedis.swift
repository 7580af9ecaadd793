import BelfryBytes
import BelfryRedis
import BelfryStore

// Restores into a running Redis. The keys are restored under names that no broker reads, then counted, then
// renamed in one step. So no broker ever finds a part of a keyspace.

extension Restore {
  /// Replaces `belfry:` until the keys are renamed.
  static let draftPrefix = "belfry-restoring:"

  /// The most bytes that are sent together, except for a single larger value.
  private static let bytesAtOnce = 4 << 20
  private static let keysAtOnce = 512

  func restore(
    _ contents: BackupFile.Contents, into endpoint: RedisEndpoint
  ) async throws(BackupError) {
    let name = OtherCommands.restores.connectionName
    try await RedisSession.with(endpoint, onceAs: name) { session throws(BackupError) in
      try await refuseNodeOfCluster(session)
      try await refuseOthers(session)
      try await checkIsFree(session)
      // Removes the draft of a restore that was killed.
      try await removeDraft(session)
      do throws(BackupError) {
        try await writeDraft(session)
        progress(.countingRestored)
        try compare(
          try await session.count(prefix: Self.draftPrefix), with: contents, at: endpoint.description)
        try await publish(session)
      } catch {
        throw await undo(session, after: error)
      }
    }
  }

  private func refuseNodeOfCluster(_ session: RedisSession) async throws(BackupError) {
    // A Redis that is no node of a cluster refuses this command.
    guard (try? await session.ask(RedisCommand("CLUSTER", "MYID"))) != nil else { return }
    throw BackupError(
      .redisFailed, "it is a node of a Redis Cluster, which takes only a part of the keys",
      at: session.endpoint.description, advice: "restore into a single Redis")
  }

  /// Two commands would each remove the draft of the other as that of a restore that was killed.
  private func refuseOthers(_ session: RedisSession) async throws(BackupError) {
    do throws(BackupError) {
      try await OtherCommands.restores.refuseOthers(at: [session])
    } catch  where error.cause.contains("NOPERM") {
      // A user who may not list connections may restore all the same.
    }
  }

  private func checkIsFree(_ session: RedisSession) async throws(BackupError) {
    try await session.scan(KeyspaceKey.pattern) { keys throws(BackupError) in
      throw BackupError(
        .keyspaceExists,
        "it already holds a keyspace (\(String(decoding: keys.first ?? [], as: UTF8.self))), and nothing is "
          + "overwritten",
        at: session.endpoint.description,
        advice:
          "restore into another Redis, or into another database of this one; or stop all brokers on this database and empty it first"
      )
    }
  }

  private func removeDraft(_ session: RedisSession) async throws(BackupError) {
    try await session.scan(Self.draftPrefix + "*") { keys throws(BackupError) in
      var command = RedisCommand("UNLINK")
      command.append(contentsOf: keys)
      _ = try await session.ask(command)
    }
  }

  private func undo(_ session: RedisSession, after error: BackupError) async -> BackupError {
    var error = error
    do throws(BackupError) {
      try await removeDraft(session)
    } catch {
      // The draft takes up memory until the next restore removes it. No broker sees it.
    }
    if error.cause.hasPrefix("OOM") {
      error.advice = "the backup needs more memory than maxmemory leaves; nothing was restored"
    } else if error.cause.contains("DUMP payload version") {
      error.advice = "the backup was made from a later version of Redis than this one; nothing was restored"
    }
    return error
  }

  // MARK: Writing

  private func writeDraft(_ session: RedisSession) async throws(BackupError) {
    let reader = try BackupReader(file)
    var commands: [RedisCommand] = []
    var bytes = 0
    while let key = try reader.nextKey() {
      let command = Self.restoring(key, try reader.dump(of: key))
      bytes += command.byteCount
      commands.append(command)
      guard bytes >= Self.bytesAtOnce || commands.count >= Self.keysAtOnce else { continue }
      _ = try await session.ask(commands)
      progress(.restored(bytes: reader.bytesRead))
      commands.removeAll(keepingCapacity: true)
      bytes = 0
    }
    _ = try await session.ask(commands)
  }

  private static func restoring(_ key: RDBReader.Key, _ dump: [UInt8]) -> RedisCommand {
    let rest = key.name.dropFirst(KeyspaceKey.prefix.utf8.count)
    var command = RedisCommand("RESTORE")
    command.append(bytes: Array(draftPrefix.utf8) + rest)
    command.append(key.expiresAt ?? 0)
    command.append(dump)
    command.append("ABSTTL")
    return command
  }

  // MARK: Renaming

  /// Renames the keys in one step. Refuses if a broker has begun a keyspace in the meantime.
  private func publish(_ session: RedisSession) async throws(BackupError) {
    let reply = try await session.ask(
      RedisCommand("EVAL", Self.publishing, 0, KeyspaceKey.prefix, Self.draftPrefix))
    guard reply != .integer(0) else {
      throw BackupError(
        .keyspaceExists, "a broker has meanwhile created a keyspace there; nothing was restored",
        at: session.endpoint.description, advice: "stop all brokers on it, and empty it first")
    }
  }

  private static let publishing = """
    local function each(prefix, visit)
      local cursor = '0'
      repeat
        local reply = redis.call('SCAN', cursor, 'MATCH', prefix .. '*', 'COUNT', 10000)
        for _, key in ipairs(reply[2]) do visit(key) end
        cursor = reply[1]
      until cursor == '0'
    end
    local isFree = true
    each(ARGV[1], function() isFree = false end)
    if not isFree then return 0 end
    local renamed = 0
    each(ARGV[2], function(key)
      if redis.call('EXISTS', key) == 1 then
        local name = ARGV[1] .. key:sub(#ARGV[2] + 1)
        redis.call('RENAME', key, name)
        -- The ids that this process gives next are of another history, also if the backup is of this very process.
        -- An account may be called `partition`, so the whole name counts.
        if name:find('^' .. ARGV[1] .. '{[^}]+}:partition$') then redis.call('HDEL', name, 'history') end
        renamed = renamed + 1
      end
    end)
    return renamed
    """
}
