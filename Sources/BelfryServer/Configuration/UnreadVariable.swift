/// A variable `BELFRY_…` of the environment that is not a setting of the broker.
///
/// It does not keep a broker from starting: Kubernetes puts `BELFRY_SERVICE_HOST` and `BELFRY_PORT` into each
/// container next to a service named belfry. But somebody who misspelt a setting must learn about it. With
/// `BELFRY_REDIS_URL` in place of `BELFRY_REDIS`, each of several brokers would start on its own empty Redis
/// and report that it is ready.
package struct UnreadVariable: Sendable, Hashable {
  package var name: String
  /// The variable of the setting that was probably meant; nil if no name is similar.
  package var suggestion: String?

  /// Variables that other commands and the project's scripts read.
  private static let readByOthers: Set<String> = [
    Configuration.configVariable, "BELFRY_URL", "BELFRY_CA", "BELFRY_TOKEN", "BELFRY_MOVE_TO",
    "BELFRY_EXECUTABLE", "BELFRY_PROGRAM", "BELFRY_ROOT", "BELFRY_FIRST_SEED",
  ]

  /// The variables that are reported and do not keep a broker from starting, sorted by name.
  package static func findHarmless(in environment: [String: String]) -> [UnreadVariable] {
    find(in: environment) { name, value in
      !readByOthers.contains(name) && (value.isEmpty || !isMisspelt(name))
    }
  }

  /// The variables that keep a broker from starting, sorted by name. An empty one counts as not set, as that of a setting does.
  static func findMisspelt(in environment: [String: String]) -> [UnreadVariable] {
    find(in: environment) { name, value in !value.isEmpty && isMisspelt(name) }
  }

  private static func find(
    in environment: [String: String], where isWanted: (_ name: String, _ value: String) -> Bool
  ) -> [UnreadVariable] {
    let names = environment.compactMap { name, value in
      let isUnread = name.hasPrefix("BELFRY_") && !Setting.variables.contains(name)
      return isUnread && !isMadeByKubernetes(name, value) && isWanted(name, value) ? name : nil
    }
    return names.sorted().map { UnreadVariable(name: $0, suggestion: Setting.nearestVariable(to: $0)) }
  }

  /// True if the name begins like the settings of an object. It can only be a misspelt setting, so the broker
  /// does not start.
  private static func isMisspelt(_ name: String) -> Bool {
    Setting.objectVariablePrefixes.contains { name.hasPrefix($0) }
  }

  /// True for the names, ports and addresses that Kubernetes sets for services.
  private static func isMadeByKubernetes(_ name: String, _ value: String) -> Bool {
    let isAddress = value.hasPrefix("tcp://") || value.hasPrefix("udp://")
    return isAddress || name.contains("_SERVICE_") || name.contains("_PORT_")
  }

  /// A sentence for people.
  package var remark: String {
    "\(name) is not a setting, so it has no effect" + (suggestion.map { "; perhaps \($0) is meant" } ?? "")
  }
}
