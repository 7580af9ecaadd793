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

/// Asks one node for the map of slots, over a connection of its own: it must not wait behind commands, and may go to a
/// replica.
final class TopologyQuestion {
  private let connection: RedisConnection
  private let loop: EventLoop
  private var answer: TopologyAnswer?
  private var then: ((TopologyAnswer?) -> Void)?

  init(loop: EventLoop, _ endpoint: RedisEndpoint, _ limits: RedisLimits) {
    self.loop = loop
    let holder = Holder()
    connection = RedisConnection(
      loop: loop, endpoint: endpoint, limits: limits,
      setUp: RedisSetUp(TopologyAnswer.commands) { replies throws(RedisError) in
        _ = try RedisSetUp.refuseErrors(replies)
        holder.question?.answer = try TopologyAnswer(replies, from: endpoint.address)
        return nil
      })
    holder.question = self
  }

  /// The set-up is made before the question that it answers.
  private final class Holder {
    weak var question: TopologyQuestion?
  }

  /// - Parameter then: gets nil if the node cannot be asked. Called once, unless the question is cancelled.
  func ask(then: @escaping (TopologyAnswer?) -> Void) {
    self.then = then
    connection.onStateChange = { [weak self] state in
      switch state {
      case .ready, .lost: self?.end()
      case .connecting, .closed: break
      }
    }
    connection.start()
  }

  func cancel() {
    then = nil
    connection.close()
  }

  /// The connection is closed in the loop's next turn, since it is about to use what it would close.
  private func end() {
    connection.onStateChange = nil
    _ = loop.schedule(after: .zero) { [self] in
      connection.close()
      then?(answer)
      then = nil
    }
  }
}
