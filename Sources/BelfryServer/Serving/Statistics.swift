import BelfryHTTP
import BelfryHooks
import BelfryLive
import BelfryModel
import BelfryStore

/// What one loop has answered. It lives on its loop's thread.
final class RequestCounts {
  private(set) var byStatus: [Int: Int] = [:]
  private(set) var sends = 0
  private(set) var duplicates = 0
  var streams = 0
  /// WebSockets, of which those that are connected are streams as well.
  var sockets = 0
  /// By the reason that the client was told.
  private(set) var streamsClosed: [String: Int] = [:]

  func count(status: Int) { byStatus[status, default: 0] += 1 }

  /// - Parameter reason: nil where the client left.
  func countClosed(_ reason: KickReason?) {
    streams -= 1
    streamsClosed[reason?.rawValue ?? "gone", default: 0] += 1
  }

  func count(_ receipt: SendReceipt) {
    if receipt.isDuplicate { duplicates += 1 } else { sends += 1 }
  }
}

/// What one loop has done since the start, and what it holds now.
struct LoopStatistics: Sendable, Encodable {
  var loop: Int
  var isRedisConnected: Bool
  /// The Redis nodes that hold partitions, and how many of them the loop is connected to.
  var redisNodes: Int
  var redisNodesConnected: Int
  /// By status code.
  var requests: [String: Int]
  var sends: Int
  var duplicates: Int
  var streams: Int
  var sockets: Int
  var streamsClosed: [String: Int]
  /// Left out where connections are not encrypted.
  var handshakes: HandshakeStatistics?
  var relays: RelayStatistics
  var hub: HubStatistics
  var callbacks: CallbackStatistics
  var webhooks: WebhookStatistics
  var push: PushStatistics
}

/// Of TLS.
struct HandshakeStatistics: Sendable, Encodable {
  var done: Int
  var resumed: Int
  /// By reason.
  var failed: [String: Int]
  var waiting: Int

  init(_ counts: HTTPHandshakeCounts) {
    (done, resumed, waiting) = (counts.done, counts.resumed, counts.waiting)
    failed = Dictionary(uniqueKeysWithValues: counts.failed.map { ($0.rawValue, $1) })
  }
}

struct BrokerStatistics: Sendable, Encodable {
  var version = BelfryVersion.text
  var broker: String
  var uptimeSeconds: Int
  var keyspace: KeyspaceStatistics
  /// Why Redis refuses writes, as last seen.
  var refusedWrites: [String]
  /// The reason; left out if the sweep does not wait.
  var sweepWaits: String?
  /// The failures, by the name of the work.
  var workFailures: [String: Int]
  var loops: [LoopStatistics]
}
