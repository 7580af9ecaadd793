import Testing

@testable import BelfryServer

@Suite struct OpenSecretsTests {
  @Test(
    arguments: [
      (0o600, false), (0o400, false), (0o640, true), (0o644, true), (0o444, true), (0o604, true),
    ] as [(UInt32, Bool)])
  func aFileWithSecretsIsRemarkedOnUnlessItIsItsOwnersAlone(mode: UInt32, isOpen: Bool) {
    let remark = OpenSecrets.remark(on: ["redis", "secret"], mode: mode, file: "/etc/belfry.json")
    #expect((remark != nil) == isOpen)
    guard let remark else { return }
    #expect(remark.contains("secrets in redis, secret") && remark.contains("chmod 600 /etc/belfry.json"))
    #expect(OpenSecrets.remark(on: [], mode: mode, file: "/etc/belfry.json") == nil)
  }

  @Test(arguments: [
    (#"{"redis": "redis://belfry:hunter2@127.0.0.1:1"}"#, "redis"),
    (#"{"secret": "0123456789abcdef0123456789abcdef"}"#, "secret"),
    (#"{"tokens.secrets": [{"secret": "0123456789abcdef0123456789abcdef"}]}"#, "tokens.secrets"),
  ])
  func theSettingIsNamedAndTheSecretIsNot(text: String, setting: String) async throws {
    try await TemporaryFolder.with { folder in
      for mode in [0o644, 0o600] {
        var options = ServeOptions()
        options.config = try folder.write(text, to: "belfry.json", mode: mode)
        let remarks = ConfigurationReport(options, environment: [:]).remarks
        let isNamed = remarks.contains { $0.contains("secrets in \(setting) ") && $0.contains("chmod 600") }
        #expect(isNamed == (mode == 0o644), "\(remarks)")
        #expect(!remarks.contains { $0.contains("hunter2") || $0.contains("0123456789") })
      }
    }
  }

  @Test func aFileWithoutSecretsMayBeOpen() async throws {
    try await TemporaryFolder.with { folder in
      var options = ServeOptions()
      options.config = try folder.write(#"{"redis": "redis://127.0.0.1:1"}"#, to: "belfry.json", mode: 0o644)
      // A password in the environment is not in the file.
      let environment = ["BELFRY_REDIS": "redis://belfry:hunter2@127.0.0.1:1"]
      #expect(ConfigurationReport(options, environment: environment).remarks == [])
    }
  }
}
