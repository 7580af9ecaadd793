import BelfryHTTP
import BelfryHooks
import BelfryLive
import BelfryModel
import BelfryStore

/// The responses of one loop, counted. It lives on its loop's thread.
final class RequestCounts {
  private(set) var byStatus: [Int: Int] = [:]
  private(set) var sends = 0
  private(set) var duplicates = 0
  var streams = 0
  /// The open WebSockets. Those that are connected also count as streams.
  var sockets = 0
  /// The closed streams, by the reason that the client was told.
  private(set) var streamsClosed: [String: Int] = [:]

  func count(status: Int) { byStatus[status, default: 0] += 1 }

  /// - Parameter reason: nil if the client left.
  func countClosed(_ reason: KickReason?) {
    streams -= 1
    streamsClosed[reason?.rawValue ?? "gone", default: 0] += 1
  }

  func count(_ receipt: SendReceipt) {
    if receipt.isDuplicate { duplicates += 1 } else { sends += 1 }
  }
}

/// The work of one loop since the start, and its present state.
struct LoopStatistics: Sendable, Encodable {
  var loop: Int
  var isRedisConnected: Bool
  /// The Redis nodes that hold partitions, and how many of them the loop is connected to.
  var redisNodes: Int
  var redisNodesConnected: Int
  /// The answered requests, by status code.
  var requests: [String: Int]
  var sends: Int
  var duplicates: Int
  var streams: Int
  var sockets: Int
  var streamsClosed: [String: Int]
  /// Left out if connections are not encrypted.
  var handshakes: HandshakeStatistics?
  var relays: RelayStatistics
  var hub: HubStatistics
  var callbacks: CallbackStatistics
  var webhooks: WebhookStatistics
  var push: PushStatistics
}

/// The handshakes of TLS.
struct HandshakeStatistics: Sendable, Encodable {
  var done: Int
  var resumed: Int
  /// The failed handshakes, by reason.
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
  /// The reasons for which Redis refuses writes, as last seen.
  var refusedWrites: [String]
  /// The reason for which the sweep is paused; left out if it does not wait.
  var sweepWaits: String?
  /// The failures, by the name of the work.
  var workFailures: [String: Int]
  var loops: [LoopStatistics]
}
