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
    let key = try settings.keyFile == nil ? read(path) : readConfigured(path)
    return VAPIDKey(key, contact: settings.contact)
  }

  private static func read(_ path: String) throws(StartError) -> P256PrivateKey {
    let pem = try SmallFile.read(path, sizeMaxBytes: P256PrivateKey.pemMaxBytes, openness: .readable)
    guard let key = P256PrivateKey(pem: pem) else {
      throw StartError(.secretUnusable, "it must be a P-256 private key in PEM, without a password", at: path)
    }
    return key
  }

  private static func readConfigured(_ path: String) throws(StartError) -> P256PrivateKey {
    try StartError.naming("push.keyFile") { () throws(StartError) in try read(path) }
  }

  /// The mistake in the key file that the settings name; nil if it is right, or if they name none.
  static func findUnreadable(_ settings: PushSettings) -> StartError? {
    guard let path = settings.keyFile else { return nil }
    do throws(StartError) {
      _ = try readConfigured(path)
      return nil
    } catch {
      return error
    }
  }
}
