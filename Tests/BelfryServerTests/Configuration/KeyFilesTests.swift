import BelfryBytes
import Foundation
import Testing

@testable import BelfryServer

@Suite struct KeyFilesTests {
  private func keys(
    in folder: String, _ change: (inout Configuration) -> Void = { _ in }
  ) throws -> TokenKeys {
    var configuration = Configuration()
    change(&configuration)
    return try TokenKeys(for: configuration, inDataFolder: folder)
  }

  @Test func aSecretIsMadeOnceForItsOwnerOnly() async throws {
    try await TemporaryFolder.with { parent in
      let secrets = SecretFolder(inDataFolder: parent.path)
      try secrets.makeIfMissing()
      let first = try secrets.signing()
      #expect(try String(contentsOfFile: "\(parent.path)/secret", encoding: .utf8).count == 65)
      #expect(try parent.mode(of: "secret") == 0o600)
      try secrets.makeIfMissing()
      #expect(try keys(in: parent.path).signers == [first])
      try await TemporaryFolder.with { other in
        try SecretFolder(inDataFolder: other.path).makeIfMissing()
        #expect(try keys(in: other.path).signing != first)
      }
    }
  }

  @Test(arguments: [0o640, 0o604, 0o660])
  func aSecretOfTheFolderThatOthersMayReadIsRefused(mode: Int) async throws {
    try await TemporaryFolder.with { parent in
      let path = try parent.write(String(repeating: "s", count: 64), to: "secret", mode: mode)
      let error = try #require(throws: StartError.self) { try keys(in: parent.path) }
      #expect(error.code == .secretUnusable)
      #expect(error.cause.contains("chmod 600 \(path)"))
    }
  }

  @Test(arguments: ["s", "-----BEGIN PUBLIC KEY-----"])
  func whatIsNoSecretIsRefused(text: String) async throws {
    try await TemporaryFolder.with { parent in
      let count = text.count == 1 ? 31 : 3
      _ = try parent.write(String(repeating: text, count: count) + "\n", to: "secret")
      let error = try #require(throws: StartError.self) { try keys(in: parent.path) }
      #expect(error.code == .secretUnusable)
    }
  }

  @Test func aConfiguredSecretLeavesTheFolderWithout() async throws {
    try await TemporaryFolder.with { parent in
      let text = String(repeating: "s", count: 40)
      let signer = TokenSigner(secret: Array(text.utf8))
      let path = try parent.write(text + "\n", to: "mine", mode: 0o444)
      #expect(try keys(in: parent.path) { $0.secret = .file(path: path) }.signers == [signer])
      #expect(try keys(in: parent.path) { $0.secret = .text(text) }.signers == [signer])
      #expect(throws: StartError.self) { try keys(in: parent.path) }
    }
  }

  @Test(arguments: [0o666, 0o664, 0o646, 0o662])
  func filesThatOthersMayWriteAreRefused(mode: Int) async throws {
    try await TemporaryFolder.with { parent in
      let good = try parent.write(String(repeating: "s", count: 40), to: "good")
      let secret = try parent.write(String(repeating: "s", count: 40), to: "mine", mode: mode)
      let pem = try parent.write(TokenSamples.ed25519PEM, to: "key.pem", mode: mode)
      let set = try parent.write(#"{"keys":[]}"#, to: "keys.json", mode: mode)
      let changes: [(inout Configuration) -> Void] = [
        { $0.secret = .file(path: secret) },
        {
          $0.secret = .several([
            NamedSecret(source: .file(path: good)), NamedSecret(source: .file(path: secret)),
          ])
        },
        { $0.tokens.publicKeys = [TokenSettings.PublicKeyFile(path: pem)] },
        { $0.tokens.jwksFile = set },
      ]
      for change in changes {
        let error = try #require(throws: StartError.self) {
          try keys(in: parent.path) { configuration in
            configuration.secret = .file(path: good)
            change(&configuration)
          }
        }
        let place = error.place.split(separator: ": ")
        #expect(Setting.all.contains { $0.key == place.first.map(String.init) }, "\(error.place)")
        #expect(error.cause.contains("chmod go-w \(place.last ?? "")"))
      }
    }
  }

  @Test func keysAreWhatIsConfigured() async throws {
    try await TemporaryFolder.with { parent in
      let one = try parent.write("the first of two secrets, 32 bytes\n", to: "one", mode: 0o444)
      let pem = try parent.write(TokenSamples.rsaPEM, to: "rsa.pem", mode: 0o644)
      let set = try parent.write(
        #"{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"ed-1","x":"\#(TokenSamples.ed25519X)"}]}"#,
        to: "keys.json", mode: 0o644)
      let file = try parent.write(
        """
        {"tokens": {"secrets": [{"kid": "b", "file": "\(one)"},
           {"secret": "the second of two secrets, 32 byte"}],
         "publicKeys": [{"kid": "rsa-1", "file": "\(pem)"}], "jwksFile": "\(set)",
         "issuer": "https://id.example", "audience": "belfry"}}
        """, to: "belfry.json")
      var options = ServeOptions()
      options.config = file
      let configuration = try Configuration.load(options: options, environment: [:])
      let keys = try TokenKeys(for: configuration, inDataFolder: parent.path)
      #expect(keys.signing == TokenSigner(secret: Array("the first of two secrets, 32 bytes".utf8), kid: "b"))
      #expect(keys.signers.count == 2)
      #expect(keys.publicKeys.map(\.kid) == ["rsa-1", "ed-1"])
      #expect(keys.publicKeys.map(\.algorithm) == [.rs256, .edDSA])
      #expect(keys.expected == ExpectedClaims(issuer: "https://id.example", audience: "belfry"))
      let variables = [
        "BELFRY_TOKENS_SECRETS": #"[{"kid":"b","file":"\#(one)"}]"#,
        "BELFRY_TOKENS_PUBLIC_KEYS": #"[{"file":"\#(pem)"}]"#, "BELFRY_TOKENS_JWKS_FILE": set,
      ]
      let same = try Configuration.load(options: ServeOptions(), environment: variables)
      #expect(try TokenKeys(for: same, inDataFolder: parent.path).publicKeys.count == 2)
    }
  }

  @Test(arguments: [
    #"{"tokens":{"secrets":[]}}"#, #"{"tokens":{"secrets":"x"}}"#, #"{"tokens":{"secrets":[{"kid":"a"}]}}"#,
    #"{"tokens":{"secrets":[{"secret":"short"}]}}"#, #"{"tokens":{"secrets":[{"files":"x"}]}}"#,
    #"{"tokens":{"publicKeys":[{"kid":"a"}]}}"#, #"{"tokens":{"jwksFile":"https://id.example/jwks"}}"#,
    #"{"secretFile":"x","tokens":{"secrets":[{"file":"y"}]}}"#, #"{"tokens":{"issuers":"x"}}"#,
  ])
  func mistakesAreNamed(text: String) {
    var configuration = Configuration()
    let error = #expect(throws: StartError.self) {
      try configuration.apply(try ConfigurationFile.parse(Array(text.utf8), path: "belfry.json"))
    }
    #expect(error?.description.contains("short") == false)
  }

  @Test func aRotationAcceptsBothAllTheTime() async throws {
    try await TemporaryFolder.with { parent in
      let secrets = SecretFolder(inDataFolder: parent.path)
      try secrets.makeIfMissing()
      let old = try secrets.signing().kid
      let new = try secrets.addNext()
      #expect(try secrets.all().map(\.kid) == [old, new])
      #expect(try parent.mode(of: "secrets") == 0o700)
      try secrets.sign(with: new)
      #expect(try secrets.all().map(\.kid) == [new, old])
      #expect(throws: StartError.self) { try secrets.retire(new) }
      #expect(throws: StartError.self) { try secrets.retire("../secret") }
      try secrets.retire(old)
      #expect(try secrets.all().map(\.kid) == [new])
      for _ in 0..<7 { _ = try secrets.addNext() }
      #expect(throws: StartError.self) { try secrets.addNext() }
    }
  }
}
