import BelfryLoop
import BelfryRedis
import BelfryStore
import BelfrySystem

/// A connection to Redis for a command that sends one request after another and may wait long for the
/// replies.
actor RedisSession {
  private nonisolated let loop: EventLoop
  nonisolated let endpoint: RedisEndpoint
  private let connection: RedisConnection

  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

  private static let keysPerScan = 1_000

  /// Gives the body a connection, on a thread of its own that ends with it.
  /// - Parameter name: the name that Redis shows for a connection that is made once only; nil for any other.
  static func with<Result: Sendable>(
    _ endpoint: RedisEndpoint, onceAs name: String? = nil,
    _ body: (RedisSession) async throws(BackupError) -> Result
  ) async throws(BackupError) -> Result {
    try await withLoop { loop throws(BackupError) in
      let session = RedisSession(loop, endpoint, onceAs: name)
      await session.start()
      do throws(BackupError) {
        let result = try await body(session)
        await session.close()
        return result
      } catch {
        await session.close()
        throw error
      }
    }
  }

  /// Gives the body a loop for connections, on a thread of its own that ends with it.
  static func withLoop<Result: Sendable>(
    _ body: (EventLoop) async throws(BackupError) -> Result
  ) async throws(BackupError) -> Result {
    let loop: EventLoop
    do throws(SystemError) {
      loop = try EventLoop(name: "redis-session")
      try loop.spawnThread()
    } catch {
      throw BackupError(StartError(.systemRefused, "\(error)", at: "threads"))
    }
    defer {
      loop.stop()
      loop.join()
    }
    return try await body(loop)
  }

  /// - Parameter name: the name that Redis shows for the connection. A connection with a name is made once
  ///   only. After it was lost, requests fail, because another Redis might answer them.
  init(_ loop: EventLoop, _ endpoint: RedisEndpoint, onceAs name: String? = nil) {
    self.loop = loop
    self.endpoint = endpoint
    var limits = RedisLimits()
    // A value may have hundreds of megabytes, and writing an append-only file takes its time.
    limits.commandTimeout = .seconds(600)
    limits.waitForConnection = .seconds(10)
    limits.connectTimeout = .seconds(5)
    limits.unansweredBytesMax = 2 << 30
    limits.replyBytesMax = 2 << 30
    connection = RedisConnection(
      loop: loop, endpoint: endpoint, limits: limits, setUp: name.map { Self.setUp(onceAs: $0, at: endpoint) }
    )
  }

  private static func setUp(onceAs name: String, at endpoint: RedisEndpoint) -> RedisSetUp {
    let spent = Spent()
    // A user who may not name a connection may move a keyspace all the same.
    return RedisSetUp([RedisCommand("CLIENT", "SETNAME", name)]) { _ throws(RedisError) in
      guard !spent.isSpent else {
        throw RedisError(
          .connectionLost, cause: "the connection was lost", place: endpoint.description)
      }
      spent.isSpent = true
      return nil
    }
  }

  private final class Spent {
    var isSpent = false
  }

  func start() { connection.start() }
  func close() { connection.close() }

  func ask(_ command: RedisCommand) async throws(BackupError) -> RedisReply {
    do throws(RedisError) {
      return try await connection.send(command)
    } catch {
      throw BackupError(error)
    }
  }

  /// Sends the commands together.
  /// - Throws: also if one of the replies is an error.
  func ask(_ commands: [RedisCommand]) async throws(BackupError) -> [RedisReply] {
    let replies = try await replies(to: commands)
    for case .error(let message) in replies {
      throw BackupError(RedisError.replied(message, to: "\(commands.first?.name ?? "") at \(endpoint)"))
    }
    return replies
  }

  /// Sends the commands together. Replies may be errors.
  func replies(to commands: [RedisCommand]) async throws(BackupError) -> [RedisReply] {
    do throws(RedisError) {
      return try await connection.sendPipeline(commands)
    } catch {
      throw BackupError(error)
    }
  }

  /// Visits the keys that match, some at a time: each at least once if it exists during the whole scan.
  func scan(
    _ pattern: String, _ visit: ([[UInt8]]) async throws(BackupError) -> Void
  ) async throws(BackupError) {
    var cursor = Self.scanBeginning
    repeat {
      let step = try await scanStep(pattern, cursor)
      cursor = step.cursor
      if !step.keys.isEmpty { try await visit(step.keys) }
    } while cursor != Self.scanBeginning
  }

  /// The cursor that begins a scan, and that Redis returns at its end.
  static let scanBeginning = "0"

  func scanStep(
    _ pattern: String, _ cursor: String
  ) async throws(BackupError) -> (cursor: String, keys: [[UInt8]]) {
    let reply = try await ask(RedisCommand("SCAN", cursor, "MATCH", pattern, "COUNT", Self.keysPerScan))
    do throws(RedisError) {
      let parts = try reply.array(count: 2)
      var keys: [[UInt8]] = []
      for key in try parts[1].array() { keys.append(Array(try key.bytes())) }
      return (try parts[0].string(), keys)
    } catch {
      throw BackupError(error)
    }
  }
}

extension RedisSession {
  /// Counts the keys that Redis holds, one by one.
  /// - Parameter prefix: the prefix of the keys' names, usually `belfry:`.
  func count(prefix: String = KeyspaceKey.prefix) async throws(BackupError) -> KeyspaceCounts {
    var counts = KeyspaceCounts()
    // A scan may return the same key twice.
    var seen: Set<[UInt8]> = []
    try await scan(prefix + "*") { found throws(BackupError) in
      let new = found.filter { seen.insert($0).inserted }
      let keys = new.map { name in
        let rest = String(decoding: name, as: UTF8.self).dropFirst(prefix.count)
        return KeyspaceKey(KeyspaceKey.prefix + rest)
      }
      let logs = zip(new, keys).filter { $1?.isLog == true }.map { RedisCommand("XLEN", $0.0) }
      var lengths = try await self.ask(logs).makeIterator()
      for case let key? in keys {
        let length: Int64
        do throws(RedisError) {
          length = key.isLog ? try lengths.next()?.integer() ?? 0 : 0
        } catch {
          throw BackupError(error)
        }
        counts.add(key, entries: Int(length))
      }
    }
    return counts
  }
}
