import BelfryLoop

/// One node that serves slots, and the connections to it.
final class RedisNode {
  let endpoint: RedisEndpoint
  let connection: RedisConnection
  /// Whether replicas have what it said; nil where nobody waits for them.
  let replication: ReplicationWait?
  /// The name of the process that answers, from the set-up of ``connection``; empty before.
  var process = ""
  /// Since when no slot is known to be there; nil while some are.
  var unwantedSince: ContinuousClock.Instant?
  /// The last slot of which another node has said that it is on its way here.
  var slotOnItsWay: Int?
  /// The slot in which the last question about replicas was written.
  var slotOfQuestion = 0

  var address: RedisEndpoint.Address { endpoint.address }

  /// - Parameter replication: made only where somebody waits for replicas.
  init(
    _ endpoint: RedisEndpoint, _ promise: ReplicationPromise, _ connection: RedisConnection,
    replication: () -> ReplicationWait
  ) {
    self.endpoint = endpoint
    self.connection = connection
    self.replication = promise.replicas > 0 ? replication() : nil
  }

  func start() {
    connection.start()
    replication?.connection.start()
  }

  func close() {
    connection.close()
    replication?.connection.close()
  }

  func reconnect(because error: RedisError) {
    connection.reconnect(because: error)
    replication?.connection.reconnect(because: error)
  }

  /// How many commands have no reply yet.
  var unansweredCommands: Int {
    connection.unansweredCommands + (replication?.connection.unansweredCommands ?? 0)
  }
}

/// A node as its set-up sees it.
package struct RedisNodeProcess {
  /// Where it is, for errors.
  package let place: String
  /// Redis's `run_id`: another one for each process.
  package let process: String
  /// Whether the node has only a part of the keys.
  package let isOfCluster: Bool
}
