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
  /// True if its connection is being closed only to be set up once more.
  private var isBeingSetUpAgain = false
  /// The last change that was told.
  private var told: NodeChange?

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

  /// Closes the connection to make it again with another set-up. The node has not failed.
  func setUpAgain(because error: RedisError) {
    isBeingSetUpAgain = true
    connection.setUpAgain(because: error)
    // Nothing was closed if it waits before another try.
    isBeingSetUpAgain = false
  }

  /// - Parameter isServing: true if the map says that the node serves slots. The loss of another one, such as a replica, is
  ///   told only if it was connected.
  /// - Returns: the change to tell; nil if nothing has changed for others. Each try to connect to a node that is away fails in
  ///   its own words, and only the first is told.
  func noteChange(_ state: RedisConnection.State, isServing: Bool) -> NodeChange? {
    let change: NodeChange
    switch state {
    case .ready: change = .connected
    case .lost(let error):
      if isBeingSetUpAgain {
        // The next try may fail within the same call, and that is a loss.
        isBeingSetUpAgain = false
        return nil
      }
      if case .lost = told { return nil }
      if told == nil, !isServing { return nil }
      change = .lost(error)
    case .connecting, .closed: return nil
    }
    guard change != told else { return nil }
    told = change
    return change
  }

  /// The number of commands without a reply.
  var unansweredCommands: Int {
    connection.unansweredCommands + (replication?.connection.unansweredCommands ?? 0)
  }
}

/// A change that operators should know of.
package enum NodeChange: Sendable, Hashable {
  case connected
  case lost(RedisError)
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
