import BelfryBytes
import BelfryModel

extension Setting {
  /// The settings for checking tokens.
  static let tokens: [Setting] = [
    Setting(
      "tokens.secrets",
      shown: {
        if case .several(let secrets) = $0.secret { "\(secrets.count) \(Self.notShown)" } else { nil }
      }
    ) { configuration, value throws(StartError) in
      var secrets: [NamedSecret] = []
      for object in try value.objects(["kid", "file", "secret"]) {
        let source: NamedSecret.Source
        switch (object["file"], object["secret"]) {
        case (let file?, nil): source = .file(path: try file.text())
        case (nil, let secret?): source = .text(try secret.secret())
        default: throw value.refused("each of them must have either a file or a secret")
        }
        secrets.append(NamedSecret(kid: try object["kid"]?.kid(), source: source))
      }
      configuration.secret = .several(secrets)
    },
    Setting(
      "tokens.publicKeys",
      shown: { $0.tokens.publicKeys.isEmpty ? nil : $0.tokens.publicKeys.map(\.path).joined(separator: ", ") }
    ) { configuration, value throws(StartError) in
      var keys: [TokenSettings.PublicKeyFile] = []
      for object in try value.objects(["kid", "file"]) {
        guard let file = object["file"] else { throw value.refused("each of them must have a file") }
        keys.append(TokenSettings.PublicKeyFile(kid: try object["kid"]?.kid(), path: try file.text()))
      }
      configuration.tokens.publicKeys = keys
    },
    Setting("tokens.jwksFile", shown: { $0.tokens.jwksFile }) { configuration, value throws(StartError) in
      let path = try value.text()
      guard path.utf8.prefix(4).elementsEqual("http".utf8) == false else {
        throw value.refused("it must be a file; for the URL of a key set use tokens.jwksUrl")
      }
      configuration.tokens.jwksFile = path
    },
    Setting("tokens.jwksUrl", shown: { $0.tokens.jwksURL?.text }) { configuration, value throws(StartError) in
      configuration.tokens.jwksURL = try value.url()
    },
    Setting("tokens.issuer", shown: { $0.tokens.expected.issuer }, otherwise: "any") {
      configuration, value throws(StartError) in
      configuration.tokens.expected.issuer = try value.text()
    },
    Setting("tokens.audience", shown: { $0.tokens.expected.audience }, otherwise: "any") {
      configuration, value throws(StartError) in
      configuration.tokens.expected.audience = try value.text()
    },
  ]
}

extension ConfiguredValue {
  func secret() throws(StartError) -> String {
    let text = try text()
    guard text.utf8.count >= SigningSecret.lengthMinBytes else {
      throw refused("it must have at least \(SigningSecret.lengthMinBytes) bytes")
    }
    return text
  }

  fileprivate func kid() throws(StartError) -> UTF8Text { UTF8Text(try text()) }
}
