import BelfryHTTP
import BelfryModel
import BelfryOutbound
import TestKit
import Testing

@testable import BelfryServer

/// The address of a request that came through proxies.
@Suite struct TrustedProxiesTests {
  private func client(
    of peer: String = "10.0.0.1", _ fields: [(name: String, value: String)],
    by field: TrustedProxies.Field = .forwardedFor, trusting networks: [String] = ["10.0.0.0/8", "fd00::/8"]
  ) -> String {
    var proxies = TrustedProxies()
    proxies.networks = networks.compactMap { IPNetwork($0) }
    proxies.field = field
    return proxies.client(of: ClientAddress(host: peer, isLoopback: false), HTTPHeaders(fields)).host
  }

  @Test(arguments: [
    ("192.0.2.7", "192.0.2.7"), ("192.0.2.7:4711", "192.0.2.7"), (" 192.0.2.7 ,\t10.0.0.9", "192.0.2.7"),
    // The client can have written all addresses except the last ones.
    ("198.51.100.1, 192.0.2.7", "192.0.2.7"), ("10.0.0.5, 192.0.2.7, 10.0.0.9", "192.0.2.7"),
    ("2001:DB8::1", "2001:db8::1"), ("[2001:db8::1]:80", "2001:db8::1"), ("::ffff:192.0.2.7", "192.0.2.7"),
    ("10.0.0.8, 10.0.0.9", "10.0.0.8"),
    // Nobody knows who was in front of the proxy that wrote this.
    ("192.0.2.7, unknown", "10.0.0.1"), ("192.0.2.7, unknown, 10.0.0.9", "10.0.0.9"),
    ("192.0.2.7,", "10.0.0.1"),
    ("", "10.0.0.1"), ("x", "10.0.0.1"), ("[", "10.0.0.1"), ("127.1", "10.0.0.1"),
  ])
  func theLastAddressThatIsNoProxysIsTheClients(_ value: String, _ address: String) {
    #expect(client(of: "10.0.0.1", [("X-Forwarded-For", value)]) == address)
  }

  @Test(arguments: [
    ("for=192.0.2.7", "192.0.2.7"), ("For=192.0.2.7;proto=https;by=10.0.0.1", "192.0.2.7"),
    ("proto=https; for=\"[2001:db8::1]:4711\"", "2001:db8::1"),
    ("for=198.51.100.1, for=192.0.2.7", "192.0.2.7"),
    ("for=198.51.100.1, for=_hidden", "10.0.0.1"), ("for=198.51.100.1, by=10.0.0.1", "10.0.0.1"),
    ("for=", "10.0.0.1"), ("for=\"", "10.0.0.1"), ("192.0.2.7", "10.0.0.1"),
  ])
  func theStandardsFieldIsReadWhereItIsNamed(_ value: String, _ address: String) {
    #expect(client([("Forwarded", value)], by: .forwarded) == address)
    // A proxy that writes the other field passes this one on as the client sent it.
    #expect(client([("Forwarded", value)]) == "10.0.0.1")
    #expect(client([("Forwarded", value), ("X-Forwarded-For", "203.0.113.9")], by: .forwarded) == address)
  }

  @Test func severalFieldsAreOneList() {
    #expect(client([("X-Forwarded-For", "192.0.2.7"), ("x-forwarded-for", "10.0.0.9")]) == "192.0.2.7")
  }

  @Test func nobodyElseIsBelieved() {
    let fields = [(name: "X-Forwarded-For", value: "198.51.100.1")]
    #expect(client(of: "192.0.2.7", fields) == "192.0.2.7")
    #expect(client(fields, trusting: []) == "10.0.0.1")
    #expect(client(of: "", fields) == "")
  }

  @Test func whatAFieldSaysOpensNothing() {
    var proxies = TrustedProxies()
    proxies.networks = ["127.0.0.0/8", "10.0.0.0/8"].compactMap { IPNetwork($0) }
    func isLoopback(_ peer: String, _ isLocal: Bool, _ value: String) -> Bool {
      proxies.client(
        of: ClientAddress(host: peer, isLoopback: isLocal), HTTPHeaders([("X-Forwarded-For", value)])
      ).isLoopback
    }
    #expect(!isLoopback("127.0.0.1", true, "192.0.2.7"))
    #expect(isLoopback("127.0.0.1", true, "127.0.0.1"))
    #expect(!isLoopback("10.0.0.1", false, "127.0.0.1"))
  }

  @Test func streamsAuditAndMetricsGoByTheClient() async throws {
    try await withBroker(configure: {
      $0.proxies.networks = try [#require(IPNetwork("127.0.0.0/8"))]
    }) { broker in
      let bob = try broker.token("bob")
      let through = ("X-Forwarded-For", "198.51.100.1, 192.0.2.7")
      let stream = try broker.connect()
      stream.begin("GET", "/v1/notifications/stream", as: bob, headers: [through])
      #expect(try stream.answer(hasBody: false).status == 200)
      let socket = TestSocket(
        try RawSocket(
          port: broker.port, path: "/v1/socket", headers: [("Authorization", "Bearer \(bob)"), through]))
      #expect(try socket.hear()["ok"] != nil)
      try await eventually {
        try broker.ask("GET", "/v1/account/streams", as: bob).json["streams"]?.elements.map { $0["address"] }
          == ["192.0.2.7", "192.0.2.7"]
      }
      let app = try broker.token("app", .app)
      for headers in [[through], []] {
        let made = try broker.ask(
          "POST", "/v1/servers", as: app, #"{"name":"x"}"#, headers: [("Belfry-Account", "bob")] + headers)
        #expect(made.status == 201)
      }
      let entries = try broker.ask("GET", "/v1/audit", as: try broker.token("ops", .operation)).json[
        "entries"]
      #expect(entries?.elements.map { $0["address"] } == ["127.0.0.1", "192.0.2.7"])
      #expect(try broker.ask("GET", "/metrics", headers: [through]).status == 401)
      #expect(try broker.ask("GET", "/metrics").status == 200)
    }
  }
}
