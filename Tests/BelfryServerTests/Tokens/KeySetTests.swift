import BelfryBytes
import BelfryLoop
import BelfryOutbound
import Foundation
import TestKit
import Testing

@testable import BelfryServer

/// Keys that are fetched.
@Suite struct KeySetTests {
  private static let ed =
    #"{"kty":"OKP","crv":"Ed25519","kid":"ed-1","x":"\#(TokenSamples.ed25519X)"}"#
  private static let rsa =
    #"{"kty":"RSA","kid":"rsa-1","n":"\#(TokenSamples.rsaN)","e":"AQAB"}"#

  /// The issuer's key set, and the number of fetches.
  private final class Issuer: Sendable {
    let server: ScriptedServer
    private let shared: Shared<Step>

    init(_ keys: String...) throws {
      let step = Shared(Step.answer(200, Self.set(keys)))
      server = try ScriptedServer { _, _ in [step.withLock { $0 }] }
      shared = step
    }

    private static func set(_ keys: [String]) -> String { #"{"keys":[\#(keys.joined(separator: ","))]}"# }
    func serve(_ keys: String...) { shared.withLock { $0 = .answer(200, Self.set(keys)) } }
    func serve(_ step: Step) { shared.withLock { $0 = step } }
  }

  private func withKeySet<R: Sendable>(
    of issuer: Issuer, allowing network: String? = "127.0.0.0/8", loops: Int = 2,
    pace: Duration = .milliseconds(500), _ body: @Sendable (TestBroker) async throws -> R
  ) async throws -> R {
    try await withBroker(
      loops: loops,
      configure: {
        $0.allowedNetworks = try network.map { [try #require(IPNetwork($0))] } ?? []
        $0.tokens.jwksPace = pace
        $0.tokens.jwksURL = OutboundURL("http://127.0.0.1:\(issuer.server.port)/keys")
      }, body)
  }

  private func ask(_ broker: TestBroker, _ token: String) throws -> Int {
    try broker.ask("GET", "/v1/types", as: token).status
  }

  /// Asks until the status is this one.
  private func expect(_ status: Int, _ broker: TestBroker, _ token: String) async throws {
    try await eventually("the status does not become \(status)", every: .milliseconds(20)) {
      try ask(broker, token) == status
    }
  }

  @Test func keysAtAnAddressAreAcceptedAndFollowed() async throws {
    let issuer = try Issuer(Self.ed)
    try await withKeySet(of: issuer) { broker async throws in
      try await expect(200, broker, TokenSamples.ed)
      // Before the next fetch, nobody can know of another key.
      let other = try ask(broker, TokenSamples.rs)
      #expect(other == 401 || other == 503)
      issuer.serve(Self.ed, Self.rsa)
      try await expect(200, broker, TokenSamples.rs)
      #expect(try ask(broker, TokenSamples.ed) == 200)
      // The broker's own keys are accepted all the time.
      #expect(try ask(broker, try broker.token("alice")) == 200)
    }
  }

  @Test func whatIsTakenAwayIsRefusedAfterTheNextFetch() async throws {
    let issuer = try Issuer(Self.ed, Self.rsa)
    try await withKeySet(of: issuer) { broker async throws in
      try await expect(200, broker, TokenSamples.rs)
      issuer.serve(Self.ed)
      // A token with an unknown key causes an early fetch.
      let head = Base64URL.encode(Array(#"{"alg":"EdDSA","kid":"nobody"}"#.utf8))
      let unknown = head + TokenSamples.ed.dropFirst(TokenSamples.ed.prefix { $0 != "." }.count)
      try await eventually("the key is still accepted", every: .milliseconds(20)) {
        _ = try ask(broker, unknown)
        return try ask(broker, TokenSamples.rs) != 200
      }
      #expect(try ask(broker, TokenSamples.ed) == 200)
    }
  }

  @Test func aFetchThatFailsKeepsTheKeys() async throws {
    let issuer = try Issuer(Self.ed)
    try await withKeySet(of: issuer) { broker async throws in
      try await expect(200, broker, TokenSamples.ed)
      issuer.serve(.answer(200, "rubbish"))
      let before = issuer.server.requests.count
      _ = try ask(broker, TokenSamples.rs)
      // The next fetch begins after the broker has handled the previous one, so it has seen at least one
      // failure.
      try await eventually("it is not fetched again", every: .milliseconds(20)) {
        _ = try ask(broker, TokenSamples.rs)
        return issuer.server.requests.count > before + 1
      }
      #expect(try ask(broker, TokenSamples.ed) == 200)
    }
  }

  /// One key with too many bits is no reason to refuse the users of the other keys.
  @Test func aKeyThatCannotBeUsedIsPassedOver() throws {
    let large = Base64URL.encode([UInt8](repeating: 0xff, count: 1_024))
    let text = #"{"keys":[{"kty":"RSA","kid":"large","n":"\#(large)","e":"AQAB"},\#(Self.ed)]}"#
    #expect(
      try JSONWebKeySet.keys(in: Array(text.utf8), passesOverUnusable: true).map(\.algorithm) == [.edDSA])
    #expect(throws: TokenError.self) { try JSONWebKeySet.keys(in: Array(text.utf8)) }
    let alone = #"{"keys":[{"kty":"RSA","kid":"large","n":"\#(large)","e":"AQAB"}]}"#
    #expect(throws: TokenError.self) {
      try JSONWebKeySet.keys(in: Array(alone.utf8), passesOverUnusable: true)
    }
  }

  @Test(arguments: [
    Step.reset, .answer(500), .answer(200, "rubbish"), .answer(200, #"{"keys":[]}"#), .answer(302),
    .answer(200, String(repeating: " ", count: KeySetFetches.answerMaxBytes + 1)),
    .answer(200, #"{"keys":[{"kty":"oct","k":"AAAA"}]}"#),
  ])
  func whatIsNoKeySetIsNone(_ step: Step) async throws {
    let issuer = try Issuer()
    issuer.serve(step)
    let loop = try EventLoop(name: "key set test")
    try loop.spawnThread()
    defer {
      loop.stop()
      loop.join()
    }
    let url = try #require(OutboundURL("http://127.0.0.1:\(issuer.server.port)/"))
    await #expect(throws: TokenError.self) { try await Fetcher(on: loop).fetch(url) }
    #expect(issuer.server.requests.count == 1)
  }

  /// A client that makes up key names causes one fetch in ten seconds, and nobody waits for it.
  @Test func strangersHaveItFetchedAtABoundedPace() async throws {
    let issuer = try Issuer(Self.ed)
    try await withKeySet(of: issuer, pace: KeySetFetches.pace) { broker async throws in
      let begin = ContinuousClock.now
      try await expect(200, broker, TokenSamples.ed)
      for _ in 0..<200 { _ = try ask(broker, TokenSamples.rs) }
      let paces = Int(begin.duration(to: .now) / KeySetFetches.pace)
      #expect(issuer.server.requests.count <= 2 + paces)
      #expect(try ask(broker, TokenSamples.rs) == 401)
    }
  }

  @Test func aSilentIssuerHoldsNobodyUp() async throws {
    let issuer = try Issuer(Self.ed)
    issuer.serve(.hold)
    try await withKeySet(of: issuer, loops: 1) { broker async throws in
      let begin = ContinuousClock.now
      for _ in 0..<20 { #expect(try ask(broker, try broker.token("alice")) == 200) }
      // Nobody can know yet if the token is valid.
      #expect(try ask(broker, TokenSamples.ed) == 503)
      // If each of them had waited ten seconds for the issuer, it would be two hundred.
      #expect(begin.duration(to: .now) < .seconds(60))
    }
  }

  @Test func anAddressInANetworkThatIsNotAllowedIsNotAsked() async throws {
    let issuer = try Issuer(Self.ed)
    try await withKeySet(of: issuer, allowing: nil) { broker async throws in
      // The keys stay unknown, even if the fetch fails many times.
      for _ in 0..<10 {
        #expect(try ask(broker, TokenSamples.ed) == 503)
        try await Task.sleep(for: .milliseconds(100))
      }
      #expect(issuer.server.connections == 0)
    }
  }

  @Test func fetchesGoByTheClock() throws {
    let fetches = KeySetFetches(try #require(OutboundURL("https://id.example/keys")))
    var now = ContinuousClock.now
    #expect(fetches.begin(now: now + .seconds(1)))
    #expect(!fetches.begin(now: now + .seconds(2)))
    #expect(fetches.missKey(now: now))
    fetches.end(isGood: false, random: 0.5, now: now)
    #expect(fetches.missKey(now: now + .seconds(3)))
    // A failure is tried again after some seconds, even if nobody asks for a key.
    #expect(!fetches.begin(now: now + .seconds(2)))
    #expect(fetches.begin(now: now + .seconds(5)))
    now += .seconds(5)
    fetches.end(isGood: true, random: 0.5, now: now)
    #expect(!fetches.begin(now: now + .seconds(299)))
    #expect(!fetches.missKey(now: now + KeySetFetches.pace - .seconds(1)))
    #expect(!fetches.begin(now: now + .seconds(20)))
    #expect(fetches.missKey(now: now + .seconds(20)))
    #expect(fetches.begin(now: now + .seconds(20)))
  }
}

private actor Fetcher {
  private nonisolated let loop: EventLoop
  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

  init(on loop: EventLoop) { self.loop = loop }

  func fetch(_ url: OutboundURL) async throws -> Int {
    let networks = [IPNetwork("127.0.0.0/8")].compactMap(\.self)
    let client = OutboundClient(
      loop: loop, policy: AddressPolicy(allowedNetworks: networks), userAgent: "test")
    defer { client.close() }
    return try await KeySetFetches(url).fetch(by: client).count
  }
}
