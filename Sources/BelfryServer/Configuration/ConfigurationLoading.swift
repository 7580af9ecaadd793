import BelfryBytes
import BelfryModel

/// What was written on the command line of `belfry serve`, not yet understood.
package struct ServeOptions: Sendable, Hashable {
  package var config: String?
  package var listen: String?
  package var data: String?
  package var redis: String?
  package var loops: String?
  package var partitions: String?
  package var adoptsSettings = false

  package init() {}
}

extension Configuration {
  /// The defaults, overridden by the file, by the environment, and by the options, in this order. Nothing is
  /// touched on disk but the file that is read.
  package static func load(
    options: ServeOptions, environment: [String: String]
  ) throws(StartError) -> Configuration {
    var configuration = Configuration()
    if let path = options.config ?? environment[configVariable] {
      try configuration.apply(try ConfigurationFile.read(path))
    }
    try configuration.apply(try values(of: environment))
    try configuration.apply(values(of: options))
    configuration.adoptsSettings = options.adoptsSettings
    try configuration.limits.check()
    return configuration
  }

  static let configVariable = "BELFRY_CONFIG"

  /// - Parameter values: by the settings' keys.
  mutating func apply(_ values: [UTF8Text: ConfiguredValue]) throws(StartError) {
    let secrets = ["secretFile", "secret", "tokens.secrets"].compactMap { values[UTF8Text($0)] }
    if secrets.count(where: { $0.value != .null }) > 1, let value = secrets.first {
      throw value.refused("give one of secretFile, secret and tokens.secrets")
    }
    // In the list's order, so that of several mistakes always the same one is reported.
    for setting in Setting.all {
      guard let value = values[UTF8Text(setting.key)], value.value != .null else { continue }
      try setting.assign(&self, value)
    }
  }

  /// Variables of ours that no setting has are refused only where they can be nothing else: an orchestrator
  /// may put `BELFRY_SERVICE_HOST` and `BELFRY_PORT` into every container beside a service named belfry.
  private static func values(of environment: [String: String]) throws(StartError) -> [UTF8Text:
    ConfiguredValue]
  {
    var values: [UTF8Text: ConfiguredValue] = [:]
    for setting in Setting.all {
      // An empty variable is how composed environments say "not set".
      guard let text = environment[setting.variable], !text.isEmpty else { continue }
      values[UTF8Text(setting.key)] = ConfiguredValue(text: text, place: setting.variable)
    }
    let known = Set(Setting.all.map(\.variable))
    let stray = environment.keys.sorted().first { name in
      ["BELFRY_LIMITS_", "BELFRY_EMBEDDED_REDIS_", "BELFRY_TOKENS_"].contains { name.hasPrefix($0) }
        && !known.contains(name)
    }
    if let stray { throw StartError(.unknownKey, "there is no such setting", at: stray) }
    return values
  }

  private static func values(of options: ServeOptions) -> [UTF8Text: ConfiguredValue] {
    let texts = [
      "listen": options.listen, "data": options.data, "redis": options.redis, "loops": options.loops,
      "partitions": options.partitions,
    ]
    return texts.compactMapValues { $0 }.reduce(into: [:]) { values, option in
      values[UTF8Text(option.key)] = ConfiguredValue(text: option.value, place: "--\(option.key)")
    }
  }
}

extension Limits {
  /// What each of them may be, its setting says.
  fileprivate func check() throws(StartError) {
    guard absenceMilliseconds >= heartbeatMilliseconds else {
      throw StartError(
        .invalidValue,
        "it must not be less than limits.heartbeatMilliseconds, which is \(heartbeatMilliseconds): "
          + "whoever keeps to that would be taken for gone", at: "limits.absenceMilliseconds")
    }
  }
}
