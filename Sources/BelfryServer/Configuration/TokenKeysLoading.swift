import BelfryBytes
import BelfryModel

extension TokenSigner {
  /// - Parameter path: the path of a file as `secretFile` names it.
  package init(secretFile path: String) throws(StartError) {
    self.init(secret: try SigningSecret(file: path).bytes)
  }

  /// - Parameter place: the name that refusals show.
  package init(secretText text: String, from place: String) throws(StartError) {
    self.init(secret: SigningSecret(text: try ConfiguredValue(text: text, place: place).secret()).bytes)
  }
}

extension TokenKeys {
  /// The keys of a configuration, read from their files.
  package init(for configuration: Configuration, inDataFolder folder: String) throws(StartError) {
    let signers = try Self.signers(configuration.secret, SecretFolder(inDataFolder: folder))
    let publicKeys = try Self.publicKeys(configuration.tokens)
    do throws(TokenError) {
      try self.init(signers: signers, publicKeys: publicKeys, expected: configuration.tokens.expected)
    } catch {
      throw StartError(.secretUnusable, error.cause, at: "tokens")
    }
  }

  /// The files of a configuration that cannot be used, each of them.
  static func findUnusable(
    _ configuration: Configuration, inDataFolder folder: String
  ) -> [StartError] {
    var errors: [StartError] = []
    func collect(_ read: () throws(StartError) -> Void) {
      do throws(StartError) { try read() } catch { errors.append(error) }
    }
    let secrets = SecretFolder(inDataFolder: folder)
    switch configuration.secret {
    // The first start makes the secret.
    case .dataFolder: if secrets.isThere { collect { () throws(StartError) in _ = try secrets.all() } }
    case .several(let all):
      for secret in all { collect { () throws(StartError) in _ = try signer(of: secret) } }
    case .file, .text: collect { () throws(StartError) in _ = try signers(configuration.secret, secrets) }
    }
    for file in configuration.tokens.publicKeys {
      collect { () throws(StartError) in _ = try publicKey(in: file) }
    }
    collect { () throws(StartError) in _ = try keySet(configuration.tokens) }
    return errors
  }

  private static func signers(
    _ source: SecretSource, _ folder: SecretFolder
  ) throws(StartError) -> [TokenSigner] {
    switch source {
    case .dataFolder: try folder.all()
    case .text(let text): [TokenSigner(secret: SigningSecret(text: text).bytes)]
    case .file(let path):
      [
        TokenSigner(
          secret: try StartError.naming("secretFile") { () throws(StartError) in
            try SigningSecret(file: path).bytes
          })
      ]
    case .several(let secrets): try secrets.map(signer)
    }
  }

  private static func signer(of secret: NamedSecret) throws(StartError) -> TokenSigner {
    let bytes =
      switch secret.source {
      case .file(let path):
        try StartError.naming("tokens.secrets") { () throws(StartError) in
          try SigningSecret(file: path).bytes
        }
      case .text(let text): SigningSecret(text: text).bytes
      }
    return TokenSigner(secret: bytes, kid: secret.kid)
  }

  /// Files with keys have a few kilobytes.
  private static let fileMaxBytes = 256 << 10

  private static func publicKeys(_ settings: TokenSettings) throws(StartError) -> [TokenKey] {
    try settings.publicKeys.map(publicKey) + keySet(settings)
  }

  private static func publicKey(in file: TokenSettings.PublicKeyFile) throws(StartError) -> TokenKey {
    try StartError.naming("tokens.publicKeys") { () throws(StartError) in
      let pem = try SmallFile.read(file.path, sizeMaxBytes: fileMaxBytes, openness: .readable)
      return try placing(file.path) { () throws(TokenError) in
        TokenKey(try PublicKey(pem: pem), kid: file.kid)
      }
    }
  }

  /// The keys of `tokens.jwksFile`.
  private static func keySet(_ settings: TokenSettings) throws(StartError) -> [TokenKey] {
    guard let path = settings.jwksFile else { return [] }
    return try StartError.naming("tokens.jwksFile") { () throws(StartError) in
      let set = try SmallFile.read(path, sizeMaxBytes: fileMaxBytes, openness: .readable)
      return try placing(path) { () throws(TokenError) in try JSONWebKeySet.keys(in: set) }
    }
  }

  private static func placing<Result>(
    _ path: String, _ read: () throws(TokenError) -> Result
  ) throws(StartError) -> Result {
    do throws(TokenError) {
      return try read()
    } catch {
      throw StartError(.secretUnusable, error.cause, at: path)
    }
  }
}
