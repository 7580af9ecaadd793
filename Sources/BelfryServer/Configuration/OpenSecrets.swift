import BelfryRedis
import Glibc

/// Secrets in a configuration file that users other than its owner may read.
///
/// They are remarked on and not refused. Docker mounts such files with mode 0444, and a container has no other users.
enum OpenSecrets {
  /// A sentence for people; nil if the file holds no secret, or is closed.
  /// - Parameters:
  ///   - places: the places that the values of the settings come from.
  ///   - path: the configuration file; nil if there is none.
  static func remark(
    on configuration: Configuration, from places: [String: String], file path: String?
  ) -> String? {
    guard let path else { return nil }
    let settings = configuration.settingsWithSecrets.filter { places[$0] == "\(path): \($0)" }
    var status = stat()
    guard !settings.isEmpty, unsafe stat(path, &status) == 0 else { return nil }
    return remark(on: settings, mode: status.st_mode, file: path)
  }

  /// The rule alone.
  static func remark(on settings: [String], mode: mode_t, file path: String) -> String? {
    guard !settings.isEmpty, mode & 0o077 != 0 else { return nil }
    let octal = "0" + String(mode & 0o777, radix: 8)
    return "\(path): users other than its owner may read the secrets in \(settings.joined(separator: ", ")) "
      + "(mode \(octal)). Run chmod 600 \(path)"
  }
}

extension Configuration {
  /// The keys of the settings whose values hold a secret, and not only the name of a file.
  fileprivate var settingsWithSecrets: [String] {
    var keys: [String] = []
    if let url = redisURL, (try? RedisEndpoint(url: url))?.hasPassword == true { keys.append("redis") }
    switch secret {
    case .text: keys.append("secret")
    case .several(let secrets) where secrets.contains(where: \.isText): keys.append("tokens.secrets")
    case .several, .file, .dataFolder: break
    }
    if !callbacks.isEmpty { keys.append("callbacks") }
    return keys
  }
}

extension NamedSecret {
  fileprivate var isText: Bool { if case .text = source { true } else { false } }
}
