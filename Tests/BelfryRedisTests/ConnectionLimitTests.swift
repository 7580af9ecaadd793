import BelfryLoop
import TestKit
import Testing

@testable import BelfryRedis

@Suite struct ConnectionLimitTests {
  @Test func commandsBeyondTheLimitAreRefusedAtOnce() async throws {
    var limits = RedisLimits.patient
    limits.unansweredCommandsMax = 10
    try await withServerAndClient(.init(), limits) { server, client in
      _ = try await client.send(RedisCommand("PING"))
      let tooMany = [RedisCommand](repeating: RedisCommand("PING"), count: 11)
      await #expect(throws: RedisError.self) { try await client.sendPipeline(tooMany) }

      server.pause()
      defer { server.resume() }
      let codes = await withTaskGroup(of: RedisError.Code?.self) { group in
        for _ in 0..<15 {
          group.addTask { await client.result(of: RedisCommand("PING")).failureCode }
        }
        var codes: [RedisError.Code?] = []
        for await code in group {
          codes.append(code)
          // The five too many are the first to end; then the others may.
          if codes.count == 5 { server.resume() }
        }
        return codes
      }
      #expect(codes.count { $0 == .overloaded } == 5)
      #expect(codes.count { $0 == nil } == 10)
    }
  }

  @Test func bytesBeyondTheLimitAreRefused() async throws {
    var limits = RedisLimits.patient
    limits.unansweredBytesMax = 10_000
    try await withServerAndClient(.init(), limits) { _, client in
      let large = RedisCommand("SET", "key", [UInt8](repeating: 0, count: 10_001))
      #expect(await client.result(of: large).failureCode == .overloaded)
      let fitting = RedisCommand("SET", "key", [UInt8](repeating: 0, count: 9_000))
      for _ in 0..<10 {
        #expect(await client.result(of: fitting) == .success(.status("OK")))
      }
    }
  }

  @Test func aReplyBeyondTheLimitEndsTheConnectionOnly() async throws {
    var limits = RedisLimits.patient
    limits.replyBytesMax = 100_000
    try await withServerAndClient(.init(), limits) { _, client in
      _ = try await client.send(RedisCommand("SET", "key", [UInt8](repeating: 0, count: 200_000)))
      guard case .failure(let error) = await client.result(of: RedisCommand("GET", "key")) else {
        Issue.record("the reply was accepted")
        return
      }
      #expect(error.code == .connectionLost)
      #expect(error.cause.contains("100000 bytes"))
      #expect(await client.eventually { $0.connection.state == .ready })
      #expect(await client.result(of: RedisCommand("PING")) == .success(.status("PONG")))
    }
  }
}
