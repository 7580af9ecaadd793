import BelfryLoop

/// Who waits for which reply on one connection. Replies come in the order of the commands, so the oldest
/// exchange in flight owns the next reply; hence one that is overdue spoils all behind it.
///
/// Pure: `Waiter` is whatever resumes the caller, and time is passed in.
struct PipelineStateMachine<Waiter> {
  typealias Instant = ContinuousClock.Instant
  typealias Failure = (waiter: Waiter, error: RedisError)

  enum SendAction {
    /// Write the commands now.
    case write
    /// Nothing yet: `linkCameUp` will return the commands.
    case wait
    case fail(RedisError)
  }

  enum ReplyAction {
    case none
    case finish(Waiter, [RedisReply])
    /// Nobody asked for this reply: the connection is out of step and must be given up.
    case outOfStep(RedisError)
  }

  struct Expiry {
    var failures: [Failure] = []
    /// The connection must be given up for this reason.
    var loss: RedisError?
  }

  private enum Link {
    case down(because: RedisError)
    case comingUp
    case up
    case closed
  }

  /// Commands sent together.
  private struct Exchange {
    let waiter: Waiter
    let name: String
    let commandCount: Int
    let byteCount: Int
    let deadline: Instant
  }

  private struct WaitingExchange {
    let exchange: Exchange
    let commands: [RedisCommand]
    let giveUpAt: Instant
  }

  private let endpoint: String
  private let limits: RedisLimits
  private var link: Link
  private var inFlight = Queue<Exchange>()
  /// Of the oldest in flight, so far: no other can have any. Here, for a reply is then added to an array and no
  /// exchange is touched until it is complete.
  private var replies: [RedisReply] = []
  private var repliesMissing = 0
  /// In the order of sending, until the link comes up.
  private var waiting: [WaitingExchange] = []
  private(set) var unansweredCommands = 0
  private(set) var unansweredBytes = 0

  init(endpoint: String, limits: RedisLimits) {
    self.endpoint = endpoint
    self.limits = limits
    let cause = RedisError(.unavailable, cause: "not started", place: endpoint)
    self.link = .down(because: cause)
  }

  /// When `expire` should be called next.
  var nextDeadline: Instant? {
    let earliestWaiting = waiting.lazy.map(\.giveUpAt).min()
    let earliestInFlight = inFlight.lazy.map(\.deadline).min()
    return [earliestWaiting, earliestInFlight].compactMap(\.self).min()
  }
}

// MARK: Commands and replies

extension PipelineStateMachine {
  mutating func send(
    _ commands: [RedisCommand], for waiter: Waiter, deadline: Instant, now: Instant
  ) -> SendAction {
    let byteCount = commands.reduce(0) { $0 + $1.byteCount }
    let name = commands.first?.name ?? "nothing"
    if let refusal = refusal(commandCount: commands.count, byteCount: byteCount, name) {
      return .fail(refusal)
    }
    unansweredCommands += commands.count
    unansweredBytes += byteCount
    let exchange = Exchange(
      waiter: waiter, name: name, commandCount: commands.count, byteCount: byteCount, deadline: deadline)
    if case .up = link {
      inFlight.append(exchange)
      return .write
    }
    let giveUpAt = min(deadline, now + limits.waitForConnection)
    waiting.append(WaitingExchange(exchange: exchange, commands: commands, giveUpAt: giveUpAt))
    return .wait
  }

  mutating func received(_ reply: RedisReply) -> ReplyAction {
    if replies.isEmpty {
      guard let oldest = inFlight.first else {
        return .outOfStep(
          RedisError(.unexpectedReply, cause: "a reply that nobody asked for", place: endpoint))
      }
      repliesMissing = oldest.commandCount
      replies.reserveCapacity(oldest.commandCount)
    }
    replies.append(reply)
    repliesMissing -= 1
    guard repliesMissing == 0, let exchange = inFlight.popFirst() else { return .none }
    release(exchange)
    return .finish(exchange.waiter, takeReplies())
  }

  /// Fails what is overdue. If that is in flight, everything else in flight fails with it.
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
          : failure(exchange, .connectionLost, "given up: an earlier command had no reply in time"))
    }
    let loss = RedisError(.timedOut, cause: "a command had no reply in time", place: endpoint)
    link = .down(because: loss)
    expiry.loss = loss
    return expiry
  }

  private func refusal(commandCount: Int, byteCount: Int, _ name: String) -> RedisError? {
    switch link {
    case .closed: return error(.closed, "the connection was closed", name)
    case .down(let cause): return error(.unavailable, cause.cause, name)
    case .up, .comingUp: break
    }
    if unansweredCommands + commandCount > limits.unansweredCommandsMax {
      return error(.overloaded, "more than \(limits.unansweredCommandsMax) commands unanswered", name)
    }
    if unansweredBytes + byteCount > limits.unansweredBytesMax {
      return error(.overloaded, "more than \(limits.unansweredBytesMax) bytes unanswered", name)
    }
    return nil
  }

  private mutating func release(_ exchange: Exchange) {
    unansweredCommands -= exchange.commandCount
    unansweredBytes -= exchange.byteCount
  }

  private mutating func takeReplies() -> [RedisReply] {
    let taken = replies
    replies = []
    return taken
  }

  private mutating func takeInFlight() -> [Exchange] {
    replies = []
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
  /// The first try to connect is under way.
  mutating func linkIsComingUp() {
    link = .comingUp
  }

  /// Returns the commands to write: those that waited, in order.
  mutating func linkCameUp() -> [RedisCommand] {
    link = .up
    defer { waiting = [] }
    for waited in waiting { inFlight.append(waited.exchange) }
    return waiting.flatMap(\.commands)
  }

  /// - Parameter isComingUp: whether the link may be up again in a moment. If not, what waits fails too.
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
