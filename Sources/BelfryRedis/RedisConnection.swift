package import BelfryLoop

/// One pipelined connection for commands. Whatever is sent during an iteration of the loop leaves in one
/// write; replies resume their callers in order. It reconnects by itself, for ever.
///
/// Every call ends: with a reply, or with an error that says whether the command may have been executed.
/// While Redis is away calls fail at once. Cancelling a task does not end its call early; the deadline does.
///
/// It belongs to its loop: create it anywhere, use it only there, in tasks that prefer the loop as their
/// executor (others work, but each resumption takes a detour). From `start()` until `close()` the loop keeps
/// it alive.
package final class RedisConnection {
  package enum State: Hashable {
    case connecting
    case ready
    case lost(RedisError)
    case closed
  }

  private typealias Waiter = (Result<[RedisReply], RedisError>) -> Void

  private let loop: EventLoop
  private let endpoint: RedisEndpoint
  private let limits: RedisLimits
  private let link: RedisLink
  private var machine: PipelineStateMachine<Waiter>
  private var deadlineTimer: LoopTimer?

  package private(set) var state = State.connecting {
    didSet { if state != oldValue { onStateChange?(state) } }
  }
  package var onStateChange: ((State) -> Void)?

  /// - Parameter setUp: asked on every new connection after authentication, before other commands go out.
  package init(
    loop: EventLoop, endpoint: RedisEndpoint, limits: RedisLimits = RedisLimits(), setUp: RedisSetUp? = nil
  ) {
    self.loop = loop
    self.endpoint = endpoint
    self.limits = limits
    link = RedisLink(loop: loop, endpoint: endpoint, limits: limits, setUp: setUp)
    machine = PipelineStateMachine(endpoint: endpoint.description, limits: limits)
  }

  package func start() {
    guard link.owner == nil, state != .closed else { return }
    link.owner = self
    machine.linkIsComingUp()
    link.start()
  }

  /// Closes the connection for good. What is in flight fails with `connectionLost`.
  package func close() {
    link.close()
    deadlineTimer?.cancel()
    fail(machine.close())
    state = .closed
    onStateChange = nil
  }

  /// Gives up the connection as it is, and makes it again, with its set-up. What is in flight fails.
  package func reconnect(because error: RedisError) { link.giveUp(error) }

  /// Commands sent or waiting, not yet answered.
  package var unansweredCommands: Int { machine.unansweredCommands }
}

// MARK: Commands

extension RedisConnection {
  /// Sends a command and waits for its reply. An error reply is thrown, as `replied`.
  /// - Parameter timeout: in place of `limits.commandTimeout`. A command that is slower than those behind
  ///   it makes them late too: give slow ones a connection of their own.
  package func send(
    _ command: RedisCommand, timeout: Duration? = nil
  ) async throws(RedisError) -> RedisReply {
    let replies = try await sendPipeline([command], timeout: timeout)
    if case .error(let message) = replies[0] {
      throw .replied(message, to: "\(command.name) at \(endpoint)")
    }
    return replies[0]
  }

  /// Sends the commands together and waits for as many replies; an error among them is a reply like any
  /// other. Other callers' commands may run before and after them, not in between on this connection, but
  /// it is no transaction.
  package func sendPipeline(
    _ commands: [RedisCommand], timeout: Duration? = nil
  ) async throws(RedisError) -> [RedisReply] {
    if commands.isEmpty { return [] }
    let result = await withCheckedContinuation { waiter in
      send(commands, timeout: timeout) { waiter.resume(returning: $0) }
    }
    return try result.get()
  }

  /// Sends a command behind all others, and lets its reply go by. Whether it was executed nobody learns:
  /// for what may be lost.
  package func post(_ command: RedisCommand) { send([command]) { _ in } }

  /// The same as `sendPipeline`, for what is no task.
  /// - Parameter then: called once, perhaps before this returns.
  package func send(
    _ commands: [RedisCommand], timeout: Duration? = nil,
    then: @escaping (Result<[RedisReply], RedisError>) -> Void
  ) {
    loop.checkIsolated()
    let (timeout, now) = (timeout ?? limits.commandTimeout, ContinuousClock.now)
    switch machine.send(commands, for: then, deadline: now + timeout, now: now) {
    case .fail(let error):
      then(.failure(error))
    case .write:
      link.write(commands)
      watchDeadline(now + timeout)
    case .wait:
      watchDeadline(now + min(timeout, limits.waitForConnection))
    }
  }

  /// One timer serves all commands: it is set for the earliest deadline and, once fired, for the earliest
  /// that is left. Under load that is one timer per timeout, not one per command.
  private func watchDeadline(_ deadline: ContinuousClock.Instant) {
    if let deadlineTimer, deadlineTimer.deadline <= deadline { return }
    deadlineTimer?.cancel()
    deadlineTimer = loop.schedule(at: deadline) { self.deadlineReached() }
  }

  private func deadlineReached() {
    deadlineTimer = nil
    // If this process stood still for a while, Redis is not to blame: the replies are here already.
    link.readAll()
    let expiry = machine.expire(now: .now)
    fail(expiry.failures)
    if let loss = expiry.loss { link.giveUp(loss) }
    if let next = machine.nextDeadline { watchDeadline(next) }
  }

  private func fail(_ failures: [(waiter: Waiter, error: RedisError)]) {
    for (waiter, error) in failures { waiter(.failure(error)) }
  }
}

// MARK: The link

extension RedisConnection: RedisLinkOwner {
  func linkDidComeUp() {
    link.write(machine.linkCameUp())
    state = .ready
  }

  func linkDidReceive(_ reply: RedisReply) {
    switch machine.received(reply) {
    case .none: break
    case .finish(let waiter, let replies): waiter(.success(replies))
    case .outOfStep(let error): link.giveUp(error)
    }
  }

  func linkDidGoDown(because error: RedisError, isComingUp: Bool) {
    fail(machine.linkWentDown(because: error, isComingUp: isComingUp))
    state = .lost(error)
  }
}
