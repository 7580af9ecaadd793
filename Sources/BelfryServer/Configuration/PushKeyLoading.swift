import BelfryBytes
import BelfryHooks
import Glibc

extension VAPIDKey {
  static let fileName = "push-key.pem"

  /// The key for Web Push: the configured one, or that of the data folder. An embedded Redis has one broker only, which
  /// makes its own; several brokers have to have the same one, for browsers subscribe with it.
  /// - Returns: nil where there is none.
  static func load(for configuration: Configuration, inDataFolder folder: String) throws(StartError)
    -> VAPIDKey?
  {
    let settings = configuration.push
    let path = settings.keyFile ?? "\(folder)/\(fileName)"
    if settings.keyFile == nil, unsafe access(path, F_OK) != 0 {
      guard configuration.redisURL == nil else { return nil }
      try SmallFile.replace(path, with: P256PrivateKey().pem, mode: 0o600, orThrow: .secretUnusable)
    }
    let pem = try SmallFile.read(path, sizeMaxBytes: P256PrivateKey.pemMaxBytes, openness: .readable)
    guard let key = P256PrivateKey(pem: pem) else {
      throw StartError(.secretUnusable, "it has no private key on P-256 in PEM, without a password", at: path)
    }
    return VAPIDKey(key, contact: settings.contact)
  }
}
