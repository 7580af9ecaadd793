import BelfryLoop

/// One node that serves slots, and the connections to it.
final class RedisNode {
  let endpoint: RedisEndpoint
  let connection: RedisConnection
  /// Where writes have to be replicated, they go by a connection of their own; ``connection`` otherwise.
  let writes: RedisConnection
  let replication: ReplicationWait?
  /// The name of the process that answers, from the set-up of the connection; empty before.
  var process = ""
  /// Since when no slot is known to be there; nil while some are.
  var unwantedSince: ContinuousClock.Instant?

  var address: RedisEndpoint.Address { endpoint.address }

  init(_ endpoint: RedisEndpoint, _ promise: ReplicationPromise, connect: () -> RedisConnection) {
    self.endpoint = endpoint
    connection = connect()
    writes = promise.replicas > 0 ? connect() : connection
    replication = promise.replicas > 0 ? ReplicationWait(on: writes, promise) : nil
  }

  func start() {
    connection.start()
    if writes !== connection { writes.start() }
  }

  func close() {
    connection.close()
    writes.close()
  }

  func reconnect(because error: RedisError) {
    connection.reconnect(because: error)
    if writes !== connection { writes.reconnect(because: error) }
  }

  /// How many commands have no reply yet.
  var unansweredCommands: Int { connection.unansweredCommands + writes.unansweredCommands }
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
