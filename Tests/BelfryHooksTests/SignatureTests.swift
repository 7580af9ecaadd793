import Foundation
import Testing

@testable import BelfryHooks

@Suite struct SignatureTests {
  /// The secret is the specification's example, and Python's hmac computed the signature.
  @Test func aSignatureIsTheStandardsOwn() throws {
    let secret = try #require(WebhookSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLdSw"))
    let headers = WebhookHeaders(
      id: "msg_p5jXN8AQM9LWM0D4loKWxJek", body: Array(#"{"test": 2432232314}"#.utf8), secrets: [secret],
      nowSeconds: 1_614_265_330)
    #expect(
      headers.all.map(\.value) == [
        "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", "v1,hD2mX/UJZrVNHKAghuYM02H26dzioKzvLtEsIEs6R+A=",
      ])
  }

  @Test func twoSecretsSignBoth() throws {
    let (one, other) = (WebhookSecret.random(), WebhookSecret.random())
    func signature(_ secrets: [WebhookSecret]) -> String? {
      WebhookHeaders(id: "a", body: [1], secrets: secrets, nowSeconds: 7).all.last?.value
    }
    #expect(signature([one, other]) == "\(signature([one]) ?? "") \(signature([other]) ?? "")")
    #expect(one != other)
  }

  @Test(arguments: [(23, false), (24, true), (64, true), (65, false)])
  func aSecretHasItsSize(_ count: Int, _ isGood: Bool) {
    let text = "whsec_" + Data(repeating: 7, count: count).base64EncodedString()
    #expect((WebhookSecret(text) != nil) == isGood)
  }

  @Test(arguments: [
    "", "whsec_", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLdSw", "whsec_!!!!", "whsek_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLdSw",
  ])
  func whatIsNoSecretIsNone(_ text: String) {
    #expect(WebhookSecret(text) == nil)
  }

  @Test func aNewSecretCanBeReadAgain() {
    let secret = WebhookSecret.random()
    #expect(WebhookSecret(secret.text) == secret)
  }
}

@Suite struct CircuitBreakerTests {
  private let start = ContinuousClock.now

  @Test func manyFailuresInARowOpenItAndOneSuccessInBetweenDoesNot() {
    var breaker = CircuitBreaker()
    for round in 0..<3 {
      for _ in 1..<CircuitBreaker.failuresMax {
        let begun = breaker.begin(now: start)
        #expect(begun)
        breaker.end(isGood: false, now: start)
      }
      #expect(!breaker.isOpen, "\(round)")
      breaker.end(isGood: true, now: start)
    }
    for _ in 0..<CircuitBreaker.failuresMax { breaker.end(isGood: false, now: start) }
    #expect(breaker.isOpen)
    let begun = breaker.begin(now: start + CircuitBreaker.pause - .milliseconds(1))
    #expect(!begun)
  }

  @Test func afterThePauseOneIsTriedAndDecides() {
    var breaker = CircuitBreaker()
    for _ in 0..<CircuitBreaker.failuresMax { breaker.end(isGood: false, now: start) }
    let later = start + CircuitBreaker.pause
    var tries = (0..<3).map { _ in breaker.begin(now: later) }
    #expect(tries == [true, false, false])
    // Nothing became known: the next one is tried.
    breaker.end(isGood: nil, now: later)
    tries = (0..<2).map { _ in breaker.begin(now: later) }
    #expect(tries == [true, false])
    breaker.end(isGood: false, now: later)
    tries = [breaker.begin(now: later), breaker.begin(now: later + CircuitBreaker.pause)]
    #expect(tries == [false, true])
    breaker.end(isGood: true, now: later)
    tries = (0..<3).map { _ in breaker.begin(now: later) }
    #expect(tries == [true, true, true])
  }
}
