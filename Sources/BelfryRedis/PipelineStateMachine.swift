import BelfryLoop

/// Knows which callers wait for which replies on one connection. Redis replies in the order of the commands,
/// so the next reply belongs to the oldest exchange in flight. For the same reason an overdue reply makes the
/// replies after it overdue.
///
/// The state machine is pure: a `Waiter` can be any value that resumes a caller, and time is passed in.
/// Commands and replies stay in the connection's output buffer and in its parser; the state machine only
/// counts them.
struct PipelineStateMachine<Waiter> {
  typealias Instant = ContinuousClock.Instant
  typealias Failure = (waiter: Waiter, error: RedisError)

  enum SendAction {
    /// The commands stay in the output buffer and leave with it.
    case write
    /// The commands wait for the link. `linkCameUp` will return them.
    case wait
    /// The commands must not be sent.
    case fail(RedisError)
  }

  enum ReplyAction {
    /// More replies belong to the same exchange. The parser keeps what it has read of them.
    case none
    /// The replies that the parser keeps are all of this waiter's exchange.
    case finish(Waiter)
    /// No command belongs to this reply, so replies no longer match commands. The connection must be given
    /// up.
    case outOfStep(RedisError)
  }

  struct Expiry {
    var failures: [Failure] = []
    /// The reason why the connection must be given up; nil if it can stay.
    var loss: RedisError?
  }

  private enum Link {
    case down(because: RedisError)
    case comingUp
    case up
    case closed
  }

  /// Commands that were sent together, and the waiter for their replies.
  private struct Exchange {
    let waiter: Waiter
    let name: String
    let commandCount: Int
    let byteCount: Int
    let deadline: Instant
  }

  private struct WaitingExchange {
    let exchange: Exchange
    /// The commands, encoded.
    let commands: [UInt8]
    let giveUpAt: Instant
  }

  private let endpoint: String
  private let limits: RedisLimits
  private var link: Link
  private var inFlight = Queue<Exchange>()
  /// The number of replies that the oldest exchange in flight still lacks; 0 before its first reply.
  private var repliesMissing = 0
  /// Exchanges that wait for the link, in the order of sending.
  private var waiting: [WaitingExchange] = []
  private(set) var unansweredCommands = 0
  private(set) var unansweredBytes = 0

  init(endpoint: String, limits: RedisLimits) {
    self.endpoint = endpoint
    self.limits = limits
    let cause = RedisError(.unavailable, cause: "not started", place: endpoint)
    self.link = .down(because: cause)
  }

  /// The time at which `expire` has work to do next; nil if nothing is unanswered.
  var nextDeadline: Instant? {
    let earliestWaiting = waiting.lazy.map(\.giveUpAt).min()
    let earliestInFlight = inFlight.lazy.map(\.deadline).min()
    return [earliestWaiting, earliestInFlight].compactMap(\.self).min()
  }
}

// MARK: Commands and replies

extension PipelineStateMachine {
  /// Notes commands that are last in the output buffer.
  /// - Parameter commands: takes them out of the buffer; called only if they have to wait.
  mutating func send(
    _ batch: OutputBuffer.Batch, for waiter: Waiter, deadline: Instant, now: Instant,
    takingBack commands: () -> [UInt8]
  ) -> SendAction {
    if let refusal = refusal(of: batch) { return .fail(refusal) }
    unansweredCommands += batch.commandCount
    unansweredBytes += batch.byteCount
    let exchange = Exchange(
      waiter: waiter, name: batch.name, commandCount: batch.commandCount, byteCount: batch.byteCount,
      deadline: deadline)
    if case .up = link {
      inFlight.append(exchange)
      return .write
    }
    let giveUpAt = min(deadline, now + limits.waitForConnection)
    waiting.append(WaitingExchange(exchange: exchange, commands: commands(), giveUpAt: giveUpAt))
    return .wait
  }

  /// Notes one more complete reply.
  mutating func received() -> ReplyAction {
    if repliesMissing == 0 {
      guard let oldest = inFlight.first else {
        return .outOfStep(
          RedisError(.unexpectedReply, cause: "a reply that nobody asked for", place: endpoint))
      }
      repliesMissing = oldest.commandCount
    }
    repliesMissing -= 1
    guard repliesMissing == 0, let exchange = inFlight.popFirst() else { return .none }
    release(exchange)
    return .finish(exchange.waiter)
  }

  /// Fails the exchanges that are overdue. If one of them is in flight, all other exchanges in flight fail with it.
  mutating func expire(now: Instant) -> Expiry {
    var expiry = Expiry()
    for overdue in waiting where overdue.giveUpAt <= now {
      release(overdue.exchange)
      expiry.failures.append(failure(overdue.exchange, .unavailable, "no connection yet"))
    }
    waiting.removeAll { $0.giveUpAt <= now }

    guard inFlight.contains(where: { $0.deadline <= now }) else { return expiry }
    for exchange in takeInFlight() {
      let isOverdue = exchange.deadline <= now
      expiry.failures.append(
        isOverdue
          ? failure(exchange, .timedOut, "no reply before the deadline")
          : failure(exchange, .connectionLost, "given up: an earlier command got no reply in time"))
    }
    let loss = RedisError(.timedOut, cause: "a command got no reply in time", place: endpoint)
    link = .down(because: loss)
    expiry.loss = loss
    return expiry
  }

  /// The error with which every command fails at once; nil if commands are sent, or wait for the link.
  var absence: RedisError? {
    switch link {
    case .closed: RedisError(.closed, cause: "the connection was closed", place: endpoint)
    case .down(let cause): RedisError(.unavailable, cause: cause.cause, place: endpoint)
    case .up, .comingUp: nil
    }
  }

  private func refusal(of batch: OutputBuffer.Batch) -> RedisError? {
    switch link {
    case .closed: return error(.closed, "the connection was closed", batch.name)
    case .down(let cause): return error(.unavailable, cause.cause, batch.name)
    case .up, .comingUp: break
    }
    if unansweredCommands + batch.commandCount > limits.unansweredCommandsMax {
      return error(.overloaded, "more than \(limits.unansweredCommandsMax) commands unanswered", batch.name)
    }
    if unansweredBytes + batch.byteCount > limits.unansweredBytesMax {
      return error(.overloaded, "more than \(limits.unansweredBytesMax) bytes unanswered", batch.name)
    }
    return nil
  }

  private mutating func release(_ exchange: Exchange) {
    unansweredCommands -= exchange.commandCount
    unansweredBytes -= exchange.byteCount
  }

  private mutating func takeInFlight() -> [Exchange] {
    repliesMissing = 0
    let taken = inFlight.takeAll()
    for exchange in taken { release(exchange) }
    return taken
  }

  private func failure(_ exchange: Exchange, _ code: RedisError.Code, _ cause: String) -> Failure {
    (exchange.waiter, error(code, cause, exchange.name))
  }

  private func error(_ code: RedisError.Code, _ cause: String, _ name: String) -> RedisError {
    RedisError(code, cause: cause, place: "\(name) at \(endpoint)")
  }
}

// MARK: The link

extension PipelineStateMachine {
  /// Notes that the first try to connect is under way.
  mutating func linkIsComingUp() {
    link = .comingUp
  }

  /// - Returns: the encoded commands of each exchange that waited, in order. They are to be written now.
  mutating func linkCameUp() -> [[UInt8]] {
    link = .up
    defer { waiting = [] }
    for waited in waiting { inFlight.append(waited.exchange) }
    return waiting.map(\.commands)
  }

  /// Fails the exchanges in flight.
  /// - Parameter isComingUp: true if the link may be up again in a moment. Otherwise the exchanges that wait
  ///   fail, too.
  mutating func linkWentDown(because cause: RedisError, isComingUp: Bool) -> [Failure] {
    var failures = takeInFlight().map { failure($0, .connectionLost, cause.cause) }
    if isComingUp {
      link = .comingUp
      return failures
    }
    link = .down(because: cause)
    failures += takeWaiting().map { failure($0, .unavailable, cause.cause) }
    return failures
  }

  mutating func close() -> [Failure] {
    link = .closed
    let cause = "the connection was closed"
    return takeInFlight().map { failure($0, .connectionLost, cause) }
      + takeWaiting().map { failure($0, .closed, cause) }
  }

  private mutating func takeWaiting() -> [Exchange] {
    let taken = waiting.map(\.exchange)
    waiting = []
    for exchange in taken { release(exchange) }
    return taken
  }
}
