package import BelfryModel

/// The facts that a broker expects of its keyspace, to be compared with the keyspace's format record.
///
/// With another version of the data or another number of partitions a broker would look under the wrong keys,
/// so it refuses. Settings that differ are reported. Brokers of one keyspace should have the same settings,
/// but each works by its own.
package struct Keyspace: Sendable, Hashable {
  /// The version of the keys and their contents. `FunctionLibrary.version` is another number: functions of several
  /// versions may work on the same data.
  package static let dataVersion = 3

  /// The number of partitions is the one that the broker was started with. The keyspace's record says how the
  /// keyspace grew.
  package private(set) var partitions: Partitions
  /// A fingerprint of the secret that signs tokens, which does not give it away.
  var secretFingerprint: String
  /// Fingerprints of the secrets that are also accepted, during a rotation.
  var otherFingerprints: [String]
  let limits: String

  init(
    partitions: Partitions, secretFingerprint: String, otherFingerprints: [String] = [], limits: Limits
  ) {
    self.partitions = partitions
    self.secretFingerprint = secretFingerprint
    self.otherFingerprints = otherFingerprints
    // Only a number that JSON cannot say would make it fail, and limits have none.
    self.limits = (try? RecordJSON.text(limits)) ?? "{}"
  }
}

// MARK: - Facts that must be the same

extension Keyspace {
  /// Both numbers are in one text. So if two brokers make a keyspace at once, the first decides both.
  var format: String { KeyspaceFormat(partitions).text }

  /// Takes over how the keyspace grew.
  mutating func take(format found: String) {
    if found == format { return }
    guard let format = KeyspaceFormat(found), format.partitions.count == partitions.count else { return }
    partitions = format.partitions
  }

  /// The reason if this broker must not work on a keyspace of such a format, with the remedy; nil if it may.
  func refusal(ofFormat found: String) -> String? {
    if found == format { return nil }
    if let record = MoveRecord(found) { return record.refusal }
    let words = found.split(separator: " ", omittingEmptySubsequences: false).map { Int($0) }
    // The version comes first in every version.
    if let version = words[0], version != Self.dataVersion {
      return
        "this keyspace has data of version \(version), and this broker reads version \(Self.dataVersion): "
        + "start a release of Belfry that reads version \(version)"
    }
    guard let format = KeyspaceFormat(found) else {
      return "this keyspace's format record says \"\(found)\", which no broker writes: "
        + "correct the field `format` of the key \(RedisLayout.format), or use another Redis"
    }
    let count = format.partitions.count
    if count == partitions.count { return nil }
    return "this keyspace has \(count) partition\(count == 1 ? "" : "s"), and this broker was started with "
      + "\(partitions.count): start it with --partitions \(count)"
  }

  /// There is data, but no record of its layout. Reading it as another layout could destroy it.
  static let refusalWithoutRecord =
    "this keyspace has data, but its format record, which holds its version and its number of partitions, is missing. "
    + "Use an empty Redis, or restore the key \(RedisLayout.format) (HSET \(RedisLayout.format) format \"\(dataVersion) <partitions>\"); docs/operations.md says more"
}

// MARK: - Settings that should be the same

/// A setting of this broker that differs from the format record.
package struct SettingDifference: Sendable, Hashable, Encodable {
  /// `secret`, or a limit as it is configured: `limits.entriesPerSpace`.
  package let setting: String
  package let here: String
  package let keyspace: String
}

/// The result of comparing settings.
package enum SettingsFinding: Sendable, Hashable {
  /// The settings differ in these. Empty if they agree.
  case differ([SettingDifference])
  /// The settings differed in these, and the record now has those of this broker.
  case adopted([SettingDifference])
  /// The settings differ in these. The record was to have those of this broker, and Redis refused to write them.
  case notAdopted([SettingDifference], cause: String)
  /// The keyspace was there before, and Redis has come back without it. A new one begins.
  case gone
  /// Somebody removed the record while the broker worked, or emptied Redis.
  case recordRemoved
}

extension Keyspace {
  /// A limit that only one side knows, since the other is of another release, is not compared.
  func differences(fromSecret secret: String, limits found: String) -> [SettingDifference] {
    var differences: [SettingDifference] = []
    if secret != secretFingerprint, !otherFingerprints.contains(secret) {
      differences.append(SettingDifference(setting: "secret", here: "one", keyspace: "another"))
    }
    if found == limits { return differences }
    guard let there = Self.values(found), let here = Self.values(limits) else {
      return differences + [SettingDifference(setting: "limits", here: "readable", keyspace: "unreadable")]
    }
    for (name, value) in here.sorted(by: { $0.key < $1.key }) {
      guard let other = there[name], other != value else { continue }
      differences.append(
        SettingDifference(setting: "limits.\(name)", here: String(value), keyspace: String(other)))
    }
    return differences
  }

  private static func values(_ limits: String) -> [String: Int64]? {
    RecordJSON.value([String: Int64].self, limits)
  }
}
