import BelfryServer
import Foundation

/// A backup or a restore, as a program reads it.
struct BackupFacts: Encodable {
  var file: String
  var bytes: Int
  /// Milliseconds since 1970.
  var takenAt: Int64?
  var secret: String?
  var hasSecret: Bool
  var counts: [String: Int]

  init(_ report: BackupReport) {
    file = report.file
    bytes = report.byteCount
    takenAt = report.momentSeconds.map { $0 * 1_000 }
    secret = report.secretPath
    hasSecret = report.hasSecret
    counts = Dictionary(uniqueKeysWithValues: report.namedCounts.map { ($0.name, $0.count) })
  }
}

/// A backup or a restore, as a person reads it.
enum BackupText {
  static func made(_ report: BackupReport, in zone: TimeZone) -> [String] {
    let secret: String
    switch report.secretPath {
    case let path? where report.hasSecret:
      secret =
        "The secret is not in the backup. Keep a copy of \(path) elsewhere. If the secret was ever rotated, also keep a copy of "
        + "the folder secrets/ next to it. Copy both again after each rotation."
    default:
      secret = "The brokers' secret is not in the backup: keep a copy of it elsewhere."
    }
    let key = report.pushKeyPath.map {
      "The key for Web Push is not in it either: keep a copy of \($0), too."
    }
    return summary("backed up to", report, in: zone)
      + ([secret] + (key.map { [$0] } ?? [])).map(VisibleText.of)
  }

  static func restored(_ report: BackupReport, in zone: TimeZone) -> [String] {
    let secret: String
    switch report.secretPath {
    case _? where report.hasSecret:
      secret = "The folder has a secret already. Tokens stay valid if it is the broker's earlier one."
    case let path?:
      secret =
        "There is no secret yet. Before you start a broker, copy the earlier broker's secret to \(path), and its folder "
        + "secrets/ and its push-key.pem, if it has them, into the same folder. Without the earlier secret, all "
        + "existing tokens are invalid; without the earlier push-key.pem, all push subscriptions are."
    case nil:
      secret = "Tokens stay valid if the brokers keep their secret."
    }
    return summary("restored from", report, in: zone) + [VisibleText.of(secret)]
  }

  private static func summary(_ verb: String, _ report: BackupReport, in zone: TimeZone) -> [String] {
    var line = "\(verb) \(report.file): \(size(report.byteCount))"
    if let seconds = report.momentSeconds {
      line += ", everything as it was at " + TimeText.of(unixMilliseconds: seconds * 1_000, in: zone)
    }
    let rows = report.namedCounts.map { ["  " + $0.name, "\($0.count)"] }
    return [VisibleText.of(line)] + TextTable.aligned(rows)
  }

  static func size(_ bytes: Int) -> String {
    if bytes < 1_000 { return "\(bytes) bytes" }
    let (unit, name) =
      bytes < 1_000_000 ? (1_000, "kB") : bytes < 1_000_000_000 ? (1_000_000, "MB") : (1_000_000_000, "GB")
    let tenths = bytes * 10 / unit
    return "\(tenths / 10).\(tenths % 10) \(name)"
  }

  static func of(_ progress: BackupProgress) -> String {
    switch progress {
    case .startingRedis(let folder): "starting a redis-server in \(folder)"
    case .askingForSnapshot(let place): "asking \(place) for a snapshot"
    case .copied(let bytes): "copying: \(size(bytes))"
    case .checking: "reading the file, to check it"
    case .checked(let bytes): "checking: \(size(bytes))"
    case .restored(let bytes): "restoring: \(size(bytes))"
    case .writingLog: "writing the append-only file"
    case .countingRestored: "counting what was restored"
    }
  }
}
