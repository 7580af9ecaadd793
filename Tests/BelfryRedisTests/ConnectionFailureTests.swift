import BelfryLoop
import TestKit
import Testing

@testable import BelfryRedis

/// A server that dies, freezes, restarts or was never there: every call ends, and later ones work.
@Suite struct ConnectionFailureTests {
  @Test func everyCallEndsWhenTheServerIsKilledUnderLoad() async throws {
    var options = RedisServer.Options()
    options.appendOnly = .always
    try await withServerAndClient(options) { server, client in
      #expect(await client.eventually { $0.connection.state == .ready })
      let outcomes = await withTaskGroup(of: [RedisError.Code?].self) { group in
        for _ in 0..<200 {
          group.addTask {
            var outcomes: [RedisError.Code?] = []
            while outcomes.count(where: { $0 != nil }) < 5 {
              outcomes.append(await client.result(of: RedisCommand("INCR", "counter")).failureCode)
            }
            return outcomes
          }
        }
        try? await eventually { Int(try server.command("GET", "counter")) ?? 0 >= 1_000 }
        await server.kill()
        return await group.reduce(into: []) { $0 += $1 }
      }
      let codes = Set(outcomes.compactMap(\.self))
      #expect(codes.contains(.unavailable))
      #expect(codes.isSubset(of: [.connectionLost, .unavailable]))

      try await server.start()
      #expect(await client.eventually { $0.connection.state == .ready })
      let counter = try await client.send(RedisCommand("GET", "counter")).integer()
      let confirmed = outcomes.count { $0 == nil }
      let uncertain = outcomes.count { $0 == .connectionLost }
      // Confirmed commands were kept, and commands that failed as not sent were not executed.
      #expect((confirmed...confirmed + uncertain).contains(Int(counter)))
    }
  }

  @Test func aServerThatNeverAnswersTimesOut() async throws {
    var limits = RedisLimits.patient
    limits.commandTimeout = .milliseconds(300)
    limits.setUpTimeout = .milliseconds(300)
    try await withServerAndClient(.init(), limits) { server, client in
      #expect(await client.eventually { $0.connection.state == .ready })
      server.pause()
      let started = ContinuousClock.now
      async let first = client.result(of: RedisCommand("PING"))
      async let second = client.result(of: RedisCommand("PING"))
      let codes = await [first.failureCode, second.failureCode]
      // The second was sent within its own deadline, or fails with the connection, or began after that was lost.
      #expect(codes.contains(.timedOut))
      #expect(Set(codes).isSubset(of: [.timedOut, .connectionLost, .unavailable]))
      let elapsed = ContinuousClock.now - started
      #expect(elapsed >= limits.commandTimeout)
      #expect(elapsed < .seconds(60))

      // The kernel still accepts connections for the frozen server, but nobody mistakes that for Redis.
      #expect(await client.eventually { if case .lost = $0.connection.state { true } else { false } })
      #expect(await client.eventually { $0.connectionStates.count >= 3 })
      #expect(await client.result(of: RedisCommand("PING")).failureCode == .unavailable)

      server.resume()
      #expect(await client.eventually { $0.connection.state == .ready })
      _ = try await client.send(RedisCommand("PING"))
    }
  }

  @Test func aSlowCommandMayHaveALongerDeadline() async throws {
    var limits = RedisLimits.patient
    limits.commandTimeout = .milliseconds(200)
    try await withServerAndClient(.init(), limits) { _, client in
      #expect(await client.eventually { $0.connection.state == .ready })
      let slow = RedisCommand("BLPOP", "none", "1")
      let reply = try await client.send(slow, timeout: .seconds(60))
      #expect(reply == .null)
      #expect(await client.connectionStates == [.ready])
    }
  }

  @Test func withoutAServerCallsFailAndLaterOnesWork() async throws {
    try await withRedisServer { server in
      await server.stop()
      try await withClient(of: server.url) { client in
        #expect(await client.eventually { !$0.connectionStates.isEmpty })
        let result = await client.result(of: RedisCommand("PING"))
        #expect(result.failureCode == .unavailable)
        #expect(await client.run { $0.connection.unansweredCommands } == 0)

        try await server.start()
        #expect(await client.eventually { $0.connection.state == .ready })
        #expect(try await client.send(RedisCommand("PING")) == .status("PONG"))
      }
    }
  }

  @Test func callsBridgeAShortLoss() async throws {
    try await withServerAndClient(.init(), .patient) { server, client in
      _ = try await client.send(RedisCommand("PING"))
      for _ in 0..<5 {
        try server.command("CLIENT", "KILL", "TYPE", "normal")
        #expect(await client.eventually { $0.connection.state != .ready })
        #expect(try await client.send(RedisCommand("PING")) == .status("PONG"))
      }
    }
  }

  @Test func aHostWithoutAnAddressIsUnavailable() async throws {
    var limits = RedisLimits.patient
    limits.connectTimeout = .seconds(60)
    try await withClient(of: "redis://no-such-host.invalid:1", limits) { client in
      #expect(await client.eventually { !$0.connectionStates.isEmpty })
      guard case .failure(let error) = await client.result(of: RedisCommand("PING")) else {
        Issue.record("answered by nobody")
        return
      }
      #expect(error.code == .unavailable)
      #expect(error.cause.contains("resolved"))
    }
  }

  @Test func aPortWhereNobodyListensIsUnavailable() async throws {
    var options = RedisServer.Options()
    options.listensOnTCP = true
    try await withRedisServer(options) { server in
      await server.stop()
      let port = try #require(server.port)
      try await withClient(of: "redis://127.0.0.1:\(port)") { client in
        #expect(await client.eventually { !$0.connectionStates.isEmpty })
        #expect(await client.result(of: RedisCommand("PING")).failureCode == .unavailable)
      }
    }
  }
}
