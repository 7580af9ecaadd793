import BelfryModel
import Testing

@testable import BelfryServer

/// A token in a cookie.
@Suite struct SessionTests {
  private static let page = "https://app.example"

  private static func allow(_ configuration: inout Configuration) {
    configuration.browsers.allowedOrigins = [page].compactMap { WebOrigin($0) }
    configuration.browsers.givesCookies = true
  }

  private func logIn(
    _ broker: TestBroker, _ token: String, headers: [(String, String)] = []
  ) throws -> (answer: Answer, cookie: String) {
    let answer = try broker.ask("POST", "/v1/session", as: token, headers: [("Origin", Self.page)] + headers)
    let field = try #require(answer.headers["set-cookie"])
    return (answer, String(field.prefix { $0 != ";" }))
  }

  @Test func aCookieStandsForTheToken() async throws {
    try await withBroker(configure: Self.allow) { broker in
      let (answer, cookie) = try logIn(broker, try broker.token("bob", device: "phone", seconds: 300))
      #expect(answer.status == 201)
      let field = try #require(answer.headers["set-cookie"])
      let attributes = field.split(separator: "; ").dropFirst().map { String($0) }
      #expect(field.utf8.starts(with: "__Host-belfry=".utf8))
      #expect(Set(attributes).isSuperset(of: ["Path=/", "HttpOnly", "Secure", "SameSite=Strict"]))
      let age = attributes.first { $0.utf8.starts(with: "Max-Age=".utf8) }?.split(separator: "=").last.flatMap
      { Int($0) }
      #expect((295...300).contains(age ?? 0))
      for headers in [[("Cookie", cookie)], [("Cookie", "a=b; \(cookie); c=d"), ("Origin", Self.page)]] {
        #expect(try broker.ask("GET", "/v1/account", headers: headers).status == 200)
      }
      let streams = try broker.connect()
      streams.begin("GET", "/v1/notifications/stream", headers: [("Cookie", cookie), ("Origin", Self.page)])
      let head = try streams.answer(hasBody: false)
      #expect(head.status == 200 && head.headers["access-control-allow-credentials"] == "true")
    }
  }

  @Test func aPageOfAnotherSiteIsGivenACookieThatIsSentThere() async throws {
    try await withBroker(configure: Self.allow) { broker in
      let bob = try broker.token("bob")
      for (site, sameSite) in [
        ("cross-site", "None"), ("same-site", "Strict"), ("same-origin", "Strict"), ("x", "Strict"),
      ] {
        let answer = try logIn(broker, bob, headers: [("Sec-Fetch-Site", site)]).answer
        #expect(answer.headers["set-cookie"]?.contains("SameSite=\(sameSite)") == true, "\(site)")
      }
      let plain = try broker.ask("POST", "/v1/session", as: bob, headers: [("Sec-Fetch-Site", "cross-site")])
      #expect(plain.headers["set-cookie"]?.contains("SameSite=Strict") == true)
    }
  }

  /// A form on another page sends the cookie along, and must not be able to change anything with it.
  @Test func whatChangesSomethingNeedsAnOriginThatIsAllowed() async throws {
    try await withBroker(configure: Self.allow) { broker in
      let cookie = ("Cookie", try logIn(broker, try broker.token("bob")).cookie)
      let body = #"{"toAccids":["alice"],"body":"x"}"#
      func send(_ headers: [(String, String)]) throws -> Answer {
        try broker.ask("POST", "/v1/notifications", as: nil, body, headers: headers)
      }
      #expect(try send([cookie, ("Origin", Self.page)]).status == 201)
      for headers in [
        [], [("Origin", "null")], [("Origin", "https://evil.example")], [("Origin", "https://APP.example")],
      ] {
        let answer = try send([cookie] + headers)
        #expect(answer.status == 403 && answer.field == "Origin", "\(headers)")
      }
      // The header of the browser itself: for a picture, a link, or a frame on another page.
      for (site, status) in [("cross-site", 403), ("same-site", 403), ("same-origin", 200), ("none", 200)] {
        for path in ["/v1/account", "/v1/notifications/counts"] {
          let answer = try broker.ask("GET", path, headers: [cookie, ("Sec-Fetch-Site", site)])
          #expect(answer.status == status, "\(site) \(path)")
        }
      }
      let stream = try broker.connect()
      stream.begin("GET", "/v1/notifications/stream", headers: [cookie, ("Sec-Fetch-Site", "cross-site")])
      #expect(try stream.answer().status == 403)
      // Reading needs no origin. It is refused to a page that may not read the answer.
      #expect(try broker.ask("GET", "/v1/notifications", headers: [cookie]).status == 200)
      #expect(try broker.ask("HEAD", "/v1/notifications", headers: [cookie]).status == 200)
      #expect(
        try broker.ask("GET", "/v1/notifications", headers: [cookie, ("Origin", "https://evil.example")])
          .status == 403)
    }
  }

  @Test func authorizationGoesBeforeTheCookie() async throws {
    try await withBroker(configure: Self.allow) { broker in
      let cookie = ("Cookie", try logIn(broker, try broker.token("bob")).cookie)
      let body = #"{"mayWrite":"nobody"}"#
      #expect(
        try broker.ask("PATCH", "/v1/account", as: try broker.token("alice"), body, headers: [cookie]).status
          == 200)
      #expect(try broker.ask("GET", "/v1/account", headers: [cookie]).json["mayWrite"] == "everybody")
      #expect(try broker.ask("GET", "/v1/account", as: "nonsense", headers: [cookie]).status == 401)
      #expect(
        try broker.ask("GET", "/v1/account", headers: [cookie, ("Authorization", "Basic x")]).status == 401)
    }
  }

  @Test func cookiesThatWerePutThereByOthers() async throws {
    try await withBroker(configure: Self.allow) { broker in
      let cookie = try logIn(broker, try broker.token("bob")).cookie
      let value = String(cookie.split(separator: "=").last ?? "")
      for (header, status) in [
        ("\(cookie); \(cookie)", 400), ("\(cookie);x=y;__Host-belfry=z", 400),
        ("belfry-session=\(value)", 401),
        ("__host-belfry=\(value)", 401), ("__Host-belfry=x", 401), ("__Host-belfry=", 401),
        ("\(cookie)x", 401),
        ("__Host-belfry=\"\(value)\"", 401),
      ] {
        let answer = try broker.ask("GET", "/v1/account", headers: [("Cookie", header)])
        #expect(answer.status == status, "\(header)")
      }
      let twice = try broker.ask("GET", "/v1/account", headers: [("Cookie", cookie), ("Cookie", "a=b")])
      #expect(twice.status == 400 && twice.code == "malformed")
    }
  }

  /// An address that the browser calls 127.0.0.1 usually has no TLS. Without TLS the browser takes no cookie
  /// with such a name.
  @Test func onTheLoopbackTheCookieHasAnotherName() async throws {
    try await withBroker(configure: Self.allow) { broker in
      let bob = try broker.token("bob")
      func ask(_ method: String, _ path: String, host: String, _ fields: String) throws -> Answer {
        let connection = try broker.connect()
        connection.send(Array("\(method) \(path) HTTP/1.1\r\nHost: \(host)\r\n\(fields)\r\n\r\n".utf8))
        return try connection.answer()
      }
      for (host, name) in [
        ("127.0.0.1:8080", "belfry-session"), ("localhost", "belfry-session"), ("a.b", "__Host-belfry"),
      ] {
        let answer = try ask("POST", "/v1/session", host: host, "Authorization: Bearer \(bob)")
        let field = try #require(answer.headers["set-cookie"])
        #expect(field.utf8.starts(with: "\(name)=".utf8))
        #expect(field.contains("Secure") == (name == "__Host-belfry"))
        // A page behind a proxy that does not show itself brings the name that it was given there.
        for (other, isTaken) in [("__Host-belfry", true), ("belfry-session", name == "belfry-session")] {
          let status = try ask("GET", "/v1/account", host: host, "Cookie: \(other)=\(bob)").status
          #expect(status == (isTaken ? 200 : 401), "\(host) \(other)")
        }
        let ended = try ask("DELETE", "/v1/session", host: host, "X: y")
        #expect(
          ended.status == 204
            && ended.headers["set-cookie"]?.utf8.starts(with: "\(name)=; Path=/; Max-Age=0".utf8) == true)
      }
    }
  }

  /// A proxy may speak TLS and write its own `Host`, as nginx does by default.
  @Test func behindAProxyTheCookieIsSecure() async throws {
    try await withBroker(configure: Self.allow) { broker in
      let bob = try broker.token("bob")
      func ask(_ method: String, _ path: String, _ fields: [String]) throws -> Answer {
        let connection = try broker.connect()
        let lines = ["\(method) \(path) HTTP/1.1", "Host: 127.0.0.1:8080"] + fields
        connection.send(Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8))
        return try connection.answer()
      }
      for sign in [
        "Origin: \(Self.page)", "X-Forwarded-For: 192.0.2.7", "x-forwarded-proto: https",
        "Forwarded: for=192.0.2.7", "Via: 1.1 proxy", "X-Real-IP: 192.0.2.7", "X-Forwarded-Host: app.example",
      ] {
        let field = try #require(
          try ask("POST", "/v1/session", ["Authorization: Bearer \(bob)", sign]).headers["set-cookie"])
        #expect(field.utf8.starts(with: "__Host-belfry=".utf8) && field.contains("; Secure;"), "\(sign)")
        // Another host of the same domain can set this cookie.
        #expect(
          try ask("GET", "/v1/account", ["Cookie: belfry-session=\(bob)", sign]).status == 401, "\(sign)")
      }
      #expect(try ask("GET", "/v1/account", ["Cookie: __Host-belfry=\(bob)"]).status == 200)
      let alice = try broker.token("alice")
      #expect(try broker.ask("PATCH", "/v1/account", as: bob, #"{"mayWrite":"nobody"}"#).status == 200)
      let both = try ask("GET", "/v1/account", ["Cookie: belfry-session=\(alice); __Host-belfry=\(bob)"])
      #expect(both.json["mayWrite"] == "nobody", "it is bob's that counts: \(both)")
    }
  }

  @Test func whoMayBeginAndEndASession() async throws {
    try await withBroker(configure: Self.allow) { broker in
      let bob = try broker.token("bob")
      let evil = ("Origin", "https://evil.example")
      #expect(try broker.ask("POST", "/v1/session", as: bob, headers: [evil]).status == 403)
      #expect(try broker.ask("DELETE", "/v1/session", headers: [evil]).status == 403)
      #expect(try broker.ask("DELETE", "/v1/session").status == 204)
      let cookie = try logIn(broker, bob).cookie
      let again = try broker.ask("POST", "/v1/session", headers: [("Cookie", cookie), ("Origin", Self.page)])
      #expect(again.status == 401 && again.headers["set-cookie"] == nil)
      let made = try broker.ask(
        "POST", "/v1/keys", as: try broker.token("ops", .operation), #"{"name":"back end"}"#)
      let key = try #require(made.json["key"]?.text)
      try await Task.sleep(for: .milliseconds(50))
      #expect(try broker.ask("POST", "/v1/session", as: key).status == 403)
      let large = broker.broker.keys.signing.mint(
        TokenClaims(
          subject: String(repeating: "x", count: 3_000), role: .app, expiresAtSeconds: 4_102_444_800))
      let refused = try broker.ask("POST", "/v1/session", as: large)
      #expect(refused.status == 400 && refused.field == "Authorization")
    }
  }

  @Test func aBrokerThatIsNotConfiguredForThemTakesNone() async throws {
    try await withBroker { broker in
      let bob = try broker.token("bob")
      #expect(try broker.ask("POST", "/v1/session", as: bob).status == 404)
      #expect(try broker.ask("DELETE", "/v1/session").status == 404)
      #expect(
        try broker.ask("GET", "/v1/account", headers: [("Cookie", "__Host-belfry=\(bob)")]).status == 401)
    }
  }
}
