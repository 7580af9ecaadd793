import BelfryLoop

/// One node that serves slots, and the connections to it.
final class RedisNode {
  let endpoint: RedisEndpoint
  let connection: RedisConnection
  /// The wait for this node's replicas; nil if the promise is without replicas.
  let replication: ReplicationWait?
  /// The name of the process that answers, from the set-up of ``connection``; empty before.
  var process = ""
  /// The time since which no slot is known to be there; nil while some are.
  var unwantedSince: ContinuousClock.Instant?
  /// The last slot that another node has said to be on its way here.
  var slotOnItsWay: Int?
  /// The slot in which the last question about replicas was written.
  var slotOfQuestion = 0

  var address: RedisEndpoint.Address { endpoint.address }

  /// - Parameter replication: called only if the promise has replicas.
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

  /// The number of commands without a reply.
  var unansweredCommands: Int {
    connection.unansweredCommands + (replication?.connection.unansweredCommands ?? 0)
  }
}

/// A node as its set-up sees it.
package struct RedisNodeProcess {
  /// The node's address, for errors.
  package let place: String
  /// Redis's `run_id`: each process has another one.
  package let process: String
  /// True if the node has only a part of the keys.
  package let isOfCluster: Bool
}
