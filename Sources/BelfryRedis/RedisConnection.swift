package import BelfryLoop

/// One pipelined connection for commands. The commands of one iteration of the loop leave in one system call, and
/// replies resume their callers in order. A connection that breaks is made again, for ever.
///
/// Each call ends with a reply, or with an error that says whether the command may have been executed. While Redis is
/// away, calls fail at once. Cancelling a task does not end its call; the deadline does.
///
/// A connection can be created on any thread, and is used on its loop only. Tasks that use it should prefer the loop as
/// their executor: in others each resumption takes a detour. From `start()` until `close()` the loop keeps the connection
/// alive.
package final class RedisConnection {
  package enum State: Hashable {
    case connecting
    case ready
    case lost(RedisError)
    case closed
  }

  private typealias Waiter = (Result<RedisReplies, RedisError>) -> Void

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

  /// - Parameter setUp: what each new connection sends after authentication and before other commands.
  package convenience init(
    loop: EventLoop, endpoint: RedisEndpoint, limits: RedisLimits = RedisLimits(), setUp: RedisSetUp? = nil
  ) {
    let lookup = SentinelLookup(loop: loop, endpoint: endpoint, limits: limits)
    self.init(loop: loop, endpoint: endpoint, by: lookup, limits: limits, setUp: setUp)
  }

  /// - Parameter lookup: says where the endpoint is, if Sentinels know; one for all connections of a loop.
  init(
    loop: EventLoop, endpoint: RedisEndpoint, by lookup: SentinelLookup?, limits: RedisLimits,
    setUp: RedisSetUp?
  ) {
    self.loop = loop
    self.endpoint = endpoint
    self.limits = limits
    link = RedisLink(loop: loop, endpoint: endpoint, by: lookup, limits: limits, setUp: setUp)
    machine = PipelineStateMachine(endpoint: endpoint.description, limits: limits)
  }

  package func start() {
    guard link.owner == nil, state != .closed else { return }
    link.owner = self
    machine.linkIsComingUp()
    link.start()
  }

  /// Closes the connection for good. Commands in flight fail with `connectionLost`.
  package func close() {
    link.close()
    deadlineTimer?.cancel()
    fail(machine.close())
    state = .closed
    onStateChange = nil
  }

  /// Closes the socket and connects again, with the set-up. Commands in flight fail.
  package func reconnect(because error: RedisError) { link.giveUp(error) }

  /// The same where Redis has not failed, and this process wants another set-up. Commands that come meanwhile wait for it.
  func setUpAgain(because error: RedisError) {
    link.startAgain(because: error)
    link.endPause()
  }

  /// Tries to connect at once, if it waits before the next try.
  func endPause() { link.endPause() }

  /// Why commands fail at once; nil if they are sent, or wait for a connection that may come in a moment.
  var absence: RedisError? { machine.absence }

  /// How many commands were sent, or wait to be sent, and have no reply yet.
  package var unansweredCommands: Int { machine.unansweredCommands }
}

// MARK: Commands

extension RedisConnection {
  /// Sends a command and waits for its reply. An error reply is thrown, as `replied`.
  /// - Parameter timeout: replaces `limits.commandTimeout`. A slow command delays the commands behind it, so slow commands
  ///   should have a connection of their own.
  package func send(
    _ command: RedisCommand, timeout: Duration? = nil
  ) async throws(RedisError) -> RedisReply {
    let replies = try await sendPipeline([command], timeout: timeout)
    if case .error(let message) = replies[0] {
      throw .replied(message, to: "\(command.name) at \(endpoint)")
    }
    return replies[0]
  }

  /// Sends commands together and waits for as many replies. An error reply is returned like any other. On this connection
  /// no command of another caller comes between them, but they are no transaction.
  package func sendPipeline(
    _ commands: [RedisCommand], timeout: Duration? = nil
  ) async throws(RedisError) -> [RedisReply] {
    if commands.isEmpty { return [] }
    let result = await withCheckedContinuation { waiter in
      send(timeout: timeout) { output in
        for command in commands { output.append(command) }
      } then: {
        waiter.resume(returning: $0)
      }
    }
    return Array(try result.get())
  }

  /// Sends a command and ignores its reply. Nobody learns whether the command was executed, so it must be one that may be
  /// lost.
  package func post(_ command: RedisCommand) { send({ $0.append(command) }, then: { _ in }) }

  /// Sends commands that a caller writes straight into the output buffer.
  /// - Parameters:
  ///   - write: writes at least one command. It must not use the connection.
  ///   - then: gets the replies in the order of the commands, in one piece of memory. Called once, perhaps before this
  ///     function returns.
  package func send(
    timeout: Duration? = nil, _ write: (OutputBuffer) -> Void,
    then: @escaping (Result<RedisReplies, RedisError>) -> Void
  ) {
    loop.checkIsolated()
    let (timeout, now) = (timeout ?? limits.commandTimeout, ContinuousClock.now)
    let output = link.output
    let batch = output.batch(write)
    let action = machine.send(batch, for: then, deadline: now + timeout, now: now) { output.takeBack(batch) }
    switch action {
    case .fail(let error):
      _ = output.takeBack(batch)
      then(.failure(error))
    case .write:
      watchDeadline(now + timeout)
    case .wait:
      watchDeadline(now + min(timeout, limits.waitForConnection))
    }
  }

  /// One timer serves all commands. It is set for the earliest deadline, and when it has fired, for the earliest deadline
  /// that is left. Under load a timer fires once a timeout, not once a command.
  private func watchDeadline(_ deadline: ContinuousClock.Instant) {
    if let deadlineTimer, deadlineTimer.deadline <= deadline { return }
    deadlineTimer?.cancel()
    deadlineTimer = loop.schedule(at: deadline) { self.deadlineReached() }
  }

  private func deadlineReached() {
    deadlineTimer = nil
    // If this process was suspended for a while, the replies may have arrived in time and only have to be read.
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
    for commands in machine.linkCameUp() { link.output.append(encoded: commands) }
    state = .ready
  }

  func linkDidReceiveReply(in parser: ReplyParser) {
    switch machine.received() {
    case .none: break
    case .finish(let waiter): waiter(.success(parser.takeReplies()))
    case .outOfStep(let error): link.giveUp(error)
    }
  }

  func linkDidGoDown(because error: RedisError, isComingUp: Bool) {
    fail(machine.linkWentDown(because: error, isComingUp: isComingUp))
    state = .lost(error)
  }
}
