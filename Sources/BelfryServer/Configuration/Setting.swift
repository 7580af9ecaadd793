import BelfryBytes
import BelfryModel
import BelfryRedis

/// One setting: its key in the file, its allowed values, and the property that it sets.
struct Setting: Sendable {
  /// The key, with a dot for each object in the file: `limits.entriesPerSpace`.
  let key: String
  /// The environment variable: `BELFRY_LIMITS_ENTRIES_PER_SPACE` for `limits.entriesPerSpace`. It is made
  /// once, because the configuration is read every two seconds (`FileWatch`).
  let variable: String
  /// The value as text for people; nil if it is not set, and `otherwise` applies.
  let shown: @Sendable (Configuration) -> String?
  /// The behaviour if it is not set, in words.
  let otherwise: String
  /// - Parameter value: never null.
  let assign: @Sendable (inout Configuration, ConfiguredValue) throws(StartError) -> Void

  init(
    _ key: String, shown: @escaping @Sendable (Configuration) -> String?, otherwise: String = "none",
    _ assign: @escaping @Sendable (inout Configuration, ConfiguredValue) throws(StartError) -> Void
  ) {
    self.key = key
    variable = Self.variable(of: key)
    self.shown = shown
    self.otherwise = otherwise
    self.assign = assign
  }

  static let variablePrefix = "BELFRY_"

  /// - Parameter key: a key, or the beginning of one.
  static func variable(of key: String) -> String {
    key.reduce(into: variablePrefix) { name, character in
      if character == "." || character.isUppercase { name.append("_") }
      if character != "." { name.append(character.uppercased()) }
    }
  }

  static let variables = Set(all.map(\.variable))
  static let byKey = Dictionary(uniqueKeysWithValues: all.map { (UTF8Text($0.key), $0) })

  /// The objects in the file that contain settings.
  static let objects = Set(
    all.compactMap { setting in setting.key.parts(between: ".").dropLast().first.map { UTF8Text($0) } })
  /// The prefixes of their settings' variables, such as `BELFRY_LIMITS_`.
  static let objectVariablePrefixes = objects.map { variable(of: $0.string) + "_" }
}

extension StartError {
  /// - Parameter nearest: the name that was probably meant.
  static func unknownSetting(_ nearest: String?, at place: String) -> StartError {
    StartError(
      .unknownKey,
      "there is no such setting; "
        + (nearest.map { "perhaps \($0) is meant" } ?? "belfry check-config lists all settings"), at: place)
  }
}

extension Setting {
  /// Shown in place of a secret.
  static let notShown = "(not shown)"

  static let all: [Setting] = general + tls + proxies + browsers + tokens + outbound + embeddedRedis + limits

  private static let general: [Setting] = [
    Setting("listen", shown: { $0.listen.description }) { configuration, value throws(StartError) in
      guard let address = ListenAddress(try value.text()) else {
        throw value.refused(
          "it must be HOST:PORT, such as 127.0.0.1:8080, [::1]:8080 or 0.0.0.0:8080, with a port of at most 65535"
        )
      }
      configuration.listen = address
    },
    Setting("data", shown: { $0.dataFolder }) { configuration, value throws(StartError) in
      configuration.dataFolder = try value.text()
    },
    Setting("redis", shown: { $0.redisURL?.withoutCredentials }, otherwise: "an embedded redis-server") {
      configuration, value throws(StartError) in
      let url = try value.text()
      let endpoint: RedisEndpoint
      do throws(RedisError) {
        endpoint = try RedisEndpoint(url: url)
      } catch {
        throw value.refused(error.cause)
      }
      guard !endpoint.hasPassword || !value.isOption else {
        throw value.refused(
          "everybody on this machine can read the password on a command line: "
            + "put the URL into BELFRY_REDIS or the configuration file")
      }
      configuration.redisURL = url
    },
    Setting("durability", shown: { $0.durability.rawValue }) { configuration, value throws(StartError) in
      guard let durability = Durability(word: UTF8Text(try value.text())) else {
        throw value.refused("it must be local or replicated")
      }
      configuration.durability = durability
    },
    .integer("replicas", 1...Configuration.replicasMax, \.replicas),
    .integer("loops", 1...Configuration.loopsMax, \.loops),
    Setting("partitions", shown: { "\($0.partitions.count)" }) { configuration, value throws(StartError) in
      guard let count = try? value.integer(in: 1...Partition.limit), let partitions = Partitions(count: count)
      else { throw value.refused("it must be a power of two from 1 to \(Partition.limit)") }
      configuration.partitions = partitions
    },
    Setting("secret", shown: { if case .text = $0.secret { Self.notShown } else { nil } }) {
      configuration, value throws(StartError) in
      configuration.secret = .text(try value.secret())
    },
    Setting(
      "secretFile", shown: { if case .file(let path) = $0.secret { path } else { nil } },
      otherwise: "the file secret in the data folder, unless secret or tokens.secrets is set"
    ) { configuration, value throws(StartError) in
      configuration.secret = .file(path: try value.text())
    },
    Setting("logins", shown: { $0.logins.rawValue }) { configuration, value throws(StartError) in
      guard let policy = LoginPolicy(word: UTF8Text(try value.text())) else {
        throw value.refused("it must be all, onePerDevice or onePerAccount")
      }
      configuration.logins = policy
    },
  ]

  private static let embeddedRedis: [Setting] = [
    Setting("embeddedRedis.server", shown: { $0.embeddedRedis.server }) {
      configuration, value throws(StartError) in
      configuration.embeddedRedis.server = try value.text()
    },
    Setting(
      "embeddedRedis.configFile", shown: { $0.embeddedRedis.configFile },
      otherwise: "the one that comes with Belfry"
    ) { configuration, value throws(StartError) in
      configuration.embeddedRedis.configFile = try value.text()
    },
    Setting("embeddedRedis.appendfsync", shown: { $0.embeddedRedis.appendFsync.rawValue }) {
      configuration, value throws(StartError) in
      guard let choice = EmbeddedRedisSettings.AppendFsync(word: UTF8Text(try value.text())) else {
        throw value.refused("it must be everysec or always")
      }
      configuration.embeddedRedis.appendFsync = choice
    },
    Setting(
      "embeddedRedis.maxMemoryBytes", shown: { $0.embeddedRedis.maxMemoryBytes.map { "\($0)" } },
      otherwise: "half of the memory of the machine or the container"
    ) { configuration, value throws(StartError) in
      let bytes = try value.integer(in: 0...Int(Int64.max))
      // With less, Redis has no memory for the function library.
      guard bytes == 0 || bytes >= EmbeddedRedisSettings.maxMemoryBytesMin else {
        throw value.refused("it must be 0 or at least \(EmbeddedRedisSettings.maxMemoryBytesMin)")
      }
      configuration.embeddedRedis.maxMemoryBytes = bytes
    },
  ]

  // An upper bound marks the point from which a value makes no sense or was never measured; a lower bound,
  // the point below which a broker would be useless. docs/limits.md gives the reason for each default.
  private static let limits: [Setting] = [
    .integer("limits.subscriptionThreshold", 0...1_000_000, \.limits.subscriptionThreshold),
    .integer("limits.retentionMilliseconds", 10_000...(366 * day), \.limits.retentionMilliseconds),
    .integer("limits.entriesPerSpace", 100...100_000_000, \.limits.entriesPerSpace),
    .integer("limits.dedupeWindowMilliseconds", minute...(7 * day), \.limits.dedupeWindowMilliseconds),
    .integer("limits.channelsPerServer", 1...10_000, \.limits.channelsPerServer),
    .integer("limits.membersPerServer", 1...50_000_000, \.limits.membersPerServer),
    .integer("limits.serversPerAccount", 1...100_000, \.limits.serversPerAccount),
    .integer("limits.groupsPerAccount", 1...100_000, \.limits.groupsPerAccount),
    .integer("limits.roomsPerAccount", 1...1_000, \.limits.roomsPerAccount),
    .integer("limits.membersPerGroup", 1...100_000, \.limits.membersPerGroup),
    .integer("limits.attendeesPerRoom", 1...1_000_000, \.limits.attendeesPerRoom),
    .integer("limits.heartbeatMilliseconds", 100...minute, \.limits.heartbeatMilliseconds),
    .integer("limits.absenceMilliseconds", 300...(10 * minute), \.limits.absenceMilliseconds),
    .integer("limits.invitationMilliseconds", 1_000...(366 * day), \.limits.invitationMilliseconds),
    .integer("limits.inviteCodeMilliseconds", 1_000...(366 * day), \.limits.inviteCodeMilliseconds),
    .integer(
      "limits.stageInvitationMilliseconds", 1_000...(60 * minute), \.limits.stageInvitationMilliseconds),
    .integer("limits.streamsPerAccount", 1...1_000, \.limits.streamsPerAccount),
    .integer("limits.sendsPerSecondPerAccount", 1...1_000_000, \.limits.sendsPerSecondPerAccount),
    .integer("limits.readsPerSecondPerAccount", 1...1_000_000, \.limits.readsPerSecondPerAccount),
    .integer("limits.notificationsPerMailbox", 10...10_000_000, \.limits.notificationsPerMailbox),
    .integer("limits.directMessagesPerMailbox", 10...100_000, \.limits.directMessagesPerMailbox),
    .integer("limits.unreadPerSender", 1...10_000_000, \.limits.unreadPerSender),
  ]

  private static let minute = 60_000
  private static let day = 24 * 60 * minute

  private static func integer<Number: FixedWidthInteger & SendableMetatype>(
    _ key: String, _ range: ClosedRange<Int>, _ path: any WritableKeyPath<Configuration, Number> & Sendable
  ) -> Setting {
    Setting(key, shown: { "\($0[keyPath: path])" }) { configuration, value throws(StartError) in
      configuration[keyPath: path] = Number(try value.integer(in: range))
    }
  }
}
