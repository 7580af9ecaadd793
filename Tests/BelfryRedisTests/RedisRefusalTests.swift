import BelfryLoop
import TestKit
import Testing

@testable import BelfryRedis

/// Redis answers, but not with what was asked: the layer above must know whether to say "come back later".
@Suite struct RedisRefusalTests {
  @Test func aServerOutOfMemoryIsUnavailable() async throws {
    try await withServerAndClient(.init(), .patient) { server, client in
      _ = try await client.send(RedisCommand("SET", "large", [UInt8](repeating: 1, count: 2 << 20)))
      try server.command("CONFIG", "SET", "maxmemory", "1mb")
      try await expectRefusal("OOM", of: RedisCommand("SET", "key", "value"), client)
    }
  }

  @Test func aReplicaIsUnavailable() async throws {
    var options = RedisServer.Options()
    options.settings = ["replica-serve-stale-data": "no"]
    try await withServerAndClient(options, .patient) { server, client in
      _ = try await client.send(RedisCommand("PING"))
      // A master that does not exist: the link to it is down.
      try server.command("REPLICAOF", "127.0.0.1", "1")
      try await expectRefusal("MASTERDOWN", of: RedisCommand("GET", "key"), client)
      try server.command("CONFIG", "SET", "replica-serve-stale-data", "yes")
      try await expectRefusal("READONLY", of: RedisCommand("SET", "key", "value"), client)
    }
  }

  @Test func aServerBusyWithAScriptIsUnavailable() async throws {
    var options = RedisServer.Options()
    options.settings = ["busy-reply-threshold": "1"]
    try await withServerAndClient(options, .patient) { server, client in
      _ = try await client.send(RedisCommand("PING"))
      try await withClient(of: server.url, .patient) { other in
        async let endless = other.result(of: RedisCommand("EVAL", "while true do end", 0))
        #expect(
          await other.eventually { $0.connection.state == .ready && $0.connection.unansweredCommands > 0 })
        var error: RedisError?
        while error == nil {
          if case .failure(let refusal) = await client.result(of: RedisCommand("GET", "key")) {
            error = refusal
          }
        }
        #expect(error?.replyCode == "BUSY")
        try server.command("SCRIPT", "KILL")
        #expect(await endless.failureCode == .replied)
      }
    }
  }

  @Test func aServerThatLoadsItsDataIsUnavailableUntilItHas() async throws {
    var options = RedisServer.Options()
    // 20 ms for each key, and a look at the clients every kilobyte.
    options.settings = ["key-load-delay": "20000", "loading-process-events-interval-bytes": "1024"]
    try await withServerAndClient(options) { server, client in
      #expect(await client.eventually { $0.connection.state == .ready })
      let value = [UInt8](repeating: 1, count: 1_000)
      _ = try await client.sendPipeline((0..<50).map { RedisCommand("SET", "key-\($0)", value) })
      try server.command("SAVE")
      await server.kill()
      async let restart: Void = server.start()
      #expect(await client.eventually { $0.connectionStates.contains { $0.isLost(to: "LOADING") } })
      guard case .failure(let error) = await client.result(of: RedisCommand("GET", "key-1")) else {
        Issue.record("answered before the data was there")
        return try await restart
      }
      #expect(error.code == .unavailable)
      try await restart
      #expect(await client.eventually { $0.connection.state == .ready })
      #expect(try await client.send(RedisCommand("GET", "key-1")) == .bulk(value))
    }
  }

  private func expectRefusal(_ code: String, of command: RedisCommand, _ client: Client) async throws {
    guard case .failure(let error) = await client.result(of: command) else {
      Issue.record("\(command.name) was not refused")
      return
    }
    #expect(error.code == .replied)
    #expect(error.replyCode == code)
  }
}

extension RedisConnection.State {
  fileprivate func isLost(to code: String) -> Bool {
    if case .lost(let error) = self { error.replyCode == code } else { false }
  }
}
