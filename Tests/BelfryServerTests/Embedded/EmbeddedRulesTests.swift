import Testing

@testable import BelfryServer

@Suite struct EmbeddedRulesTests {
  @Test func theProgramCarriesTheProjectsRedisConf() throws {
    #expect(
      String(decoding: RedisDefaults.configuration, as: UTF8.self)
        == (try ProjectFile.read("config/redis.conf")))
  }

  @Test func oneThatEndsIsStartedAgainAtOnceAndThenEverLater() {
    var backoff = RestartBackoff()
    let start = ContinuousClock.now
    var delays: [Duration] = []
    for _ in 1...10 {
      backoff.started(at: start)
      delays.append(backoff.delay(at: start + .seconds(1)))
    }
    #expect(delays.first == .zero)
    #expect(delays[1] == .milliseconds(100))
    #expect(delays == delays.sorted())
    #expect(delays.last == RestartBackoff.delays.delayMax)

    backoff.started(at: start)
    #expect(backoff.delay(at: start + RestartBackoff.soundAfter) == .zero)
  }

  @Test(arguments: [
    ("redis_version:7.0.15\r\nprocess_id:12\r\nloading:0\r\nasync_loading:0\r\n", "ready"),
    ("redis_version:7.0.15\r\nprocess_id:12\r\nloading:1\r\n", "loading"),
    ("-NOAUTH Authentication required.\r\n", "none"),
    ("", "none"),
    ("redis_version:7.0.15\r\nprocess_id:twelve\r\nloading:0\r\n", "none"),
  ])
  func informationIsUnderstood(reply: String, expected: String) {
    let answer = RedisProbe.parse(reply)
    switch expected {
    case "ready": #expect(answer == .ready(processID: 12, version: "7.0.15"))
    case "loading": #expect(answer == .loading)
    default: #expect(answer == .none)
    }
  }

  @Test(arguments: [
    ("", false), ("$5", false), ("$5\r\nhel", false), ("$5\r\nhello", false), ("$5\r\nhello\r\n", true),
    ("-ERR no\r\n", true), ("$x\r\n", true),
  ])
  func aReplyIsCompleteWhenItsLengthIsThere(text: String, isComplete: Bool) {
    #expect(RedisProbe.isComplete(Array(text.utf8)) == isComplete)
  }
}
