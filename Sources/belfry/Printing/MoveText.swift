import BelfryServer
import Foundation

/// A move, as a program reads it.
struct MoveFacts: Encodable {
  var outcome: String
  var from: String
  var to: String
  /// Milliseconds since 1970.
  var pausedAt: Int64?
  var endedAt: Int64?
  var partitions: Int?
  var partitionsBefore: Int?
  var copied: Int?
  var bytes: Int?
  var compared: Int?
  var entries: Int?
  var expired: Int?
  var differing: Int?
  var remarks: [String]

  init(_ report: MoveReport) {
    (outcome, from, to) = (report.outcome.rawValue, report.from, report.to)
    (pausedAt, endedAt, remarks) = (report.pausedAt, report.endedAt, report.remarks)
    guard report.outcome == .moved else { return }
    (partitions, partitionsBefore) = (report.partitions, report.partitionsBefore)
    (copied, bytes) = (report.copied, report.copiedBytes)
    (compared, entries, expired, differing) = (report.compared, report.entries, report.expired, 0)
  }
}

/// A move, as a person reads it.
enum MoveText {
  /// The lines for a step, printed when it happens, even if the output is not a terminal.
  static func said(_ progress: MoveProgress, in zone: TimeZone) -> [String] {
    switch progress {
    case .found(let outline): [found(outline)]
    case .paused(let since, false):
      [
        "paused at \(TimeText.of(unixMilliseconds: since, in: zone)): brokers answer 503 until they are started with "
          + "the new address. If belfry move is interrupted, run it again to finish the move, or with --cancel to undo it"
      ]
    case .paused(let since, true):
      [
        "continuing an interrupted move; brokers have been paused since \(TimeText.of(unixMilliseconds: since, in: zone))"
      ]
    default: []
    }
  }

  private static func found(_ outline: MoveOutline) -> String {
    let kind = outline.masters.map { "a cluster of \($0) master\($0 == 1 ? "" : "s")" } ?? "a single Redis"
    return
      "from \(outline.from) (\(outline.fromProduct)) to \(outline.to) (\(outline.toProduct), \(kind)): "
      + "\(outline.before.count) partitions\(outline.isDivided ? " that become \(outline.after.count)" : ""), \(outline.keys) keys, \(BackupText.size(outline.bytes)) in memory"
  }

  /// The text of the line that is overwritten.
  static func of(_ progress: MoveProgress) -> String? {
    switch progress {
    case .startingRedis(let folder): "starting a redis-server in \(folder)"
    case .counting(let keys): "counting: \(keys) keys"
    case .copied(let keys, let all): "copying: \(keys) of \(all) keys"
    case .compared(let keys, let all): "comparing: \(keys) of \(all) keys"
    case .waitingForReplicasAndDisks: "waiting for replicas and disks"
    case .removingKeys: "removing what was copied"
    case .found, .paused: nil
    }
  }

  static func ended(_ report: MoveReport, in zone: TimeZone) -> [String] {
    let lines: [String]
    switch report.outcome {
    case .moved: lines = moved(report, in: zone)
    case .movedBefore:
      lines =
        ["\(report.from) was moved to \(report.to) by an earlier command, after every key was compared"]
        + next(report)
    case .cancelled: lines = ["\(report.from) has its keyspace again: brokers continue"]
    }
    return (lines + report.remarks).map(VisibleText.of)
  }

  private static func moved(_ report: MoveReport, in zone: TimeZone) -> [String] {
    let (from, to) = (report.pausedAt ?? 0, report.endedAt ?? 0)
    let isDivided = report.partitions != report.partitionsBefore
    let divided = [("partitions", "\(report.partitions) (\(report.partitionsBefore) before the move)")]
    let rows =
      (isDivided ? divided : []) + [
        ("keys copied", "\(report.copied) (\(BackupText.size(report.copiedBytes)))"),
        ("compared", "\(report.compared)"), ("differing", "0"), ("entries of logs", "\(report.entries)"),
        ("expired", "\(report.expired)"),
        ("paused from", TimeText.of(unixMilliseconds: from, in: zone)),
        ("until", "\(TimeText.of(unixMilliseconds: to, in: zone)) (\(seconds(to - from)))"),
      ]
    return ["moved from \(report.from) to \(report.to)"]
      + TextTable.aligned(rows.map { ["  " + $0.0, $0.1] }) + next(report)
  }

  private static func seconds(_ milliseconds: Int64) -> String {
    "\(milliseconds / 1_000).\(milliseconds % 1_000 / 100) s"
  }

  private static func next(_ report: MoveReport) -> [String] {
    let partitions = report.partitions == report.partitionsBefore ? "" : " --partitions \(report.partitions)"
    return [
      "Next: start brokers with --redis \(report.to)\(partitions), or with BELFRY_REDIS if the URL has a password. "
        + "Give them the secret that they had and, if there are any, the folder secrets/ and push-key.pem. Then stop the brokers with the old address. The keys at \(report.from) stay until you remove them."
    ]
  }
}
