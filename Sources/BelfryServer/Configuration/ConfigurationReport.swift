import BelfryBytes
import BelfryHooks
import BelfryOutbound
import BelfryRedis

/// A configuration as `belfry serve` would read it, with all its mistakes. It lets operators check a
/// configuration before a start.
package struct ConfigurationReport: Sendable, Hashable {
  package struct Entry: Sendable, Hashable {
    /// The setting's key, as written in the file.
    package var setting: String
    /// Nil if the setting is not set. For a secret, the value shows only that there is one.
    package var value: String?
    /// The behaviour if the setting is not set.
    package var otherwise: String
    /// The place that the value comes from: `belfry.json`, `BELFRY_LOOPS` or `--listen`; nil: the default.
    package var source: String?
  }

  /// All settings that exist.
  package private(set) var entries: [Entry] = []
  /// The mistakes that keep `belfry serve` from starting.
  package private(set) var mistakes: [StartError] = []
  /// The remarks about settings that do not keep it from starting, but are probably not intended.
  package private(set) var remarks: [String] = []

  /// Reads the configuration and the files that it names. It creates nothing and changes nothing.
  package init(_ options: ServeOptions, environment: [String: String]) {
    var found: [StartError] = []
    let collect: Configuration.MistakeHandler = { error in found.append(error) }
    guard let read = try? Configuration.read(options: options, environment: environment, else: collect) else {
      return
    }
    let file = options.config ?? environment[Configuration.configVariable]
    entries = Setting.all.map { setting in
      let place = read.places[setting.key]
      return Entry(
        setting: setting.key, value: setting.shown(read.configuration), otherwise: setting.otherwise,
        source: place == file.map { "\($0): \(setting.key)" } ? file : place)
    }
    // A setting whose value was refused is not missing as well.
    mistakes = found.filter { mistake in
      !found.contains {
        $0.place.hasSuffix(": \(mistake.place)") || $0.place == Setting.variable(of: mistake.place)
      }
    }
    check(read.configuration)
    remarks += Configuration.remarks(on: read.configuration, from: read.places, options, environment)
  }

  /// Checks the files that the settings name. A group of settings with a mistake is left out: in place of the value that was
  /// refused it has the default, and the check would look for a file that nobody named.
  private mutating func check(_ configuration: Configuration) {
    guard !mistakes.contains(where: { $0.code == .unreadableFile || $0.code == .malformedFile }) else {
      return
    }
    if !isRefused("secret", "tokens", "data") {
      checkTokenKeys(of: configuration)
      checkKeySet(of: configuration)
    }
    if !isRefused("tls") {
      let unreadable = ServerCertificate.findUnreadable(configuration.tls)
      mistakes += unreadable
      if unreadable.isEmpty { check(configuration.tls) }
    }
    if !isRefused("push"), let mistake = VAPIDKey.findUnreadable(configuration.push) {
      mistakes.append(mistake)
    }
    if isRefused("redis", "embeddedRedis") { return }
    if let url = configuration.redisURL { return check(redis: url) }
    check(configuration.embeddedRedis)
  }

  /// True if the value of a setting whose key begins like one of these was refused, or the key is misspelt.
  private func isRefused(_ keys: String...) -> Bool {
    let beginnings = keys.flatMap { key in [": \(key)", "--\(key)", Setting.variable(of: key)] }
    return mistakes.contains { mistake in
      beginnings.contains { mistake.place.utf8.contains($0.utf8) }
    }
  }

  private mutating func checkTokenKeys(of configuration: Configuration) {
    let folder = configuration.dataFolder
    let unusable = TokenKeys.findUnusable(configuration, inDataFolder: folder)
    mistakes += unusable
    // The first start makes the secret.
    let isMade = configuration.secret != .dataFolder || SecretFolder(inDataFolder: folder).isThere
    guard unusable.isEmpty, isMade else { return }
    do throws(StartError) {
      _ = try TokenKeys(for: configuration, inDataFolder: folder)
    } catch {
      mistakes.append(error)
    }
  }

  /// A broker would start, and never get the keys.
  private mutating func checkKeySet(of configuration: Configuration) {
    let policy = AddressPolicy(allowedNetworks: configuration.allowedNetworks)
    guard let url = configuration.tokens.jwksURL, let cause = policy.refusal(of: url) else { return }
    remarks.append("tokens.jwksUrl \(cause)")
  }

  private mutating func check(_ settings: EmbeddedRedisSettings) {
    do throws(StartError) {
      _ = try StartError.naming("embeddedRedis.server") { () throws(StartError) in
        try RedisExecutable.find(settings.server)
      }
    } catch {
      mistakes.append(error)
    }
    do throws(StartError) {
      _ = try StartError.naming("embeddedRedis.configFile") { () throws(StartError) in
        try RedisLaunch.namedConfigFile(settings)
      }
    } catch {
      mistakes.append(error)
    }
  }

  private mutating func check(_ settings: TLSSettings) {
    do throws(StartError) {
      if let flaw = try ServerCertificate.load(settings)?.flaw { remarks.append(flaw) }
    } catch {
      mistakes.append(error)
    }
  }

  private mutating func check(redis url: String) {
    do throws(RedisError) {
      try RedisEndpoint(url: url).checkFiles()
    } catch {
      mistakes.append(StartError(.invalidValue, "\(error.place): \(error.cause)", at: "redis"))
    }
  }
}
