import BelfryBytes
import BelfryModel
import BelfryStore
import Foundation
import Testing

@testable import BelfryInterface
@testable import BelfryServer

@Suite struct BackEndKeyTests {
  private func create(_ broker: TestBroker, _ body: String) throws -> (id: String, key: String) {
    let made = try broker.ask("POST", "/v1/keys", as: try broker.token("ops", .operation), body)
    #expect(made.status == 201, "\(made.body)")
    return (try #require(made.json["keyId"]?.text), try #require(made.json["key"]?.text))
  }

  @Test func aKeyIsAnAppsToken() async throws {
    try await withBroker(loops: 2) { broker in
      let (id, key) = try create(broker, #"{"name":"billing"}"#)
      #expect(key.hasPrefix("blf_\(id)_") && key.utf8.count >= 4 + id.utf8.count + 1 + 43)
      for _ in 0..<8 { #expect(try broker.ask("GET", "/v1/types", as: key).status == 200) }
      let made = try broker.ask(
        "POST", "/v1/servers", as: key, #"{"name":"x"}"#, headers: [("Belfry-Account", "carol")])
      #expect(made.json["owner"] == "carol")
      #expect(try broker.ask("GET", "/v1/stats", as: key).status == 200)
      for wrong in [
        key + "A", String(key.dropLast()), "blf_\(id)_", "blf_", "blf_1_\(key.suffix(43))", "blf_x_y",
      ] {
        #expect(try broker.ask("GET", "/v1/types", as: wrong).status == 401, "\(wrong)")
      }
      // The text in Redis does not open anything.
      let kept = try broker.redis.command("HGET", "belfry:keys", id)
      #expect(!kept.contains(key.suffix(43)))
      #expect(kept.contains("billing"))
    }
  }

  @Test func onlyOperatorsMakeAndSeeKeys() async throws {
    try await withBroker { broker in
      let (id, key) = try create(broker, #"{"name":"billing"}"#)
      for token in [try broker.token("alice"), try broker.token("app", .app), key] {
        for (verb, path, body) in [
          ("POST", "/v1/keys", #"{"name":"x"}"#), ("GET", "/v1/keys", nil), ("DELETE", "/v1/keys/\(id)", nil),
          ("GET", "/v1/audit", nil),
        ] as [(String, String, String?)] {
          let answer = try broker.ask(verb, path, as: token, body)
          #expect(answer.status == 403 && answer.json["detail"]?.text?.contains("operator") == true)
        }
      }
      let list = try broker.ask("GET", "/v1/keys", as: try broker.token("ops", .operation))
      #expect(list.json["keys"]?.elements.count == 1)
      #expect(list.json["keys"]?[0]?["name"] == "billing")
      #expect(list.json["keys"]?[0]?["createdBy"] == "ops")
      #expect(!list.body.contains("blf_"))
    }
  }

  /// A back end that has filled Redis may be exactly the one that must be locked out.
  @Test func aKeyIsRevokedAlsoWhereMemoryIsFull() async throws {
    try await withBroker { broker in
      let (first, one) = try create(broker, #"{"name":"one"}"#)
      let (second, two) = try create(broker, #"{"name":"two"}"#)
      try broker.redis.command("CONFIG", "SET", "maxmemory", "1mb")
      let ops = try broker.token("ops", .operation)
      for (id, key) in [(first, one), (second, two)] {
        #expect(try broker.ask("GET", "/v1/types", as: key).status == 200)
        _ = try broker.ask("DELETE", "/v1/keys/\(id)", as: ops)
        #expect(try broker.ask("GET", "/v1/types", as: key).status == 401)
      }
    }
  }

  @Test func whoeverIsNarrowedMakesNothingWider() async throws {
    try await withBroker { broker in
      let ops = broker.broker.keys.signing.mint(
        TokenClaims(
          subject: "ops", role: .operation, scopes: [.manage],
          expiresAtSeconds: Int64(Date().timeIntervalSince1970) + 600))
      for (body, status) in [
        (#"{"name":"x"}"#, 403), (#"{"name":"x","scope":["manage","send"]}"#, 403),
        (#"{"name":"x","scope":["manage"]}"#, 201),
      ] {
        let answer = try broker.ask("POST", "/v1/keys", as: ops, body)
        #expect(answer.status == status, "\(body)")
      }
    }
  }

  @Test func scopesAndTimesHold() async throws {
    try await withBroker { broker in
      let (_, reader) = try create(broker, #"{"name":"reader","scope":["read"],"ttlSeconds":2}"#)
      #expect(try broker.ask("GET", "/v1/types", as: reader).status == 200)
      let refused = try broker.ask("POST", "/v1/servers", as: reader, #"{"name":"x"}"#)
      #expect(refused.status == 403 && refused.json["detail"]?.text?.contains("manage") == true)
      let stream = try broker.connect()
      stream.begin("GET", "/v1/notifications/stream", as: reader, headers: [("Belfry-Account", "bob")])
      _ = try stream.answer(hasBody: false)
      let last = try #require(try stream.nextEvent())
      #expect(last.json == ["reason": "tokenExpired", "retry": false])
      #expect(try broker.ask("GET", "/v1/types", as: reader).status == 401)
      for body in [
        #"{"name":"x","scope":[]}"#, #"{"name":"x","scope":["all"]}"#, #"{"scope":["read"]}"#,
        #"{"name":"x","ttlSeconds":0}"#,
      ] {
        #expect(
          try broker.ask("POST", "/v1/keys", as: try broker.token("ops", .operation), body).status == 400)
      }
    }
  }

  @Test func aRevokedKeyAndItsStreamsEndAtOnce() async throws {
    try await withBroker(loops: 2) { broker in
      let (id, key) = try create(broker, #"{"name":"billing"}"#)
      let (_, other) = try create(broker, #"{"name":"other"}"#)
      let streams = try (0..<4).map { _ in
        let stream = try broker.connect()
        stream.begin("GET", "/v1/notifications/stream", as: key, headers: [("Belfry-Account", "bob")])
        _ = try stream.answer(hasBody: false)
        return stream
      }
      let ops = try broker.token("ops", .operation)
      #expect(try broker.ask("DELETE", "/v1/keys/\(id)", as: ops).status == 204)
      for stream in streams {
        #expect(try stream.nextEvent()?.json == ["reason": "tokenRevoked", "retry": false])
      }
      #expect(try broker.ask("GET", "/v1/types", as: key).status == 401)
      #expect(try broker.ask("GET", "/v1/types", as: other).status == 200)
      #expect(try broker.ask("DELETE", "/v1/keys/\(id)", as: ops).status == 404)
    }
  }

  /// A key that was not checked for half a minute may have been revoked.
  @Test func keysAreNotBelievedForEver() async throws {
    try await withBroker { broker in
      let (_, key) = try create(broker, #"{"name":"billing"}"#)
      let keys = broker.broker.backEndKeys
      #expect(try keys.verify(UTF8Text(key), nowSeconds: 0, now: .now + .seconds(20)).name == "billing")
      let refusal = #expect(throws: Refusal.self) {
        try keys.verify(UTF8Text(key), nowSeconds: 0, now: .now + .seconds(31))
      }
      #expect(refusal?.code == .unavailable)
      let unread = #expect(throws: Refusal.self) { try BackEndKeys().verify(UTF8Text(key), nowSeconds: 0) }
      #expect(unread?.code == .unavailable)
    }
  }

  /// A look that began before the revocation may end after the one that saw it.
  @Test func anOlderLookRevivesNoKey() throws {
    let (key, text) = BackEndKey.make(
      name: "x", scopes: nil, by: "ops", nowMilliseconds: 1_000, lifetimeSeconds: nil)
    let (keys, now) = (BackEndKeys(), ContinuousClock.now)
    #expect(keys.take([key], version: "1", lookedAt: now))
    #expect(keys.take([], version: "2", lookedAt: now + .seconds(2)))
    #expect(!keys.take([key], version: "1", lookedAt: now + .seconds(1)))
    #expect(throws: Refusal.self) { try keys.verify(UTF8Text(text), nowSeconds: 0, now: now) }
  }

  @Test func aRecordThatNobodyWroteIsNoKey() {
    let (key, _) = BackEndKey.make(
      name: "x", scopes: [.read], by: "ops", nowMilliseconds: 1_000, lifetimeSeconds: 5)
    #expect(BackEndKey(id: key.id.text, record: key.record) == key)
    for record in [
      "", "{}", "[]", key.record.replacing("sha256", with: "sha"),
      key.record.replacing("\"read\"", with: "1"),
    ] {
      #expect(BackEndKey(id: key.id.text, record: record) == nil)
    }
    #expect(BackEndKey(id: "x", record: key.record) == nil)
  }
}
