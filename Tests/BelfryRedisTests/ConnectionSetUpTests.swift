import BelfryLoop
import TestKit
import Testing

@testable import BelfryRedis

/// The questions to a new connection before commands go out.
@Suite struct ConnectionSetUpTests {
  @Test func itAuthenticatesAndSelectsTheDatabase() async throws {
    var options = RedisServer.Options()
    options.password = "open sesame/@:"
    options.listensOnTCP = true
    try await withRedisServer(options) { server in
      let port = try #require(server.port)
      try await withClient(of: "redis://default:open%20sesame%2F%40%3A@127.0.0.1:\(port)/3", .patient) {
        client in
        _ = try await client.send(RedisCommand("SET", "key", "in three"))
      }
      #expect(try server.command("GET", "key") == "")
      #expect(try server.command("INFO", "keyspace").contains("db3:keys=1"))
    }
  }

  @Test func aWrongPasswordIsUnavailableAndNotShown() async throws {
    var options = RedisServer.Options()
    options.password = "right"
    try await withRedisServer(options) { server in
      let url = "unix://:wrong-one@\(server.socketPath)"
      try await withClient(of: url) { client in
        #expect(await client.eventually { !$0.connectionStates.isEmpty })
        guard case .failure(let error) = await client.result(of: RedisCommand("PING")) else {
          Issue.record("let in with a wrong password")
          return
        }
        #expect(error.code == .unavailable)
        #expect(error.cause.hasPrefix("WRONGPASS"))
        #expect(!"\(error)".contains("wrong-one"))
      }
    }
  }

  @Test func roundsOfSetUpComeBeforeEverythingElse() async throws {
    try await withRedisServer { server in
      let setUp = RedisSetUp([RedisCommand("RPUSH", "order", "first", "second")]) {
        replies throws(RedisError) in
        #expect(replies == [.integer(2)])
        return RedisSetUp([RedisCommand("RPUSH", "order", "third"), RedisCommand("LLEN", "order")])
      }
      try await withClient(of: server.url, .patient, setUp: setUp) { client in
        // Sent while the connection is being made, so it waits.
        _ = try await client.send(RedisCommand("RPUSH", "order", "fourth"))
        #expect(try server.command("LRANGE", "order", "0", "-1") == "first\nsecond\nthird\nfourth")
      }
    }
  }

  @Test func everyNewConnectionIsSetUp() async throws {
    try await withRedisServer { server in
      let setUp = RedisSetUp([RedisCommand("INCR", "connections")])
      try await withClient(of: server.url, .patient, setUp: setUp) { client in
        for count in 1...3 {
          let connections = try await client.send(RedisCommand("GET", "connections")).integer()
          #expect(connections == Int64(count))
          try server.command("CLIENT", "KILL", "TYPE", "normal")
          #expect(await client.eventually { $0.connection.state != .ready })
        }
      }
    }
  }

  @Test func aRefusedSetUpIsTriedAgain() async throws {
    try await withRedisServer { server in
      try server.command("SET", "list", "not a list")
      let setUp = RedisSetUp([RedisCommand("RPUSH", "list", "entry")])
      try await withClient(of: server.url, setUp: setUp) { client in
        #expect(await client.eventually { !$0.connectionStates.isEmpty })
        guard case .failure(let error) = await client.result(of: RedisCommand("PING")) else {
          Issue.record("a command went out before set-up was complete")
          return
        }
        #expect(error.code == .unavailable)
        #expect(error.cause.hasPrefix("WRONGTYPE"))
        try server.command("DEL", "list")
        #expect(await client.eventually { $0.connection.state == .ready })
        #expect(try server.command("LRANGE", "list", "0", "-1") == "entry")
      }
    }
  }
}
