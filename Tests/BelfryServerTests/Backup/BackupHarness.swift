import Foundation
import Glibc
import Synchronization
import TestKit
import Testing

@testable import BelfryServer

func makeBackup(
  to file: String, redis url: String? = nil, data folder: String? = nil,
  progress: @escaping (BackupProgress) -> Void = { _ in }
) async throws -> BackupReport {
  var options = ServeOptions()
  options.data = folder
  return try await Backup(to: file, of: options, environment: environment(url), progress: progress).run()
}

func restore(
  _ file: String, redis url: String? = nil, data folder: String? = nil,
  stopTimeout: Duration = RedisLaunch.stopTimeout,
  progress: @escaping @Sendable (BackupProgress) -> Void = { _ in }
) async throws -> BackupReport {
  var options = ServeOptions()
  options.data = folder
  var work = try Restore(from: file, into: options, environment: environment(url), progress: progress)
  work.configuration.embeddedRedis.stopTimeout = stopTimeout
  return try await work.run()
}

/// The URL is passed by the environment, because it may have a password.
private func environment(_ redisURL: String?) -> [String: String] {
  redisURL.map { ["BELFRY_REDIS": $0] } ?? [:]
}

/// The error that the work throws; nil if it succeeds.
func refusal(_ work: () async throws -> BackupReport) async -> BackupError? {
  do {
    _ = try await work()
    return nil
  } catch {
    return error as? BackupError
  }
}

extension RedisServer.Options {
  /// `DEBUG` gives a digest of everything in a Redis. A snapshot comes at once, as from the embedded Redis.
  static func debuggable(_ appendOnly: Sync? = nil) -> RedisServer.Options {
    var options = RedisServer.Options()
    options.settings["enable-debug-command"] = "yes"
    options.settings["repl-diskless-sync-delay"] = "0"
    options.appendOnly = appendOnly
    return options
  }
}

extension RedisServer {
  var digest: String { get throws { try command("DEBUG", "DIGEST") } }

  func keys(_ pattern: String) throws -> [String] {
    try command("KEYS", pattern).split(separator: "\n").map(String.init).sorted()
  }

  /// Fills Redis with keys that look like a keyspace: one of each counted kind, and values of every type and
  /// form.
  func fillKeyspace() throws {
    for number in 0..<300 {
      try command("XADD", "belfry:{1.1}:log:server:1", "*", "audience", "all", "n", "\(number)")
    }
    try command("XADD", "belfry:{2.1}:log:account:alice", "1-1", "a", String(repeating: "long ", count: 99))
    try command("XADD", "belfry:{2.1}:log:account:alice", "1-2", "a", "b")
    try command("XDEL", "belfry:{2.1}:log:account:alice", "1-1")
    try command("HSET", "belfry:{1.1}:settings:server:1", "settings", "{}")
    try command("HSET", "belfry:{1.1}:settings:group:12", "settings", "{}")
    try command("HSET", "belfry:{1.1}:settings:room:13", "settings", "{}")
    try command("HSET", "belfry:{1.1}:settings:account:bob", "settings", "{}")
    for account in ["alice", "bob"] { try command("HSET", "belfry:{2.1}:spaces:\(account)", "server:1", "j") }
    try command("SADD", "belfry:{2.1}:read:carol", "382402239304294400", "382402239304294401")
    for number in 0..<1_000 { try command("HSET", "belfry:{1.1}:roster:server:1", "m\(number)", "m 0-0") }
    try command("HSET", "belfry:format", "version", "1")
    // Forms that Belfry does not use now.
    try command("SET", "belfry:text", "12345")
    try command("SET", "belfry:expiring", "x", "PXAT", "4102444800123")
    for number in 0..<300 {
      try command("RPUSH", "belfry:list", "\(number) " + String(repeating: "y", count: number))
      try command("ZADD", "belfry:scores", "\(number).5", "member \(number)")
      try command("SADD", "belfry:words", "word \(number)")
    }
    try command("ZADD", "belfry:fewScores", "inf", "a", "-inf", "b")
    try command("SADD", "belfry:fewWords", "a", "b")
    try command("XGROUP", "CREATE", "belfry:{1.1}:log:server:1", "readers", "0")
    try command(
      "XREADGROUP", "GROUP", "readers", "one", "COUNT", "7", "STREAMS", "belfry:{1.1}:log:server:1", ">")
  }

  /// Adds keys that expire, as the broker writes them: the spaces that were active in a stretch of time, and
  /// the accounts that an account has written to.
  func addExpiring(milliseconds: Int) throws {
    let keys = ["belfry:{1.1}:active:1671", "belfry:{2.1}:shares:alice"]
    try command("SADD", keys[0], "server:1", "account:alice")
    try command("HSET", keys[1], "bob", "2")
    let names = ["copies-lease:push", "registration:1ly1mkuo79tr7.0", "ticket:abc"]
    let texts = names.map { "belfry:{3.1}:" + $0 }
    for key in texts { try command("SET", key, "x") }
    for key in keys + texts { try command("PEXPIRE", key, "\(milliseconds)") }
  }

  /// Ends it at once, from any thread.
  func crash() throws {
    let lines = try command("INFO", "server").split(whereSeparator: \.isNewline)
    let line = try #require(lines.first { $0.hasPrefix("process_id:") })
    Glibc.kill(try #require(pid_t(line.dropFirst("process_id:".count))), SIGKILL)
  }
}

/// Runs an action once, at the first progress of a kind.
final class Once: Sendable {
  private let isDone = Mutex(false)

  func callAsFunction(_ work: () throws -> Void) {
    let isFirst = isDone.withLock { done in
      defer { done = true }
      return !done
    }
    guard isFirst else { return }
    do { try work() } catch { Issue.record(error) }
  }
}
