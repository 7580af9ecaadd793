import SimulatedRedis
import TestKit
import Testing

/// Messages reach subscribers as a real Redis sends them.
@Suite struct ChannelTests {
  @Test func messagesAreThoseOfRedis() async throws {
    var options = RedisServer.Options()
    options.listensOnTCP = true
    try await withRedisServer(options) { server in
      let (listener, publisher) = (try RealRedis(server), try RealRedis(server))
      let simulated = SimulatedRedis()
      var (here, there) = (SimulatedClient(id: 1), SimulatedClient(id: 2))
      func both(_ words: String...) throws {
        let command = words.map { Bytes($0.utf8) }
        let expected = try listener.ask(command)
        #expect(simulated.execute(command, on: &here, at: 1).replies == [expected], "\(words)")
      }
      func say(_ words: String...) throws {
        let command = words.map { Bytes($0.utf8) }
        let expected = try publisher.ask(command)
        let outcome = simulated.execute(command, on: &there, at: 1)
        #expect(outcome.replies == [expected], "\(words)")
        for push in outcome.pushes {
          #expect(push.client == 1)
          #expect(try listener.readReply() == push.message)
        }
      }
      try both("PING")
      try both("SSUBSCRIBE", "a")
      try both("SSUBSCRIBE", "b")
      try both("SSUBSCRIBE", "a")
      try both("PING")
      try both("PING", "x")
      try both("GET", "x")
      try say("SPUBLISH", "a", "one")
      try say("SPUBLISH", "none", "nobody")
      try say("PUBSUB", "SHARDNUMSUB", "a", "b", "none")
      try say("EVAL", "redis.call('SPUBLISH', 'a', 'two') return redis.call('SPUBLISH', 'b', 'three')", "0")
      try both("SUNSUBSCRIBE", "a")
      try say("SPUBLISH", "a", "gone")
      try both("SUNSUBSCRIBE", "b")
      try both("SUNSUBSCRIBE")
      try both("GET", "x")
    }
  }
}
