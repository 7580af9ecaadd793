import CHiredis
import Foundation
import Glibc
import Synchronization

/// A redis-server of the test's own: in a temporary folder, on a unix socket there and, if wanted, on a
/// free port of the loopback interface. It can be killed, frozen, and started again on the same data.
package final class RedisServer: Sendable {
  package struct Options: Sendable {
    package enum Sync: String, Sendable {
      case always, everysec, no
    }

    /// True: the server listens on 127.0.0.1 in addition to the unix socket.
    package var listensOnTCP = false
    /// Keep an append-only file, synced so often. Without it, everything is gone after a restart.
    package var appendOnly: Sync?
    package var password: String?
    /// More settings, as `["maxmemory": "10mb"]`.
    package var settings: [String: String] = [:]
    /// Makes it a Sentinel: what its configuration file begins with. The Sentinel writes into that file.
    package var sentinelLines: [String]?
    /// The clock of the server; the machine's if nil.
    package var clock: ShiftedClock?

    package init() {}
  }

  package let folder: String
  /// nil unless it listens on TCP.
  package let port: UInt16?
  /// The port by which a cluster's nodes talk to each other. It is chosen with the other one: if one of them is taken, both
  /// are chosen again.
  private let busPort: UInt16?
  private let options: Options
  private let process = Mutex<ChildProcess?>(nil)
  private let isPaused = Mutex(false)

  package var socketPath: String { folder + "/redis.sock" }
  package var url: String { "unix://\(credentials)\(socketPath)" }
  package var tcpURL: String? { port.map { "redis://\(credentials)127.0.0.1:\($0)" } }
  private var logPath: String { folder + "/redis.log" }
  private var configurationPath: String { folder + "/sentinel.conf" }
  private var credentials: String { options.password.map { ":\($0)@" } ?? "" }

  private init(_ options: Options) throws(FixtureError) {
    self.options = options
    folder = try makeTemporaryFolder()
    port = options.listensOnTCP ? try findFreePort() : nil
    busPort = options.settings["cluster-enabled"] == "yes" ? try findFreePort() : nil
    guard let lines = options.sentinelLines else { return }
    do {
      try (lines.joined(separator: "\n") + "\n").write(
        toFile: configurationPath, atomically: true, encoding: .utf8)
    } catch {
      throw FixtureError("\(error)")
    }
  }

  deinit {
    process.withLock { $0 }?.signal(SIGKILL)
  }
}

/// Gives the body a redis-server, and removes it with its data afterwards, even if the body throws.
package func withRedisServer<R>(
  _ options: RedisServer.Options = RedisServer.Options(),
  _ body: (RedisServer) async throws -> R
) async throws -> R {
  let server = try await RedisServer.started(options)
  do {
    let result = try await body(server)
    await server.remove()
    return result
  } catch {
    await server.remove()
    throw error
  }
}

// MARK: Starting and ending

extension RedisServer {
  /// How long a start or an orderly stop may take on a busy machine.
  private static let patience: Duration = .seconds(60)

  /// A new server that answers. The caller has to call `remove()` in the end.
  package static func started(_ options: Options = Options()) async throws(FixtureError) -> RedisServer {
    var attempts = 0
    while true {
      let server = try RedisServer(options)
      do throws(FixtureError) {
        try await server.start()
        return server
      } catch {
        await server.remove()
        attempts += 1
        // Another server may have taken the port meanwhile.
        guard options.listensOnTCP, attempts < 3 else { throw error }
      }
    }
  }

  /// Starts the server, again perhaps, on the data in its folder. Returns when it answers.
  /// - Parameter more: settings for this start only.
  package func start(with more: [String: String] = [:]) async throws(FixtureError) {
    let child = try ChildProcess(
      arguments + more.flatMap { ["--\($0)", $1] }, environment: options.clock?.environment ?? [:],
      output: logPath, folder: folder)
    process.withLock { $0 = child }
    let deadline = ContinuousClock.now + RedisServer.patience
    while (try? command("PING")) != "PONG" {
      if ContinuousClock.now > deadline || child.isEnding {
        await end(SIGKILL)
        throw FixtureError("redis-server does not start:\n\(lastLogLines(of: logPath))")
      }
      try? await Task.sleep(for: .milliseconds(5))
    }
  }

  /// Asks it to stop (SIGTERM), and waits until it has.
  package func stop() async {
    await end(SIGTERM)
  }

  /// Ends it at once (SIGKILL), as a crash would.
  package func kill() async {
    await end(SIGKILL)
  }

  /// Freezes it: connections are accepted by the kernel, and nothing is answered.
  package func pause() {
    isPaused.withLock { $0 = true }
    process.withLock { $0 }?.signal(SIGSTOP)
  }

  package func resume() {
    process.withLock { $0 }?.signal(SIGCONT)
    isPaused.withLock { $0 = false }
  }

  /// The last lines that it has to say about itself.
  package var log: String { lastLogLines(of: logPath, atMost: 40) }

  /// Whether it runs and is not frozen: a command to one that is frozen waits for a minute.
  package var answers: Bool { process.withLock { $0 != nil } && !isPaused.withLock(\.self) }

  /// Ends it and removes its folder.
  package func remove() async {
    await kill()
    removeFolder(folder)
  }

  private func end(_ signal: Int32) async {
    guard let child = process.withLock({ $0.take() }) else { return }
    isPaused.withLock { $0 = false }
    child.signal(signal)
    if await child.hasEnded(within: RedisServer.patience) { return }
    child.signal(SIGKILL)
    _ = await child.hasEnded(within: RedisServer.patience)
  }

  private var arguments: [String] {
    var arguments = ["redis-server"]
    if options.sentinelLines != nil { arguments += [configurationPath, "--sentinel"] }
    arguments += [
      "--dir", folder, "--unixsocket", socketPath, "--port", "\(port ?? 0)",
      "--bind", "127.0.0.1", "--save", "", "--daemonize", "no",
      // The thread of many small servers together takes a twentieth of the processor, and gives back memory that nobody needs.
      "--jemalloc-bg-thread", "no",
    ]
    if let sync = options.appendOnly {
      arguments += ["--appendonly", "yes", "--appendfsync", sync.rawValue]
    }
    if let password = options.password { arguments += ["--requirepass", password] }
    if let busPort { arguments += ["--cluster-port", "\(busPort)"] }
    for (name, value) in options.settings { arguments += ["--\(name)", value] }
    return arguments
  }
}

// MARK: Asking it

extension RedisServer {
  /// One command on a blocking connection of its own: what an outside observer sees. The reply comes as
  /// redis-cli would print it raw, an array a line per element; an error reply is thrown.
  @discardableResult
  package func command(_ words: String...) throws(FixtureError) -> String { try command(words) }

  @discardableResult
  package func command(_ words: [String]) throws(FixtureError) -> String { try commands([words]) }

  /// As one transaction, with nothing of anybody else's in between: a line per element of each reply.
  @discardableResult
  package func transaction(_ commands: [String]...) throws(FixtureError) -> String {
    try self.commands([["MULTI"]] + commands + [["EXEC"]])
  }

  /// Gives the last reply.
  private func commands(_ commands: [[String]]) throws(FixtureError) -> String {
    try withoutBrokenPipeSignal { () throws(FixtureError) in try askAll(commands) }
  }

  private func askAll(_ commands: [[String]]) throws(FixtureError) -> String {
    let timeout = timeval(tv_sec: 60, tv_usec: 0)
    guard let context = unsafe redisConnectUnixWithTimeout(socketPath, timeout) else {
      throw FixtureError("no memory")
    }
    defer { unsafe redisFree(context) }
    guard unsafe context.pointee.err == 0, unsafe redisSetTimeout(context, timeout) == REDIS_OK else {
      throw FixtureError("no connection to \(socketPath)")
    }
    if let password = options.password { _ = try unsafe ask(context, ["AUTH", password]) }
    var last = ""
    for words in commands { last = try unsafe ask(context, words) }
    return last
  }
}

/// A server may close the connection before a command is written: Sentinels have all clients of a replica disconnected when
/// they give it another master. hiredis then raises SIGPIPE, which would end the tests; the write fails all the same.
private func withoutBrokenPipeSignal<R>(_ body: () throws(FixtureError) -> R) throws(FixtureError) -> R {
  var signals = sigset_t()
  unsafe sigemptyset(&signals)
  unsafe sigaddset(&signals, SIGPIPE)
  var before = sigset_t()
  unsafe pthread_sigmask(SIG_BLOCK, &signals, &before)
  defer {
    // The signal waits for this thread. It is taken here, or it would come when it is no longer held back.
    var none = timespec()
    _ = unsafe sigtimedwait(&signals, nil, &none)
    unsafe pthread_sigmask(SIG_SETMASK, &before, nil)
  }
  return try body()
}

private func ask(
  _ context: UnsafeMutablePointer<redisContext>, _ words: [String]
) throws(FixtureError) -> String {
  var arguments = unsafe words.map { unsafe UnsafePointer<CChar>(strdup($0)) }
  defer { unsafe arguments.forEach { unsafe free(UnsafeMutablePointer(mutating: $0)) } }
  let lengths = words.map(\.utf8.count)
  guard let reply = unsafe redisCommandArgv(context, CInt(words.count), &arguments, lengths) else {
    throw FixtureError("no reply to \(words[0])")
  }
  defer { unsafe freeReplyObject(reply) }
  return try unsafe text(of: reply.assumingMemoryBound(to: redisReply.self).pointee)
}

private func text(of reply: redisReply) throws(FixtureError) -> String {
  switch unsafe reply.type {
  case REDIS_REPLY_INTEGER: return unsafe "\(reply.integer)"
  case REDIS_REPLY_NIL: return ""
  case REDIS_REPLY_ARRAY:
    var lines: [String] = []
    for index in 0..<(unsafe reply.elements) {
      if let element = unsafe reply.element[index] { lines.append(try unsafe text(of: element.pointee)) }
    }
    return lines.joined(separator: "\n")
  default:
    let bytes = unsafe UnsafeRawBufferPointer(start: reply.str, count: reply.len)
    let text = unsafe String(decoding: bytes, as: UTF8.self)
    if unsafe reply.type == REDIS_REPLY_ERROR { throw FixtureError(text) }
    return text
  }
}
