package import SimulatedRedis

/// A simulated Redis on the simulated network. It answers by the clock of its own machine.
package final class SimulatedRedisServer: SimulatedServer {
  private final class Session {
    let connection: SimulatedConnection
    var client: SimulatedClient
    var reader = ReplyReader()
    /// A WAIT that is not answered yet. Later commands wait behind it.
    var wait: ReplicationQuestion?

    init(_ connection: SimulatedConnection, _ client: SimulatedClient) {
      (self.connection, self.client) = (connection, client)
    }
  }

  /// The process. Another one may take its place, as after a crash; ``crash(into:)`` does so.
  package private(set) var redis: SimulatedRedis
  private unowned let simulation: Simulation
  /// How far its wall clock is ahead of the others.
  package var wallAhead: Duration = .zero
  /// Takes messages that a cluster's node passes on to the others of its shard, which get them with ``pass(_:)``.
  package var onMessages: (([ChannelMessage]) -> Void)?
  private var sessions: [ObjectIdentifier: Session] = [:]
  private var places: [Int: ObjectIdentifier] = [:]
  private var count = 0

  package init(_ redis: SimulatedRedis, in simulation: Simulation) {
    (self.redis, self.simulation) = (redis, simulation)
  }

  /// Ends all connections, and goes on as another process.
  package func crash(into next: SimulatedRedis) {
    for session in sessions.values.sorted(by: { $0.client.id < $1.client.id }) { session.connection.cut() }
    (sessions, places) = ([:], [:])
    redis = next
  }

  // MARK: From the network

  package func open(_ connection: SimulatedConnection) {
    count += 1
    sessions[ObjectIdentifier(connection)] = Session(connection, SimulatedClient(id: count))
    places[count] = ObjectIdentifier(connection)
  }

  package func receive(_ bytes: [UInt8], on connection: SimulatedConnection) {
    guard let session = sessions[ObjectIdentifier(connection)] else { return }
    session.reader.append(bytes)
    serve(session)
  }

  package func close(_ connection: SimulatedConnection) {
    guard let session = sessions.removeValue(forKey: ObjectIdentifier(connection)) else { return }
    places[session.client.id] = nil
    redis.close(session.client)
  }

  // MARK: Commands

  private func serve(_ session: Session) {
    while session.wait == nil, let command = session.reader.nextCommand() {
      let outcome = redis.execute(command, on: &session.client, at: now)
      send(outcome.replies, to: session)
      deliver(outcome.pushes)
      if !outcome.messages.isEmpty { onMessages?(outcome.messages) }
      if let question = outcome.wait { hold(session, question) }
    }
  }

  private func hold(_ session: Session, _ question: ReplicationQuestion) {
    session.wait = question
    guard question.milliseconds > 0 else { return }
    simulation.schedule(after: .milliseconds(question.milliseconds)) { [weak self, weak session] in
      guard let self, let session, session.wait == question else { return }
      answer(session, question)
    }
  }

  /// To be called when replicas have confirmed more.
  package func answerWaits() {
    for session in sessions.values.sorted(by: { $0.client.id < $1.client.id }) {
      guard let question = session.wait, redis.countReplicas(at: question.offset) >= question.replicas
      else { continue }
      answer(session, question)
    }
  }

  private func answer(_ session: Session, _ question: ReplicationQuestion) {
    session.wait = nil
    send([.integer(Int64(redis.countReplicas(at: question.offset)))], to: session)
    serve(session)
  }

  /// Gives a message of another node to subscribers.
  package func passMessage(_ message: ChannelMessage) { deliver(redis.passMessage(message)) }

  /// Sends messages to subscribers, in order.
  package func deliver(_ pushes: [Push]) {
    for push in pushes {
      guard let session = places[push.client].flatMap({ sessions[$0] }) else { continue }
      send([push.message], to: session)
    }
  }

  private func send(_ replies: [SimulatedReply], to session: Session) {
    var bytes = Bytes()
    for reply in replies { reply.encode(into: &bytes) }
    if !bytes.isEmpty { session.connection.send(bytes) }
  }

  /// Microseconds since 1970.
  private var now: Int64 {
    let (seconds, attoseconds) = (simulation.wallTime + wallAhead).components
    return seconds * 1_000_000 + attoseconds / 1_000_000_000_000
  }
}
