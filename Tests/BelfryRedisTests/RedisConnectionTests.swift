import BelfryLoop
import TestKit
import Testing

@testable import BelfryRedis

@Suite struct RedisConnectionTests {
  @Test func tenThousandMixedCommandsAreAnsweredInOrder() async throws {
    try await withServerAndClient(.init(), .patient) { _, client in
      let commands = (0..<10_000).map { number in
        switch number % 4 {
        case 0: RedisCommand("ECHO", "\(number)")
        case 1: RedisCommand("INCRBY", "counter", 1)
        case 2: RedisCommand("LRANGE", "none", 0, -1)
        default: RedisCommand("GET", "none")
        }
      }
      let replies = try await client.sendPipeline(commands)
      #expect(replies.count == 10_000)
      for (number, reply) in replies.enumerated() {
        let expected: RedisReply =
          switch number % 4 {
          case 0: .bulk(Array("\(number)".utf8))
          case 1: .integer(Int64(number / 4 + 1))
          case 2: .array([])
          default: .null
          }
        #expect(reply == expected)
      }
    }
  }

  @Test func manyCallersEachGetTheirOwnReply() async throws {
    try await withServerAndClient(.init(), .patient) { _, client in
      try await withThrowingTaskGroup { group in
        for number in 0..<5_000 {
          group.addTask {
            let reply = try await client.send(RedisCommand("ECHO", "\(number)"))
            #expect(reply == .bulk(Array("\(number)".utf8)))
          }
        }
        try await group.waitForAll()
      }
      #expect(await client.run { $0.connection.unansweredCommands } == 0)
    }
  }

  /// Exchanges of one command and of several, sent at once: those written in place among those that exist as values.
  @Test func commandsAreWrittenInPlaceAmongOthers() async throws {
    try await withServerAndClient(.init(), .patient) { _, client in
      var numbers = SeededGenerator(seed: 3)
      let sizes = (0..<400).map { _ in Int.random(in: 1...150, using: &numbers) }
      let answers = await client.run { client in
        await withCheckedContinuation { done in
          var answers: [Result<RedisReplies, RedisError>] = []
          for (exchange, size) in sizes.enumerated() {
            client.connection.send { output in
              output.append(RedisCommand("ECHO", exchange))
              if size % 3 == 0 { return }
              output.append("RPUSH") { command in
                command.append("list \(exchange)")
                for number in 0..<size { command.append(number) }
              }
              output.append("LRANGE") { $0.append(contentsOf: ["list \(exchange)", "0", "-1"]) }
            } then: {
              answers.append($0)
              if answers.count == sizes.count { done.resume(returning: answers) }
            }
          }
        }
      }
      for (exchange, size) in sizes.enumerated() {
        var expected = [RedisReply.bulk(Array("\(exchange)".utf8)[...])]
        if size % 3 != 0 {
          let elements = (0..<size).map { RedisReply.bulk(Array("\($0)".utf8)[...]) }
          expected += [.integer(Int64(size)), .array(try RedisReply.array(elements).array())]
        }
        #expect(Array(try answers[exchange].get()) == expected)
      }
    }
  }

  @Test func argumentsAndRepliesMayHoldAnyBytes() async throws {
    try await withServerAndClient(.init(), .patient) { _, client in
      let everything = (0...255).map { UInt8($0) } + Array("\r\n$5\r\nhello\r\n".utf8)
      for value in [everything, [], [0], Array("\r\n".utf8)] {
        _ = try await client.send(RedisCommand("SET", value, value))
        #expect(try await client.send(RedisCommand("GET", value)) == .bulk(value))
      }
    }
  }

  @Test func valuesMayBeLarge() async throws {
    try await withServerAndClient(.init(), .patient) { _, client in
      var numbers = SeededGenerator(seed: 1)
      let megabyte = (0..<1 << 20).map { _ in UInt8.random(in: 0...255, using: &numbers) }
      let eightMegabytes = Array((0..<8).map { _ in megabyte }.joined())
      for value in [megabyte, eightMegabytes] {
        _ = try await client.send(RedisCommand("SET", "large", value))
        #expect(try await client.send(RedisCommand("GET", "large")) == .bulk(value))
      }
    }
  }

  @Test func anErrorReplyIsThrownWithItsCode() async throws {
    try await withServerAndClient(.init(), .patient) { _, client in
      _ = try await client.send(RedisCommand("SET", "text", "a"))
      let error = await #expect(throws: RedisError.self) {
        try await client.send(RedisCommand("LPUSH", "text", "b"))
      }
      #expect(error?.code == .replied)
      #expect(error?.replyCode == "WRONGTYPE")
      #expect(error?.place.hasPrefix("LPUSH at unix:") == true)
    }
  }

  @Test func anErrorInAPipelineIsAReplyLikeAnyOther() async throws {
    try await withServerAndClient(.init(), .patient) { _, client in
      let replies = try await client.sendPipeline([
        RedisCommand("SET", "text", "a"), RedisCommand("LPUSH", "text", "b"), RedisCommand("GET", "text"),
      ])
      #expect(replies.count == 3)
      #expect(replies.first == .status("OK"))
      #expect(throws: RedisError.self) { try replies[1].integer() }
      #expect(replies.last == .bulk(Array("a".utf8)))
      #expect(try await client.sendPipeline([]) == [])
    }
  }

  @Test func tcpWorksByNumberAndByName() async throws {
    var options = RedisServer.Options()
    options.listensOnTCP = true
    try await withRedisServer(options) { server in
      let port = try #require(server.port)
      // In capitals, the name is looked up; ::1 may be tried first, where nobody listens.
      for host in ["127.0.0.1", "localhost", "LOCALHOST"] {
        try await withClient(of: "redis://\(host):\(port)", .patient) { client in
          #expect(await client.eventually { $0.connection.state == .ready })
          let reply = try await client.send(RedisCommand("PING"))
          #expect(reply == .status("PONG"))
        }
      }
    }
  }

  @Test func closingFailsWhatIsInFlightAndWhatFollows() async throws {
    try await withServerAndClient(.init(), .patient) { server, client in
      _ = try await client.send(RedisCommand("PING"))
      server.pause()
      defer { server.resume() }
      async let inFlight = client.result(of: RedisCommand("PING"))
      #expect(await client.eventually { $0.connection.unansweredCommands == 1 })
      await client.close()
      #expect(await inFlight.failureCode == .connectionLost)
      #expect(await client.result(of: RedisCommand("PING")).failureCode == .closed)
      #expect(await client.run { $0.connection.state } == .closed)
    }
  }
}
