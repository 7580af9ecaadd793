import Testing

@testable import BelfryServer

@Suite struct UnreadVariableTests {
  @Test(arguments: [
    ("BELFRY_REDI", "BELFRY_REDIS"), ("BELFRY_REDIS_URL", "BELFRY_REDIS"), ("BELFRY_DATA_DIR", "BELFRY_DATA"),
    ("BELFRY_PORT", "BELFRY_LISTEN"), ("BELFRY_DURABILTY", "BELFRY_DURABILITY"),
    ("BELFRY_RETENTION", "BELFRY_LIMITS_RETENTION_MILLISECONDS"), ("BELFRY_DURABLE", "BELFRY_DURABILITY"),
    ("BELFRY_REDIS_MAXMEMORY", "BELFRY_EMBEDDED_REDIS_MAX_MEMORY_BYTES"),
  ]) func aBrokerStartsAndNamesWhatIsPerhapsMeant(name: String, meant: String) {
    let found = UnreadVariable.findHarmless(in: [name: "x", "BELFRY_LISTEN": "127.0.0.1:0", "PATH": "/bin"])
    #expect(found == [UnreadVariable(name: name, suggestion: meant)])
    #expect(UnreadVariable.findMisspelt(in: [name: "x"]).isEmpty)
  }

  @Test func nothingIsSuggestedForAnUnrelatedName() {
    #expect(UnreadVariable.findHarmless(in: ["BELFRY_FOO": "1"]) == [UnreadVariable(name: "BELFRY_FOO")])
    // The words of the object are no reason to suggest one of its settings.
    let name = "BELFRY_EMBEDDED_REDIS_COLOR"
    #expect(UnreadVariable.findMisspelt(in: [name: "1"]) == [UnreadVariable(name: name)])
  }

  @Test(arguments: [
    ("BELFRY_TLS_CERT_FILE", "BELFRY_TLS_CERTIFICATE_FILE"), ("BELFRY_TLS_KEY", "BELFRY_TLS_KEY_FILE"),
    ("BELFRY_PUSH_DELAY", "BELFRY_PUSH_DELAY_MILLISECONDS"),
    ("BELFRY_PUSH_DELAY_SECONDS", "BELFRY_PUSH_DELAY_MILLISECONDS"),
    ("BELFRY_EMBEDDED_REDIS_MAXMEMORY", "BELFRY_EMBEDDED_REDIS_MAX_MEMORY_BYTES"),
    ("BELFRY_TLS_CERT_PATH", "BELFRY_TLS_CERTIFICATE_FILE"),
  ]) func aBrokerDoesNotStart(name: String, meant: String) {
    #expect(UnreadVariable.findMisspelt(in: [name: "x"]) == [UnreadVariable(name: name, suggestion: meant)])
    #expect(UnreadVariable.findHarmless(in: [name: "x"]).isEmpty)
    #expect(throws: StartError(.unknownKey, "there is no such setting; perhaps \(meant) is meant", at: name))
    {
      try Configuration.load(options: ServeOptions(), environment: [name: "x"])
    }
  }

  /// An empty variable counts as not set, also one whose name is wrong. It is still named.
  @Test func anEmptyVariableKeepsNoBrokerFromStarting() throws {
    let name = "BELFRY_PUSH_DELAY"
    #expect(UnreadVariable.findMisspelt(in: [name: ""]).isEmpty)
    #expect(UnreadVariable.findHarmless(in: [name: ""]).map(\.name) == [name])
    _ = try Configuration.load(options: ServeOptions(), environment: [name: ""])
  }

  /// Kubernetes makes them for services named belfry and belfry-tls.
  @Test func thoseOfKubernetesAreNotTold() {
    let environment = [
      "BELFRY_SERVICE_HOST": "10.0.0.1", "BELFRY_SERVICE_PORT": "8080", "BELFRY_PORT": "tcp://10.0.0.1:8080",
      "BELFRY_PORT_8080_TCP_PROTO": "tcp", "BELFRY_TLS_SERVICE_HOST": "10.0.0.2",
      "BELFRY_TLS_PORT": "tcp://10.0.0.2:443",
    ]
    #expect(UnreadVariable.findHarmless(in: environment).isEmpty)
    #expect(UnreadVariable.findMisspelt(in: environment).isEmpty)
  }
}
