import Testing

@testable import BelfryRedis

@Suite struct AbortedTransactionsTests {
  private let abort = RedisReply.error("EXECABORT Transaction discarded because of previous errors.")

  @Test func anAbortIsReplacedByTheErrorThatCausedIt() {
    let refused = RedisReply.error("OOM command not allowed when used memory > 'maxmemory'.")
    let replies = [.status("OK"), refused, refused, abort]
    #expect(replies.withCausesOfAborts == [.status("OK"), refused, refused, refused])
  }

  @Test func errorsOfOtherCommandsAreNoCauses() {
    let other = RedisReply.error("WRONGTYPE no")
    let refused = RedisReply.error("OOM no")
    let replies = [
      other, .status("OK"), .status("QUEUED"), .null, other, .status("OK"), refused, abort, .status("OK"),
      abort,
    ]
    var expected = replies
    expected[7] = refused
    #expect(replies.withCausesOfAborts == expected)
  }
}
