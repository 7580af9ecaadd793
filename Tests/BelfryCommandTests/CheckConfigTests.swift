import BelfryModel
import Foundation
import Testing

@testable import BelfryServer

@Suite(.timeLimit(.minutes(2))) struct CheckConfigTests {
  private func withFile(_ text: String, _ body: (String) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("belfry-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appendingPathComponent("belfry.json")
    try Data(text.utf8).write(to: file)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    try body(file.path)
  }

  private func run(_ words: [String], _ environment: [String: String] = [:]) throws -> Executable.Outcome {
    var executable = Executable(token: nil)
    executable.environment.merge(environment) { $1 }
    return try executable.run(["check-config"] + words)
  }

  private func row(_ setting: String, in outcome: Executable.Outcome) -> [String]? {
    let rows = outcome.out.split(separator: "\n").map {
      $0.split(separator: #/  +/#).map(String.init)
    }
    return rows.first { $0.first == setting }
  }

  @Test func `every setting is told, with its value and where it is from`() throws {
    try withFile(#"{"loops": 1, "listen": "127.0.0.1:1", "limits": {"entriesPerSpace": 1000}}"#) { file in
      let outcome = try run(
        ["--config", file, "--listen", "127.0.0.1:3"],
        [
          "BELFRY_LISTEN": "127.0.0.1:2", "BELFRY_DATA": "/tmp/none",
          "BELFRY_SECRET": String(repeating: "s", count: 32),
        ])
      #expect(outcome.code == 0, "\(outcome.err)")
      #expect(outcome.err.isEmpty)
      for setting in Setting.all { #expect(row(setting.key, in: outcome) != nil, "\(setting.key)") }
      #expect(row("listen", in: outcome) == ["listen", "127.0.0.1:3", "--listen"])
      #expect(row("data", in: outcome) == ["data", "/tmp/none", "BELFRY_DATA"])
      #expect(row("loops", in: outcome) == ["loops", "1", file])
      #expect(row("limits.entriesPerSpace", in: outcome)?.last == file)
      #expect(
        row("limits.retentionMilliseconds", in: outcome)?.dropFirst() == ["604800000 (7 d)", "default"])
      #expect(row("secret", in: outcome) == ["secret", "(not shown)", "BELFRY_SECRET"])
      #expect(!FileManager.default.fileExists(atPath: "/tmp/none"))
    }
  }

  @Test func `files of certificates are looked at, those for Redis, too`() throws {
    let secret = ["BELFRY_SECRET": String(repeating: "s", count: 32)]
    for (environment, words) in [
      (
        ["BELFRY_TLS_CERTIFICATE_FILE": "/nowhere.pem", "BELFRY_TLS_KEY_FILE": "/k.pem"],
        "tls.certificateFile: /nowhere.pem"
      ),
      (
        ["BELFRY_TLS_CERTIFICATE_FILE": "/nowhere.pem", "BELFRY_TLS_KEY_FILE": "/k.pem"],
        "tls.keyFile: /k.pem"
      ),
      (
        ["BELFRY_TLS_CERTIFICATE_FILE": "/nowhere.pem"],
        "tls.keyFile: it is needed, because tls.certificateFile is set"
      ),
      (["BELFRY_REDIS": "rediss://localhost?ca=/nowhere.pem"], "redis: /nowhere.pem"),
      (
        ["BELFRY_EMBEDDED_REDIS_CONFIG_FILE": "/nowhere.conf"],
        "embeddedRedis.configFile: /nowhere.conf: cannot read it"
      ),
    ] {
      let outcome = try run([], environment.merging(secret) { $1 })
      #expect(outcome.code == 2)
      #expect(outcome.err.contains(words), "\(outcome.err)")
    }
  }

  @Test func `an address that a broker never connects to is remarked on`() throws {
    let outcome = try run(
      [],
      [
        "BELFRY_SECRET": String(repeating: "s", count: 32),
        "BELFRY_TOKENS_JWKS_URL": "https://10.0.0.1/keys.json",
      ])
    #expect(outcome.code == 0)
    #expect(outcome.err.contains("tokens.jwksUrl cannot lead to 10.0.0.1"), "\(outcome.err)")
  }

  @Test func `no secret and no password is shown`() throws {
    let text = String(repeating: "s3cret", count: 8)
    let outcomes = try [
      run([], ["BELFRY_SECRET": text, "BELFRY_REDIS": "redis://u:s3cret@127.0.0.1:1"]),
      run(["--json"], ["BELFRY_TOKENS_SECRETS": #"[{"secret":"\#(text)"}]"#]),
      run([], ["BELFRY_TOKENS_SECRETS": #"[{"secret":"s3cret"}]"#]),
    ]
    for outcome in outcomes { #expect(!(outcome.out + outcome.err).contains("s3cret"), "\(outcome)") }
    #expect(row("redis", in: outcomes[0])?[1] == "redis://***@127.0.0.1:1")
  }

  @Test func `all mistakes are told at once, with what was probably meant`() throws {
    let text = #"{"limts": {}, "entriesPerSpace": 5, "limits": {"retention": 1, "loops": 3}, "loops": 0}"#
    try withFile(text) { file in
      let outcome = try run(
        ["--config", file, "--listen", "x"], ["BELFRY_LIMITS_ENTRIES": "2", "BELFRY_LISTN": "y"])
      #expect(outcome.code == 2)
      for said in [
        "\(file): limts: there is no such setting; perhaps limits is meant\n",
        "\(file): entriesPerSpace: there is no such setting; perhaps limits.entriesPerSpace is meant\n",
        "\(file): limits.retention: there is no such setting; perhaps limits.retentionMilliseconds is meant\n",
        "\(file): limits.loops: there is no such setting; perhaps loops is meant\n",
        "\(file): loops: it must be",
        "BELFRY_LIMITS_ENTRIES: there is no such setting; perhaps BELFRY_LIMITS_ENTRIES_PER_SPACE is meant\n",
        "BELFRY_LISTN is not a setting, so it has no effect; perhaps BELFRY_LISTEN is meant\n",
        "--listen: it must be HOST:PORT",
        "a broker would not start: 7 mistakes\n",
      ] { #expect(outcome.err.contains(said), "\(said) is not in \(outcome.err)") }
      let json = try JSONDecoder().decode(
        JSONValue.self, from: Data(run(["--config", file, "--json"]).out.utf8))
      guard case .object(let members) = json, case .array(let mistakes)? = members["mistakes"] else {
        Issue.record("\(json)")
        return
      }
      #expect(mistakes.count == 5)
    }
  }

  @Test(arguments: [
    (#"{"tls": {"certFile": "x"}}"#, "tls.certFile", "tls.certificateFile"),
    (#"{"durable": "replicated"}"#, "durable", "durability"),
    (#"{"embeddedRedis": {"memory": 1}}"#, "embeddedRedis.memory", "embeddedRedis.maxMemoryBytes"),
    (#"{"redisMaxMemory": 1}"#, "redisMaxMemory", "embeddedRedis.maxMemoryBytes"),
    (#"{"pusher": {}}"#, "pusher", "push"),
  ])
  func `a key by other words gets the real name suggested`(text: String, key: String, meant: String) throws {
    try withFile(text) { file in
      let said = try run(["--config", file]).err
      #expect(
        said.contains("\(file): \(key): there is no such setting; perhaps \(meant) is meant\n"), "\(said)")
    }
  }

  @Test(arguments: [
    (#"{"secretFile": "/nonexistent"}"#, "secretFile: /nonexistent: cannot read it"),
    (#"{"tokens": {"secrets": [{"file": "/nonexistent"}]}}"#, "tokens.secrets: /nonexistent: cannot read it"),
    (#"{"tokens": {"publicKeys": [{"file": "/nonexistent"}]}}"#, "tokens.publicKeys: /nonexistent: cannot"),
    (#"{"tokens": {"jwksFile": "/dev/null"}}"#, "tokens.jwksFile: /dev/null: "),
    (#"{"embeddedRedis": {"server": "/nonexistent"}}"#, "embeddedRedis.server: /nonexistent: "),
    (#"{"limits": {"heartbeatMilliseconds": 50000}}"#, "limits.absenceMilliseconds: it must be at least"),
    (
      #"{"callbacks": [{"url": "https://a.example", "events": ["notification.send"], "onFailure": "deny"}]}"#,
      "callbacks[0]: it needs secret\n"
    ),
    (
      #"{"callbacks": [{"url": "http://127.0.0.1:1/", "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "events": ["notification.send"], "onFailure": "deny"}]}"#,
      "callbacks[0].url: it cannot lead to 127.0.0.1, which is not a public address, and not in a network of webhooks.allowedNetworks"
    ),
    ("{", "(line 1)"), ("[]", "it must be one JSON object"),
  ])
  func `files that settings name are read, and named with their setting`(text: String, said: String) throws {
    try withFile(text) { file in
      let outcome = try run(["--config", file])
      #expect(outcome.code == 2)
      #expect(outcome.err.contains(said), "\(outcome.err)")
    }
    #expect(
      try run(["--config", "/nonexistent.json"]).err.contains(
        "unreadableFile: /nonexistent.json: cannot read it"))
  }

  @Test func `files are read although other settings are wrong`() throws {
    let text = """
      {"loops": 0, "tls": {"certificateFile": "/absent", "keyFile": "/absent", "minimum": "1"},
       "secretFile": "/no-secret", "embeddedRedis": {"server": "/no-server"}}
      """
    try withFile(text) { file in
      let outcome = try run(["--config", file])
      #expect(outcome.code == 2)
      for said in [
        "\(file): loops: it must be", "\(file): tls.minimum: it must be",
        "secretFile: /no-secret: cannot read it", "embeddedRedis.server: /no-server: ",
        "a broker would not start: 4 mistakes\n",
      ] { #expect(outcome.err.contains(said), "\(said) is not in \(outcome.err)") }
      // These are read once all settings of TLS are right.
      #expect(!outcome.err.contains("/absent"))
    }
  }

  @Test func `a setting whose value is refused is not missing as well`() throws {
    try withFile(#"{"tls": {"certificateFile": "/absent", "keyFile": 7}}"#) { file in
      let outcome = try run(["--config", file])
      #expect(outcome.err.contains("tls.keyFile: it must be a string"), "\(outcome.err)")
      #expect(outcome.err.contains("a broker would not start: 1 mistake\n"), "\(outcome.err)")
    }
  }

  @Test func `each file with a key that cannot be read is named`() throws {
    let text = """
      {"tokens": {"secrets": [{"kid": "a", "file": "/no-a"}, {"kid": "b", "file": "/no-b"}],
       "publicKeys": [{"file": "/no-key"}], "jwksFile": "/no-set"}}
      """
    try withFile(text) { file in
      let outcome = try run(["--config", file])
      #expect(outcome.code == 2)
      for said in [
        "tokens.secrets: /no-a: ", "tokens.secrets: /no-b: ", "tokens.publicKeys: /no-key: ",
        "tokens.jwksFile: /no-set: ",
        "a broker would not start: 4 mistakes\n",
      ] { #expect(outcome.err.contains(said), "\(said) is not in \(outcome.err)") }
    }
  }
}
