import BelfrySystem
import Testing

@testable import BelfryClient

@Suite struct ReconnectPolicyTests {
  private let backoff = Backoff(.seconds(1), atMost: .seconds(8), jitter: .full)
  private let lost = BelfryError(.transport, "gone")

  @Test func `the pause's bound doubles with each failure up to the cap`() {
    let bounds = (1...6).map { backoff.pause(failures: $0, random: 1) }
    #expect(bounds == [1, 2, 4, 8, 8, 8].map { Duration.seconds($0) })
  }

  @Test func `the pause lies anywhere below its bound, and what the broker asks comes on top`() {
    #expect(backoff.pause(failures: 3, random: 0) == .zero)
    #expect(backoff.pause(failures: 3, random: 0.25) == .seconds(1))
    #expect(backoff.pause(failures: 3, floor: .seconds(10), random: 0.25) == .seconds(11))
  }

  @Test func `any count of failures gives a pause within the cap`() {
    for failures in [Int.min, -1, 0, 1, 63, 64, Int.max] {
      #expect((.zero...Duration.seconds(8)).contains(backoff.pause(failures: failures, random: 1)))
    }
  }

  @Test func `failures add up until something is heard`() {
    var policy = ReconnectPolicy(backoff: backoff)
    #expect(policy.decide(.failed(lost), random: 1) == .reconnect(after: .seconds(1)))
    #expect(policy.decide(.failed(lost), random: 1) == .reconnect(after: .seconds(2)))
    policy.heard()
    #expect(policy.decide(.failed(lost), random: 1) == .reconnect(after: .seconds(1)))
  }

  @Test func `honours retry and Retry-After, the longer of them`() {
    var policy = ReconnectPolicy(backoff: backoff)
    policy.asked(toPause: .seconds(3))
    #expect(policy.decide(.failed(lost), random: 0) == .reconnect(after: .seconds(3)))
    let busy = BelfryError(.unavailable, "busy", status: 503, retryAfterSeconds: 5)
    #expect(policy.decide(.failed(busy), random: 0) == .reconnect(after: .seconds(5)))
    #expect(policy.decide(.kicked(retry: true), random: 0) == .reconnect(after: .seconds(3)))
  }

  @Test func `does not believe in a pause of hours`() {
    var policy = ReconnectPolicy(backoff: backoff)
    policy.asked(toPause: .milliseconds(Int64.max))
    #expect(policy.decide(.failed(lost), random: 0) == .reconnect(after: .seconds(300)))
  }

  @Test(arguments: [400, 401, 403, 404, 409, 410, 501])
  func `ends when asking again cannot help`(status: Int) {
    var policy = ReconnectPolicy(backoff: backoff)
    let refusal = BelfryError(.forbidden, "no", status: status)
    #expect(policy.decide(.failed(refusal), random: 0) == .end(refusal))
  }

  @Test(arguments: [408, 429, 500, 502, 503, 504])
  func `comes back when it may pass`(status: Int) {
    var policy = ReconnectPolicy(backoff: backoff)
    let refusal = BelfryError(.unavailable, "later", status: status)
    #expect(policy.decide(.failed(refusal), random: 0) == .reconnect(after: .zero))
  }

  @Test func `a kick without retry ends`() {
    var policy = ReconnectPolicy(backoff: backoff)
    #expect(policy.decide(.kicked(retry: false), random: 0) == .end(nil))
  }
}
