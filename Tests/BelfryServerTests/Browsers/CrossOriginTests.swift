import BelfryInterface
import BelfryModel
import TestKit
import Testing

@testable import BelfryServer

/// The answers of a broker to pages of other origins.
@Suite struct CrossOriginTests {
  private static let page = "https://app.example"

  private static func allow(_ configuration: inout Configuration) {
    configuration.browsers.allowedOrigins = [page, "http://127.0.0.1:8090"].compactMap { WebOrigin($0) }
    configuration.browsers.givesCookies = true
  }

  /// The headers that decide what a page's browser allows.
  private func granted(_ answer: Answer) -> [String: String] {
    answer.headers.filter { $0.key.utf8.starts(with: "access-control-".utf8) }
  }

  private func expectGranted(_ answer: Answer, _ what: String) {
    #expect(answer.headers["access-control-allow-origin"] == Self.page, "\(what)")
    #expect(answer.headers["access-control-allow-credentials"] == "true", "\(what)")
    #expect(answer.headers["vary"] == "Origin", "\(what)")
    let exposed = answer.headers["access-control-expose-headers"] ?? ""
    for name in ["Retry-After", "Location", "ETag", "WWW-Authenticate", "Allow"] {
      #expect(exposed.contains(name), "\(what)")
    }
  }

  @Test func everyRouteHasAPreflight() async throws {
    try await withBroker(configure: Self.allow) { broker in
      let connection = try broker.connect()
      for route in Routes.all {
        let path = route.path.parameters.reduce(into: route.path.description) { path, name in
          path = path.replacing("{\(name)}", with: "1")
        }
        let answer = try connection.ask(
          "OPTIONS", path,
          headers: [
            ("Origin", Self.page), ("Access-Control-Request-Method", route.verb.rawValue),
            ("Access-Control-Request-Headers", "authorization"),
          ])
        #expect(answer.status == 204, "\(route.name)")
        expectGranted(answer, route.name)
        let methods = answer.headers["access-control-allow-methods"] ?? ""
        #expect(methods.contains(route.verb.rawValue) && methods == answer.headers["allow"], "\(route.name)")
        #expect(methods.contains("HEAD") == methods.contains("GET"), "\(route.name)")
        let names = answer.headers["access-control-allow-headers"] ?? ""
        for name in ["Authorization", "Content-Type", "Belfry-Account", "Belfry-Device"] {
          #expect(names.contains(name), "\(route.name)")
        }
        for property in route.headerProperties { #expect(names.contains(property.name), "\(route.name)") }
        #expect(answer.headers["access-control-max-age"] == "7200")
      }
    }
  }

  @Test func refusalsAndStreamsCanBeReadByThePage() async throws {
    try await withBroker(
      configure: { configuration in
        Self.allow(&configuration)
        configuration.limits.readsPerSecondPerAccount = 1
      }
    ) { broker in
      let bob = try broker.token("bob")
      let origin = ("Origin", Self.page)
      let long = String(repeating: "x", count: 300_000)
      let requests: [(Int, String, String, String?, String?, [(String, String)])] = [
        (400, "GET", "/v1/%zz", nil, nil, []), (404, "GET", "/nothing", nil, nil, []),
        (401, "GET", "/v1/account", nil, nil, []), (405, "PUT", "/v1/notifications", nil, nil, []),
        (400, "GET", "/v1/notifications?limit=x", bob, nil, []),
        (413, "POST", "/v1/notifications", bob, long, []),
        (415, "POST", "/v1/notifications", bob, "x", [("Content-Type", "text/plain")]),
        (403, "GET", "/v1/stats", bob, nil, []), (200, "GET", "/healthz", nil, nil, []),
      ]
      for (status, method, path, token, body, headers) in requests {
        let answer = try broker.ask(method, path, as: token, body, headers: headers + [origin])
        #expect(answer.status == status, "\(method) \(path)")
        expectGranted(answer, "\(method) \(path)")
      }
      let stream = try broker.connect()
      stream.begin("GET", "/v1/notifications/stream", as: bob, headers: [origin])
      let head = try stream.answer(hasBody: false)
      #expect(head.status == 200)
      expectGranted(head, "stream")
      let tooFast = try (0..<10).map { _ in
        try broker.ask("GET", "/v1/account", as: bob, headers: [origin])
      }.first { $0.status == 429 }
      expectGranted(try #require(tooFast), "429")
      await broker.redis.stop()
      try await eventually {
        let answer = try broker.ask("GET", "/v1/account", as: try broker.token("alice"), headers: [origin])
        if answer.status == 503 { expectGranted(answer, "503") }
        return answer.status == 503
      }
    }
  }

  /// Bytes that were refused before they became a request get these headers too, as far as the request was
  /// read.
  @Test func whatIsNoRequestCanBeReadByThePage() async throws {
    try await withBroker(configure: Self.allow) { broker in
      let long = String(repeating: "x", count: 40_000)
      let many = (0..<120).map { ("X-\($0)", "y") }
      let cases: [(Int, [(String, String)])] = [
        (431, [("Cookie", long)]), (431, many), (400, [("Bad", "a\u{1}b")]),
        (400, [("Authorization", "a"), ("Authorization", "b")]), (501, [("Transfer-Encoding", "gzip")]),
      ]
      for (status, headers) in cases {
        let answer = try broker.ask("GET", "/v1/account", headers: [("Origin", Self.page)] + headers)
        #expect(answer.status == status)
        expectGranted(answer, "\(status)")
        let other = try broker.ask(
          "GET", "/v1/account", headers: [("Origin", "https://evil.example")] + headers)
        #expect(other.status == status && granted(other).isEmpty)
        let behind = try broker.ask("GET", "/v1/account", headers: headers + [("Origin", Self.page)])
        if status == 431 { #expect(behind.status == status && granted(behind).isEmpty) }
      }
    }
  }

  /// Another spelling, another port and the origin of a page in a sandbox are all refused.
  @Test(
    arguments: [
      "null", "https://APP.example", "HTTPS://app.example", "https://app.example:443",
      "https://app.example:8443",
      "http://app.example", "https://app.example/", "https://app.example.evil.example",
      "https://evil.example", "*",
      "", "https://app.example, https://evil.example", "https://app.example https://evil.example",
    ])
  func otherOriginsAreToldNothing(origin: String) async throws {
    try await withBroker(configure: Self.allow) { broker in
      let bob = try broker.token("bob")
      let preflight = try broker.ask(
        "OPTIONS", "/v1/notifications",
        headers: [("Origin", origin), ("Access-Control-Request-Method", "POST")])
      #expect(preflight.status == 204 && granted(preflight).isEmpty && preflight.headers["allow"] != nil)
      // With a token the request is answered: a page that has a token does not act behind the user's back.
      let answer = try broker.ask("GET", "/v1/account", as: bob, headers: [("Origin", origin)])
      #expect(answer.status == 200 && granted(answer).isEmpty && answer.headers["vary"] == "Origin")
    }
  }

  /// The only difference is that caches are told which header answers depend on, if there are allowed
  /// origins.
  @Test func nothingChangesWithoutOriginOrWithoutOrigins() async throws {
    let paths = ["/healthz", "/nothing", "/v1/account", "/openapi.json"]
    let plain = try await withBroker { broker in
      try paths.map { try broker.ask("GET", $0, headers: [("Origin", Self.page)]) }
    }
    let allowing = try await withBroker(configure: Self.allow) { broker in
      try paths.map { try broker.ask("GET", $0) }
    }
    for (left, right) in zip(plain, allowing) {
      #expect(left.status == right.status && left.body == right.body)
      let mayDiffer = ["date", "vary"]
      #expect(
        left.headers.filter { !mayDiffer.contains($0.key) }
          == right.headers.filter { !mayDiffer.contains($0.key) })
      #expect(granted(left).isEmpty && left.headers["vary"] == nil)
      #expect(granted(right).isEmpty && right.headers["vary"] == "Origin")
    }
  }

  @Test func twoOriginsAreRefused() async throws {
    try await withBroker(configure: Self.allow) { broker in
      let answer = try broker.ask(
        "GET", "/healthz", headers: [("Origin", "https://evil.example"), ("Origin", Self.page)])
      #expect(answer.status == 400 && answer.code == "malformed")
    }
  }

  @Test func optionsSayWhatThereIs() async throws {
    try await withBroker { broker in
      for (path, methods) in [
        ("/healthz", "GET, HEAD, OPTIONS"), ("/v1/notifications", "GET, POST, HEAD, OPTIONS"),
        ("/v1/notifications/5", "PATCH, DELETE, OPTIONS"), ("/v1/groups/mine", "GET, HEAD, OPTIONS"),
        ("*", "GET, POST, PUT, PATCH, DELETE, HEAD, OPTIONS"),
      ] {
        let answer = try broker.ask("OPTIONS", path)
        #expect(answer.status == 204 && answer.headers["allow"] == methods, "\(path)")
      }
      #expect(try broker.ask("OPTIONS", "/nothing").status == 404)
      #expect(try broker.ask("OPTIONS", "/v1/" + String(repeating: "x", count: 2_000)).status == 404)
      #expect(try broker.ask("OPTIONS", "/").status == 404)
      #expect(try broker.ask("POST", "/healthz").headers["allow"] == "GET, HEAD, OPTIONS")
    }
  }

  /// A preflight needs no token, so it must cost next to nothing and leave nothing behind.
  @Test func aFloodOfPreflightsHoldsUpNobody() async throws {
    try await withBroker(configure: Self.allow) { broker in
      let flood = try broker.connect()
      let (rounds, count) = (10, 500)
      let text =
        "OPTIONS /v1/notifications HTTP/1.1\r\nHost: test\r\nOrigin: \(Self.page)\r\n"
        + "Access-Control-Request-Method: POST\r\n\r\n"
      for _ in 0..<rounds {
        flood.send(Array(String(repeating: text, count: count).utf8))
        #expect(try broker.ask("GET", "/healthz").status == 200)
        for _ in 0..<count { #expect(try flood.answer(hasBody: false).status == 204) }
      }
      #expect(broker.broker.accountLimits.accountsSending == 0)
    }
  }

  // MARK: Hosts and documents

  @Test func otherHostsAreMisdirected() async throws {
    try await withBroker(configure: { configuration in
      configuration.browsers.hosts = ["belfry.example", "127.0.0.1:8080"].compactMap {
        HostName(Substring($0))
      }
    }) { broker in
      func ask(_ target: String, host: String?) throws -> Answer {
        let connection = try broker.connect()
        let version = host == nil ? "1.0" : "1.1"
        connection.send(
          Array("GET \(target) HTTP/\(version)\r\n\(host.map { "Host: \($0)\r\n" } ?? "")\r\n".utf8))
        return try connection.answer()
      }
      for (target, host, status) in [
        ("/metrics", "belfry.example", 200), ("/metrics", "BELFRY.example:1234", 200),
        ("/metrics", "127.0.0.1:8080", 200),
        ("/metrics", "127.0.0.1", 421), ("/metrics", "evil.example", 421), ("/metrics", "", 421),
        ("/metrics", nil, 421),
        ("/v1/account", "evil.example", 421), ("/v1/account", "belfry.example", 401),
        // The host in the target takes precedence over `Host`.
        ("http://belfry.example/metrics", "evil.example", 200),
        ("http://evil.example/metrics", "belfry.example", 421),
        // Operators often know only the broker's address. They get only answers that are for everybody.
        ("/healthz", "10.1.2.3:8080", 200), ("/readyz", "evil.example", 200),
        ("/nothing", "evil.example", 404),
      ] as [(String, String?, Int)] {
        let answer = try ask(target, host: host)
        #expect(answer.status == status, "\(target) \(host ?? "-")")
        if status == 421 { #expect(answer.code == "misdirected") }
      }
    }
  }

  @Test func documentsAreSentOnce() async throws {
    try await withBroker { broker in
      let bob = try broker.token("bob")
      for (path, token) in [("/openapi.json", nil), ("/v1/types", bob)] as [(String, String?)] {
        let first = try broker.ask("GET", path, as: token)
        let tag = try #require(first.headers["etag"])
        #expect(
          first.headers["cache-control"] == "no-cache" && first.headers["x-content-type-options"] == "nosniff"
        )
        let again = try broker.ask("GET", path, as: token, headers: [("If-None-Match", tag)])
        #expect(again.status == 304 && again.body.isEmpty && again.headers["etag"] == tag)
        #expect(again.headers["content-length"] == nil)
        let head = try broker.ask("HEAD", path, as: token)
        #expect(head.headers["content-length"] == String(first.body.utf8.count))
        #expect(head.headers["etag"] == tag)
      }
    }
  }

  @Test func headIsAnsweredAsGetIs() async throws {
    try await withBroker { broker in
      let ops = try broker.token("ops", .operation)
      for route in Routes.all where route.verb == .get && route.path.parameters.isEmpty && !route.isStream {
        let needed = route.queryProperties.filter(\.isNeeded)
        guard needed.isEmpty, route.name != "broker metrics", route.name != "broker stats" else { continue }
        let headers = [("Belfry-Account", "alice")]
        let get = try broker.ask("GET", route.path.description, as: ops, headers: headers)
        let head = try broker.ask("HEAD", route.path.description, as: ops, headers: headers)
        #expect(head.status == get.status && head.body.isEmpty, "\(route.name)")
        #expect(head.headers["content-length"] == get.headers["content-length"], "\(route.name)")
      }
      let stream = try broker.ask(
        "HEAD", "/v1/notifications/stream", as: ops, headers: [("Belfry-Account", "a")])
      #expect(stream.status == 200 && stream.headers["content-type"] == "text/event-stream")
      #expect(stream.headers["content-length"] == nil)
    }
  }
}
