import BelfryBytes
import BelfryHooks
import BelfryModel
import BelfryOutbound

/// The options of `belfry serve` as given on the command line, as text.
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
  /// The defaults, overridden by the file, the environment and the options, in this order. This touches
  /// nothing on disk except the file that it reads.
  package static func load(
    options: ServeOptions, environment: [String: String]
  ) throws(StartError) -> Configuration {
    try read(options: options, environment: environment).configuration
  }

  /// Remarks about the configuration that do not keep the broker from starting.
  static func remarks(
    on configuration: Configuration, from places: [String: String], _ options: ServeOptions,
    _ environment: [String: String]
  ) -> [String] {
    let file = options.config ?? environment[configVariable]
    let open = OpenSecrets.remark(on: configuration, from: places, file: file)
    return (open.map { [$0] } ?? []) + UnreadVariable.findHarmless(in: environment).map(\.remark)
  }

  /// - Parameter refuse: called with each mistake. If it returns, the rest is read.
  /// - Returns: the configuration, and for the key of each given setting the place that its value comes from.
  static func read(
    options: ServeOptions, environment: [String: String], else refuse: MistakeHandler = throwing
  ) throws(StartError) -> (configuration: Configuration, places: [String: String]) {
    var configuration = Configuration()
    var places: [String: String] = [:]
    var given: [[UTF8Text: ConfiguredValue]] = []
    if let path = options.config ?? environment[configVariable] {
      given.append(try ConfigurationFile.read(path, else: refuse))
    }
    given += [try values(of: environment, else: refuse), values(of: options)]
    for values in given {
      for setting in try configuration.apply(values, else: refuse) {
        if secretKeys.contains(setting) { for key in secretKeys { places[key] = nil } }
        places[setting] = values[UTF8Text(setting)]?.place
      }
    }
    configuration.adoptsSettings = options.adoptsSettings
    do throws(StartError) { try configuration.limits.check() } catch { try refuse(error) }
    do throws(StartError) { try configuration.tls.check() } catch { try refuse(error) }
    do throws(StartError) { try configuration.checkDurability() } catch { try refuse(error) }
    do throws(StartError) { try configuration.checkCallbacks() } catch { try refuse(error) }
    return (configuration, places)
  }

  private func checkDurability() throws(StartError) {
    guard durability == .replicated, redisURL == nil else { return }
    throw StartError(
      .invalidValue,
      "replicated needs a Redis with replicas, and the embedded Redis has none: name another one with the setting redis",
      at: "durability")
  }

  /// Each send would wait for a callback that no request can ever reach.
  private func checkCallbacks() throws(StartError) {
    let policy = AddressPolicy(allowedNetworks: allowedNetworks)
    for (index, callback) in callbacks.enumerated() {
      guard let cause = policy.refusal(of: callback.url) else { continue }
      throw StartError(.invalidValue, "it \(cause)", at: "callbacks[\(index)].url")
    }
  }

  static let configVariable = "BELFRY_CONFIG"
  /// Settings that replace each other. One source may give only one of them, and a later source replaces the
  /// earlier one.
  private static let secretKeys = ["secretFile", "secret", "tokens.secrets"]

  typealias MistakeHandler = (StartError) throws(StartError) -> Void
  /// A start ends with the first mistake.
  static let throwing: @Sendable (StartError) throws(StartError) -> Void = {
    (error: StartError) throws(StartError) in throw error
  }

  /// - Parameter values: the values by the settings' keys.
  /// - Returns: the keys of the settings that were set.
  @discardableResult
  mutating func apply(
    _ values: [UTF8Text: ConfiguredValue], else refuse: MistakeHandler = throwing
  ) throws(StartError) -> [String] {
    let secrets = Self.secretKeys.compactMap { values[UTF8Text($0)] }
    if secrets.count(where: { $0.value != .null }) > 1, let value = secrets.first {
      try refuse(value.refused("give only one of secretFile, secret and tokens.secrets"))
    }
    var keys: [String] = []
    // This follows the order of the list. So with several mistakes, the same one is always reported first.
    for setting in Setting.all {
      guard let value = values[UTF8Text(setting.key)], value.value != .null else { continue }
      do throws(StartError) {
        try setting.assign(&self, value)
        keys.append(setting.key)
      } catch {
        try refuse(error)
      }
    }
    return keys
  }

  /// Unknown variables `BELFRY_…` are refused only if they cannot be anything but a misspelt setting.
  /// Kubernetes puts `BELFRY_SERVICE_HOST` and `BELFRY_PORT` into each container next to a service named
  /// belfry.
  private static func values(
    of environment: [String: String], else refuse: MistakeHandler
  ) throws(StartError) -> [UTF8Text: ConfiguredValue] {
    var values: [UTF8Text: ConfiguredValue] = [:]
    for setting in Setting.all {
      // Composed environments use an empty variable to say "not set".
      guard let text = environment[setting.variable], !text.isEmpty else { continue }
      values[UTF8Text(setting.key)] = ConfiguredValue(text: text, place: setting.variable)
    }
    for variable in UnreadVariable.findMisspelt(in: environment) {
      try refuse(.unknownSetting(variable.suggestion, at: variable.name))
    }
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
  /// Checks conditions between settings. Each setting alone was checked when it was read.
  fileprivate func check() throws(StartError) {
    guard absenceMilliseconds >= heartbeatMilliseconds else {
      throw StartError(
        .invalidValue,
        "it must be at least limits.heartbeatMilliseconds, which is \(heartbeatMilliseconds). "
          + "Otherwise rooms remove attendees that send their heartbeats in time",
        at: "limits.absenceMilliseconds")
    }
  }
}
