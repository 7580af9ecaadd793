import BelfryLoop

// How commands find their nodes.
extension RedisCluster {
  /// Sends commands that belong to one slot.
  /// - Parameters:
  ///   - slot: nil if any node can answer.
  ///   - isAwaited: whether the commands write, or tell what others will rely on: then as many replicas have to have it as
  ///     are promised before anybody learns of it.
  ///   - write: as of ``RedisConnection``. Called again where the commands have to be sent to another node.
  ///   - then: gets the replies in the order of the commands. Called once, perhaps before this function returns.
  package func send(
    to slot: Int?, isAwaited: Bool = false, _ write: @escaping (OutputBuffer) -> Void,
    then: @escaping (Result<RedisReplies, RedisError>) -> Void
  ) {
    loop.checkIsolated()
    if let node = onlyNode { return node.connection.send(write, then: then) }
    let now = ContinuousClock.now
    send(
      RoutedSend(
        slot: slot, isAwaited: isAwaited, write: write, waitsUntil: now + limits.waitForConnection,
        deadline: now + limits.commandTimeout, then: then))
  }

  /// Sends a command and ignores its reply. Nobody learns whether the command was executed, so it must be one that may be
  /// lost.
  package func post(_ command: RedisCommand) {
    send(to: command.slot, { $0.append(command) }, then: { _ in })
  }

  private func send(_ send: RoutedSend) {
    guard let node = send.asked.map(node(at:)) ?? (isSettled ? node(of: send.slot) : nil) else {
      guard mayWait(until: send.waitsUntil) else { return send.then(.failure(unserved(send.slot))) }
      _ = loop.schedule(after: Self.settlingPause) { self.send(send) }
      return
    }
    if send.isAwaited, let problem = node.replication?.connection.absence {
      // Nobody could say what has become of it.
      return send.then(.failure(problem))
    }
    let isAsking = send.asked != nil
    // The deadline says whether to try again. A command that is sent has the usual time for its answer: one that is
    // overdue takes the whole connection with it.
    node.connection.send { output in
      if isAsking { output.append(RedisCommand("ASKING")) }
      send.write(output)
    } then: { [self] result in
      guard case .success(let all) = result else { return send.then(result) }
      let replies = isAsking ? all.droppingFirst() : all
      guard isCluster, let redirection = replies.redirection(from: node.address) else {
        return finish(send, replies, by: node)
      }
      var again = send
      guard let pause = again.budget.next(redirection), .now + pause < send.deadline else {
        note(redirection)
        return send.then(.success(replies))
      }
      again.asked = note(redirection)
      guard pause > .zero else { return self.send(again) }
      _ = loop.schedule(after: pause) { self.send(again) }
    }
  }

  private func finish(_ send: RoutedSend, _ replies: RedisReplies, by node: RedisNode) {
    guard send.isAwaited, let replication = node.replication else { return send.then(.success(replies)) }
    replication.wait(for: node.process) { problem in
      send.then(problem.map { .failure($0) } ?? .success(replies))
    }
  }

  /// Takes note of what a node has said about a slot.
  /// - Returns: the node that is to be asked once, against the map.
  @discardableResult
  func note(_ redirection: Redirection) -> Address? {
    guard isCluster else { return nil }
    switch redirection {
    case .moved(let slot, let address):
      _ = node(at: address)
      carryOut(topology.move(slot, to: address, now: .now))
      applySoon()
      return nil
    case .ask(let slot, let address):
      answeredElsewhere[slot, default: 0] += 1
      node(at: address).slotOnItsWay = slot
      return address
    case .later:
      carryOut(topology.doubt(now: .now))
      return nil
    }
  }

  /// The single Redis, if it is one, and nobody has to be asked but it.
  private var onlyNode: RedisNode? {
    isSettled && !isCluster && promise.replicas == 0 ? node(of: nil) : nil
  }

  /// The pause between two looks whether the nodes are known, at the start.
  private static let settlingPause: Duration = .milliseconds(5)

  /// Whether a command waits for the nodes to become known, as it waits for a connection: while the first try is under way.
  private func mayWait(until deadline: ContinuousClock.Instant) -> Bool {
    if isSettled || .now >= deadline { return false }
    if case .lost = state { return isCluster }
    return state != .closed
  }

  private func waitUntilSettled() async {
    let deadline = ContinuousClock.now + limits.waitForConnection
    while mayWait(until: deadline) { try? await loop.sleep(for: Self.settlingPause) }
  }

  func unserved(_ slot: Int?) -> RedisError {
    if !isSettled, case .lost(let error) = state {
      return RedisError(.unavailable, cause: error.cause, place: endpoint.description)
    }
    let cause =
      isSettled
      ? "no node of the cluster is known to serve the slot \(slot.map(String.init) ?? "")"
      : "the connection is not set up yet"
    return RedisError(.unavailable, cause: cause, place: endpoint.description)
  }
}

/// Commands on their way to the node that serves their slot.
private struct RoutedSend {
  let slot: Int?
  let isAwaited: Bool
  let write: (OutputBuffer) -> Void
  /// How long it waits for the nodes to become known.
  let waitsUntil: ContinuousClock.Instant
  let deadline: ContinuousClock.Instant
  let then: (Result<RedisReplies, RedisError>) -> Void
  var budget = RedirectionBudget()
  /// The node to which the last one asked has referred.
  var asked: RedisEndpoint.Address?
}

// MARK: - Many commands

extension RedisCluster {
  /// Sends a command and waits for its reply. An error reply is thrown, as `replied`.
  package func send(_ command: RedisCommand) async throws(RedisError) -> RedisReply {
    let reply = try await sendPipeline([command])[0]
    if case .error(let message) = reply { throw .replied(message, to: "\(command.name) at \(endpoint)") }
    return reply
  }

  /// Sends commands together, each to the node that has its key, and waits for as many replies. An error reply is returned
  /// like any other. Commands of one slot reach their node in this order.
  /// - Parameter isAwaited: whether reads, too, wait for replicas, since others will rely on what they tell. Writes always do.
  /// - Throws: if one of the nodes does not answer.
  package func sendPipeline(
    _ commands: [RedisCommand], isAwaited: Bool = false
  ) async throws(RedisError) -> [RedisReply] {
    if let onlyNode { return try await onlyNode.connection.sendPipeline(commands) }
    let results = await sendEach(commands, isAwaited: isAwaited)
    do throws(RedisError) {
      return try results.map { result throws(RedisError) in try result.get() }
    } catch {
      throw zip(commands, results).contains { $0.isWrite && $1.mayBeExecuted } ? error.ofSomeCommands : error
    }
  }

  /// The same for questions that are about many partitions, each of use without the others: what a node does not answer
  /// fails by itself.
  package func sendEach(
    _ commands: [RedisCommand], isAwaited: Bool = false
  ) async -> [Result<RedisReply, RedisError>] {
    await waitUntilSettled()
    if let onlyNode {
      do throws(RedisError) {
        return try await onlyNode.connection.sendPipeline(commands).map { .success($0) }
      } catch {
        return commands.map { _ in .failure(error) }
      }
    }
    var routing = RoutingStateMachine(
      commands, isAwaited: promise.replicas > 0 ? { isAwaited || $0.isWrite } : { _ in false },
      deadline: .now + limits.commandTimeout)
    while true {
      let (batches, failures) = routing.batches(by: isSettled ? map : nil, any: node(of: nil)?.address)
      for unit in failures { routing.fail(unit, unserved(routing.slot(of: unit))) }
      let results = await send(batches, of: commands)
      var pause = Duration.zero
      for (batch, result) in zip(batches, results) {
        for redirection in routing.take(result, of: batch) { note(redirection) }
      }
      switch routing.next(now: .now) {
      case .finished(let results): return results
      case .sendAgain(let after): pause = after
      }
      if pause > .zero { try? await loop.sleep(for: pause) }
    }
  }

  /// Sends a command to every node that serves slots, such as one that loads functions.
  /// - Returns: what each answered, by the place of the node. One failure if no node is known.
  package func sendToAll(
    _ command: RedisCommand
  ) async -> [(place: String, result: Result<RedisReply, RedisError>)] {
    await waitUntilSettled()
    guard isSettled else { return [(endpoint.description, .failure(unserved(nil)))] }
    let serving = isCluster ? map.masters.filter(map.serving.contains) : [endpoint.address]
    let batches = serving.map {
      RoutedBatch(address: $0, isAsking: false, isAwaited: false, units: [(0, 0..<1)])
    }
    let results = await send(batches, of: [command])
    return zip(serving, results).map { (place(at: $0), $1.map { $0[0] }) }
  }

  /// Sends batches at the same time and waits until all have ended.
  private func send(
    _ batches: [RoutedBatch], of commands: [RedisCommand]
  ) async -> [Result<RedisReplies, RedisError>] {
    if batches.isEmpty { return [] }
    return await withCheckedContinuation { continuation in
      let round = RoutedRound(batches.count) { continuation.resume(returning: $0) }
      for (index, batch) in batches.enumerated() {
        let node = node(at: batch.address)
        if batch.isAwaited, let problem = node.replication?.connection.absence {
          round.end(index, .failure(problem))
          continue
        }
        node.connection.send { output in
          batch.write(commands, to: output)
        } then: { result in
          guard batch.isAwaited, case .success(let replies) = result, let replication = node.replication,
            !self.isCluster || batch.redirections(in: replies).contains(nil)
          else {
            return round.end(index, result)
          }
          replication.wait(for: node.process) { problem in
            round.end(index, problem.map { .failure($0) } ?? result)
          }
        }
      }
    }
  }
}

/// The batches that were sent at one time, and what came of them.
private final class RoutedRound {
  private var results: [Result<RedisReplies, RedisError>?]
  private var missing: Int
  private let then: ([Result<RedisReplies, RedisError>]) -> Void

  init(_ count: Int, then: @escaping ([Result<RedisReplies, RedisError>]) -> Void) {
    (results, missing, self.then) = (Array(repeating: nil, count: count), count, then)
  }

  func end(_ index: Int, _ result: Result<RedisReplies, RedisError>) {
    results[index] = result
    missing -= 1
    if missing == 0 { then(results.compactMap(\.self)) }
  }
}

extension Result<RedisReply, RedisError> {
  fileprivate var mayBeExecuted: Bool {
    switch self {
    case .success(.error): false
    case .success: true
    case .failure(let error): error.mayBeExecuted
    }
  }
}

extension RedisReplies {
  /// The first thing in these replies that says that the commands have to be sent again.
  fileprivate func redirection(from asked: RedisEndpoint.Address) -> Redirection? {
    for case .error(let message) in self {
      if let redirection = Redirection(message, from: asked) { return redirection }
    }
    return nil
  }
}
