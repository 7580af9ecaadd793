import BelfryStore
import Foundation
import TestKit
import Testing

@testable import BelfryServer

func move(
  _ from: String, to target: String?, partitions: Int? = nil, isCancel: Bool = false,
  progress: @escaping @Sendable (MoveProgress) -> Void = { _ in }
) async throws -> MoveReport {
  let move = try Move(
    from: ServeOptions(), to: target, partitions: partitions, environment: ["BELFRY_REDIS": from],
    progress: progress)
  return isCancel ? try await move.cancel() : try await move.run()
}

/// The error that the work throws; nil if it succeeds.
func refusal(ofMove work: () async throws -> MoveReport) async -> BackupError? {
  do {
    _ = try await work()
    return nil
  } catch {
    return error as? BackupError
  }
}

extension RedisServer {
  var format: String {
    get throws { try command("HGET", FormatRecordField.key, FormatRecordField.format) }
  }

  func setFormat(_ text: String, move: String? = nil) throws {
    try command("HSET", FormatRecordField.key, FormatRecordField.format, text)
    if let move { try command("HSET", FormatRecordField.key, FormatRecordField.move, move) }
  }

  /// As ``fillKeyspace()``, with a record that a broker would write.
  func fillMovedKeyspace() throws {
    try fillKeyspace()
    try command("DEL", "belfry:format")
    try command("HSET", "belfry:format", "format", "3 64", "secret", "abcdef", "limits", "{}")
    try command("SET", "other", "not ours")
    for hash in KeyspaceDivision(from: .standard, to: .standard).partitionHashes {
      try command("HSETNX", hash.key, KeyspaceDivision.lastField, "0-0")
    }
  }

  /// All keys of the keyspace but the record, each with a digest of its value, and when it expires.
  var values: [String: String] {
    get throws {
      var values = try digests
      for (key, value) in values { values[key] = try value + " " + command("PEXPIRETIME", key) }
      return values
    }
  }

  /// The digests without the expiry, which a replica does not tell.
  var digests: [String: String] {
    get throws {
      var digests: [String: String] = [:]
      for key in try keys("belfry:*") where key != FormatRecordField.key {
        digests[key] = try command("DEBUG", "DIGEST-VALUE", key)
      }
      return digests
    }
  }
}

extension RedisClusterServers {
  var values: [String: String] {
    get throws {
      try masters.reduce(into: [:]) { all, node in
        // Only keys that the node serves. Otherwise a key in the wrong place would not be noticed.
        for (key, value) in try node.values where try node.command("EXISTS", key) == "1" {
          #expect(all[key] == nil)
          all[key] = value
        }
      }
    }
  }

  var format: String {
    get { masters.compactMap { try? $0.format }.first { !$0.isEmpty } ?? "" }
  }
}

/// Gives the body a filled Redis and an empty one.
/// - Parameter clock: the clock of both.
func withTwo(
  _ settings: [String: String] = [:], clock: ShiftedClock? = nil,
  _ body: (RedisServer, RedisServer) async throws -> Void
) async throws {
  var options = RedisServer.Options.debuggable()
  options.clock = clock
  try await withRedisServer(options) { source in
    try source.fillMovedKeyspace()
    options.settings.merge(settings) { $1 }
    try await withRedisServer(options) { target in try await body(source, target) }
  }
}
