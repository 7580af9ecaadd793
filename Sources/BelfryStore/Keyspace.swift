package import BelfryModel

/// What a broker takes its keyspace for, to be compared with what the keyspace's format record says.
///
/// With another version of the data or another number of partitions a broker would look for everything where it is
/// not, so it refuses. Its settings are its own: it works by them, and brokers of one keyspace should have the same.
package struct Keyspace: Sendable, Hashable {
  /// Of the keys and of what stands in them. `FunctionLibrary.version` is another number: functions of several
  /// versions may work on the same data.
  package static let dataVersion = 2

  package let partitions: Partitions
  /// Tells secrets apart without giving them away.
  var secretFingerprint: String
  /// Of secrets that are accepted beside it, while one takes the place of another.
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

// MARK: - What must be the same

extension Keyspace {
  /// One text: of two brokers that make a keyspace at once, the first decides both numbers.
  var format: String { "\(Self.dataVersion) \(partitions.count)" }

  /// Why this broker must not work on a keyspace of such a format, and what to do; nil if it may.
  func refusal(ofFormat found: String) -> String? {
    if found == format { return nil }
    let words = found.split(separator: " ", omittingEmptySubsequences: false).map { Int($0) }
    // The version comes first in every version.
    if let version = words[0], version != Self.dataVersion {
      return
        "this keyspace has data of version \(version), and this broker reads version \(Self.dataVersion): "
        + "start a release of Belfry that reads version \(version)"
    }
    guard words.count == 2, words[0] != nil, let count = words[1], Partitions(count: count) != nil else {
      return "this keyspace's format record says \"\(found)\", which no broker writes: "
        + "put the field `format` of the key \(RedisLayout.format) right, or use another Redis"
    }
    return "this keyspace has \(count) partition\(count == 1 ? "" : "s"), and this broker was started with "
      + "\(partitions.count): start it with --partitions \(count)"
  }

  /// Data of which nobody says how it is laid out: taken for something that it is not, it would be lost.
  static let refusalWithoutRecord =
    "this keyspace has data and no format record that says its version and its number of partitions: use an empty "
    + "Redis, or restore the key \(RedisLayout.format) (HSET \(RedisLayout.format) format \"<version> <partitions>\")"
}

// MARK: - What should be the same

/// A setting that this broker has otherwise than the format record.
package struct SettingDifference: Sendable, Hashable, Encodable {
  /// `secret`, or a limit as it is configured: `limits.entriesPerSpace`.
  package let setting: String
  package let here: String
  package let keyspace: String
}

/// What comparing the settings came to.
package enum SettingsFinding: Sendable, Hashable {
  /// None where they agree.
  case differ([SettingDifference])
  /// They did, and now the record says what this broker has.
  case adopted([SettingDifference])
}

extension Keyspace {
  /// A limit that only one side knows, since it is of another release, is not compared.
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
