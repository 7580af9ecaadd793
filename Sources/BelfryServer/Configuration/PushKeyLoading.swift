import BelfryBytes
import BelfryHooks
import Glibc

extension Configuration {
  /// The key for Web Push in the data folder; nil if there is none, or if a setting names another file.
  var existingPushKeyPath: String? {
    let path = "\(dataFolder)/\(VAPIDKey.fileName)"
    return push.keyFile == nil && Folder.exists(path) ? path : nil
  }
}

extension VAPIDKey {
  static let fileName = "push-key.pem"

  /// The key for Web Push: the configured one, or the one in the data folder. An embedded Redis has only one
  /// broker, which makes its own key. Several brokers must share one key, because browsers subscribe with it.
  /// - Returns: nil if there is none.
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
      throw StartError(.secretUnusable, "it must be a P-256 private key in PEM, without a password", at: path)
    }
    return VAPIDKey(key, contact: settings.contact)
  }
}
