import BelfryBytes
import BelfryModel
import Testing

@testable import BelfryServer

@Suite struct ConfigurationTests {
  @Test func nothingGivenIsTheDefaults() throws {
    let configuration = try Configuration.load(options: ServeOptions(), environment: [:])
    #expect(configuration == Configuration())
    #expect(configuration.redisURL == nil)
    #expect(configuration.listen.description == "127.0.0.1:8080")
    #expect((1...Configuration.loopsMax).contains(configuration.loops))
  }

  @Test func theEnvironmentOverridesTheFileAndOptionsOverrideBoth() async throws {
    try await TemporaryFolder.with { folder in
      var options = ServeOptions()
      options.config = try folder.write(
        #"{"listen": "127.0.0.1:1", "loops": 1, "data": "one", "limits": {"entriesPerSpace": 1000}}"#,
        to: "belfry.json")
      options.listen = "127.0.0.1:3"
      let configuration = try Configuration.load(
        options: options,
        environment: [
          "BELFRY_LISTEN": "127.0.0.1:2", "BELFRY_LOOPS": "2", "BELFRY_LIMITS_CHANNELS_PER_SERVER": "7",
          "BELFRY_EMBEDDED_REDIS_APPENDFSYNC": "always",
        ])
      #expect(configuration.listen.port == 3)
      #expect(configuration.loops == 2)
      #expect(configuration.dataFolder == "one")
      #expect(configuration.limits.entriesPerSpace == 1_000)
      #expect(configuration.limits.channelsPerServer == 7)
      #expect(configuration.embeddedRedis.appendFsync == .always)
    }
  }

  @Test func whatPagesMayDo() throws {
    let configuration = try Configuration.load(
      options: ServeOptions(),
      environment: [
        "BELFRY_BROWSERS_ALLOWED_ORIGINS": #"["https://app.example", "http://[::1]:8090"]"#,
        "BELFRY_BROWSERS_COOKIE": "true", "BELFRY_BROWSERS_HOSTS": #"["Belfry.example"]"#,
      ])
    let browsers = configuration.browsers
    #expect(browsers.allowedOrigins.map(\.description) == ["https://app.example", "http://[::1]:8090"])
    #expect(browsers.givesCookies && browsers.hosts.map(\.description) == ["belfry.example"])
    let many = (0...BrowserSettings.listMax).map { "\"http://a\($0)\"" }.joined(separator: ",")
    for (name, text) in [
      ("ALLOWED_ORIGINS", "[\(many)]"), ("ALLOWED_ORIGINS", "https://app.example"), ("COOKIE", "yes"),
      ("HOST", "x"),
    ] {
      let error = #expect(throws: StartError.self) {
        try Configuration.load(options: ServeOptions(), environment: ["BELFRY_BROWSERS_\(name)": text])
      }
      #expect(error?.description.contains("BELFRY_BROWSERS_\(name)") == true)
    }
  }

  @Test func whichNetworksAreTrustedWithWhat() throws {
    let configuration = try Configuration.load(
      options: ServeOptions(),
      environment: [
        "BELFRY_PROXIES_TRUSTED": #"["127.0.0.1", "fd00::/8"]"#, "BELFRY_PROXIES_FIELD": "Forwarded",
        "BELFRY_PUSH_ALLOWED_NETWORKS": #"["10.0.0.0/8"]"#,
      ])
    #expect(configuration.proxies.networks.map(\.description) == ["127.0.0.1", "fd00::/8"])
    #expect(configuration.proxies.field == .forwarded)
    #expect(configuration.push.allowedNetworks.map(\.description) == ["10.0.0.0/8"])
    #expect(configuration.allowedNetworks.isEmpty)
    for (name, text) in [
      ("PROXIES_TRUSTED", "127.0.0.1"), ("PROXIES_TRUSTED", #"["proxy"]"#), ("PROXIES_FIELD", "X-Real-IP"),
      ("PROXIES_TRUST", "x"), ("PUSH_ALLOWED_NETWORKS", #"["10.0.0.0/33"]"#),
    ] {
      let error = #expect(throws: StartError.self) {
        try Configuration.load(options: ServeOptions(), environment: ["BELFRY_\(name)": text])
      }
      #expect(error?.description.contains("BELFRY_\(name)") == true)
    }
  }

  @Test(arguments: [1, 16, 1_024])
  func partitionsAreAPowerOfTwo(count: Int) throws {
    var options = ServeOptions()
    options.partitions = String(count)
    #expect(try Configuration.load(options: options, environment: [:]).partitions.count == count)
    let variables = ["BELFRY_PARTITIONS": "\(count)"]
    #expect(try Configuration.load(options: ServeOptions(), environment: variables).partitions.count == count)
    #expect(Configuration().partitions == .standard)
    options.partitions = String(count + 2)
    let error = try #require(throws: StartError.self) {
      try Configuration.load(options: options, environment: [:])
    }
    #expect(error.description == "--partitions: it must be a power of two from 1 to 1024 (invalidValue)")
  }

  @Test func theFileMayBeNamedByTheEnvironment() async throws {
    try await TemporaryFolder.with { folder in
      let path = try folder.write(#"{"loops": 3}"#, to: "belfry.json")
      let configuration = try Configuration.load(
        options: ServeOptions(), environment: ["BELFRY_CONFIG": path])
      #expect(configuration.loops == 3)
    }
  }

  @Test func theLaterPlaceDecidesBetweenTheSecretAndItsFile() async throws {
    try await TemporaryFolder.with { folder in
      var options = ServeOptions()
      options.config = try folder.write(#"{"secretFile": "/run/secrets/belfry"}"#, to: "belfry.json")
      let text = String(repeating: "k", count: 32)
      let configuration = try Configuration.load(options: options, environment: ["BELFRY_SECRET": text])
      #expect(configuration.secret == .text(text))
    }
  }

  @Test(arguments: [
    (#"{"lissten": "127.0.0.1:1"}"#, StartError.Code.unknownKey, "lissten"),
    (#"{"limits": {"retention": 1}}"#, .unknownKey, "limits.retention"),
    (#"{"limits": {"limits": {"loops": 1}}}"#, .unknownKey, "limits.limits"),
    (#"{"limits": 5}"#, .invalidValue, "limits"),
    (#"{"loops": 0}"#, .invalidValue, "loops"),
    (#"{"loops": 257}"#, .invalidValue, "loops"),
    (#"{"loops": "2"}"#, .invalidValue, "loops"),
    (#"{"loops": 1.5}"#, .invalidValue, "loops"),
    (#"{"loops": true}"#, .invalidValue, "loops"),
    (#"{"loops": 99999999999999999999}"#, .invalidValue, "loops"),
    (#"{"partitions": 0}"#, .invalidValue, "partitions"),
    (#"{"partitions": 48}"#, .invalidValue, "partitions"),
    (#"{"partitions": 2048}"#, .invalidValue, "partitions"),
    (#"{"partitions": "64"}"#, .invalidValue, "partitions"),
    (#"{"listen": 8080}"#, .invalidValue, "listen"),
    (#"{"listen": "8080"}"#, .invalidValue, "listen"),
    (#"{"listen": ":8080"}"#, .invalidValue, "listen"),
    (#"{"listen": "localhost:70000"}"#, .invalidValue, "listen"),
    (#"{"listen": "[::1"}"#, .invalidValue, "listen"),
    (#"{"data": ""}"#, .invalidValue, "data"),
    (#"{"browsers": true}"#, .invalidValue, "browsers"),
    (#"{"browsers": {"origins": []}}"#, .unknownKey, "browsers.origins"),
    (#"{"browsers": {"allowedOrigins": "*"}}"#, .invalidValue, "browsers.allowedOrigins"),
    (#"{"browsers": {"allowedOrigins": ["*"]}}"#, .invalidValue, "browsers.allowedOrigins"),
    (#"{"browsers": {"allowedOrigins": ["https://a.example/"]}}"#, .invalidValue, "browsers.allowedOrigins"),
    (#"{"browsers": {"allowedOrigins": ["null"]}}"#, .invalidValue, "browsers.allowedOrigins"),
    (
      #"{"browsers": {"allowedOrigins": ["http://a", "http://a"]}}"#, .invalidValue, "browsers.allowedOrigins"
    ),
    (#"{"browsers": {"cookie": "true"}}"#, .invalidValue, "browsers.cookie"),
    (#"{"browsers": {"hosts": ["https://a"]}}"#, .invalidValue, "browsers.hosts"),
    (#"{"browsers": {"hosts": ["a:b"]}}"#, .invalidValue, "browsers.hosts"),
    (#"{"data": "a\u0000b"}"#, .invalidValue, "data"),
    (#"{"redis": "http://localhost"}"#, .invalidValue, "redis"),
    (#"{"secret": "short"}"#, .invalidValue, "secret"),
    (#"{"secret": "01234567890123456789012345678901", "secretFile": "x"}"#, .invalidValue, "secretFile"),
    (#"{"embeddedRedis": {"appendfsync": "no"}}"#, .invalidValue, "embeddedRedis.appendfsync"),
    (#"{"limits": {"retentionMilliseconds": 1}}"#, .invalidValue, "limits.retentionMilliseconds"),
  ])
  func aRefusalNamesTheKeyAndTheFile(text: String, code: StartError.Code, key: String) async throws {
    try await TemporaryFolder.with { folder in
      var options = ServeOptions()
      let path = try folder.write(text, to: "belfry.json")
      options.config = path
      let error = try #require(throws: StartError.self) {
        try Configuration.load(options: options, environment: [:])
      }
      #expect(error.code == code)
      #expect(error.place == "\(path): \(key)")
    }
  }

  @Test func aRefusalNamesTheVariableOrTheOption() throws {
    func place(_ options: ServeOptions, _ environment: [String: String]) -> String? {
      do {
        _ = try Configuration.load(options: options, environment: environment)
        return nil
      } catch {
        return error.place
      }
    }
    var options = ServeOptions()
    options.loops = "many"
    #expect(place(options, [:]) == "--loops")
    #expect(place(ServeOptions(), ["BELFRY_LOOPS": "-1"]) == "BELFRY_LOOPS")
    #expect(place(ServeOptions(), ["BELFRY_LIMITS_ENTRIES": "5"]) == "BELFRY_LIMITS_ENTRIES")
    // An orchestrator sets these variables for a service of our name. They are no settings.
    #expect(place(ServeOptions(), ["BELFRY_PORT": "tcp://10.0.0.1:8080", "BELFRY_LOOPS": ""]) == nil)
  }

  @Test func secretsAndPasswordsAreNotRepeated() throws {
    for name in ["BELFRY_SECRET", "BELFRY_REDIS"] {
      let error = try #require(throws: StartError.self) {
        try Configuration.load(options: ServeOptions(), environment: [name: "hunter2"])
      }
      #expect(!error.description.contains("hunter2"))
    }
  }

  @Test(arguments: [
    (#"{"loops": 1, "loops": 2}"#, "loops"),
    (#"{"limits": {"roomsPerAccount": 1, "roomsPerAccount": 1}}"#, "rooms"),
    (#"{"limits": {"roomsPerAccount": 1}, "limits.roomsPerAccount": 2}"#, "limits.roomsPerAccount"),
    (#"{"limits": {}, "limits": {}}"#, "limits"),
  ])
  func whatStandsTwiceIsRefused(text: String, word: String) throws {
    let error = try #require(throws: StartError.self) {
      try ConfigurationFile.parse(Array(text.utf8), path: "belfry.json")
    }
    #expect(error.place.contains(word))
  }

  @Test(arguments: [
    ["BELFRY_LIMITS_ABSENCE_MILLISECONDS": "9999"], ["BELFRY_LIMITS_HEARTBEAT_MILLISECONDS": "35001"],
  ])
  func nobodyIsGoneBeforeTheirHeartbeatIsDue(variables: [String: String]) throws {
    let error = try #require(throws: StartError.self) {
      try Configuration.load(options: ServeOptions(), environment: variables)
    }
    #expect(error.place == "limits.absenceMilliseconds")
    let equal = ["BELFRY_LIMITS_ABSENCE_MILLISECONDS": "10000"]
    #expect(throws: Never.self) { try Configuration.load(options: ServeOptions(), environment: equal) }
  }

  @Test func aPasswordIsNotForTheCommandLine() throws {
    var options = ServeOptions()
    for url in ["redis://user:s3cret@redis:6379", "redis+sentinel://s/main?sentinel_password=s3cret"] {
      options.redis = url
      let error = try #require(throws: StartError.self) {
        try Configuration.load(options: options, environment: [:])
      }
      #expect(error.description.contains("BELFRY_REDIS") && !error.description.contains("s3cret"))
    }
    let variables = ["BELFRY_REDIS": "redis://user:s3cret@redis:6379"]
    #expect(throws: Never.self) { try Configuration.load(options: ServeOptions(), environment: variables) }
    options.redis = "s3cret@redis://redis:6379"
    let other = #expect(throws: StartError.self) {
      try Configuration.load(options: options, environment: [:])
    }
    #expect(other?.description.contains("s3cret") == false)
  }

  @Test func aFileThatIsMissingOrTooLongIsRefused() async throws {
    try await TemporaryFolder.with { folder in
      var options = ServeOptions()
      options.config = "\(folder.path)/none.json"
      #expect(throws: StartError.self) { try Configuration.load(options: options, environment: [:]) }
      let long = String(repeating: " ", count: ConfigurationFile.sizeMaxBytes + 1) + "{}"
      options.config = try folder.write(long, to: "long.json")
      #expect(throws: StartError.self) { try Configuration.load(options: options, environment: [:]) }
    }
  }

  @Test(arguments: ["127.0.0.1:8080", "[::1]:8080", "localhost:0", "0.0.0.0:65535"])
  func addressesReadAsWritten(text: String) throws {
    #expect(ListenAddress(text)?.description == text)
  }

  @Test func everyLimitCanBeConfigured() {
    for field in Mirror(reflecting: Limits()).children {
      let key = "limits.\(field.label ?? "")"
      #expect(Setting.byKey[UTF8Text(key)] != nil, "add \(key) to Setting.all")
    }
  }

  @Test func everySettingTakesTheExamplesValueAndTheExampleShowsEverySetting() throws {
    let text = try ProjectFile.read("config/belfry.example.json")
    let values = try ConfigurationFile.parse(Array(text.utf8), path: "belfry.example.json")
    #expect(Set(values.keys) == Set(Setting.all.map { UTF8Text($0.key) }).subtracting(["secret"]))
    var configuration = Configuration()
    try configuration.apply(values)
    // The loops' default depends on the machine, and the example is one of a deployment.
    #expect(configuration.limits == Limits())
    #expect(configuration.embeddedRedis == EmbeddedRedisSettings())
    #expect(configuration.partitions == Partitions.standard)
  }
}
