import BelfrySystem

/// The life of a link to Redis: connect, set up, carry traffic, and after each loss connect again, for ever.
///
/// The state machine is pure: it is told what happened and returns what to do, and it knows neither sockets nor clocks.
struct LinkStateMachine {
  enum Action {
    case none
    /// Open a socket.
    case connect
    /// Send a round of set-up.
    case ask([RedisCommand])
    /// Set-up is complete: commands may go out.
    case comeUp
    /// Close the socket, tell the owner why, and retry after the pause.
    case goDown(because: RedisError, retryAfter: Duration)
    /// Close the socket and stop all timers.
    case close
  }

  private enum State {
    case idle
    case connecting
    case settingUp(RedisSetUp, replies: [RedisReply])
    case up
    case pausing
    case closed
  }

  private let backoff: Backoff
  private var state = State.idle
  /// How many tries to connect have failed since the link was last up.
  private(set) var failures = 0

  init(backoff: Backoff) {
    self.backoff = backoff
  }

  /// Whether commands should wait for the link. They should while the first try to connect is under way, and the first try
  /// after a loss. Once a try has failed, nobody should wait.
  var isComingUp: Bool {
    switch state {
    case .connecting, .settingUp, .pausing: failures == 0
    case .idle, .up, .closed: false
    }
  }

  /// Whether the set-up is complete. Replies belong to the owner from then on.
  var isUp: Bool {
    if case .up = state { true } else { false }
  }

  mutating func start() -> Action {
    guard case .idle = state else { return .none }
    state = .connecting
    return .connect
  }

  /// Takes note that the socket is open.
  mutating func connected(setUp: RedisSetUp) -> Action {
    guard case .connecting = state else { return .none }
    return begin(setUp)
  }

  /// Takes a reply of the set-up. Once the link is up, its owner takes the replies.
  mutating func received(_ reply: RedisReply, random: @autoclosure () -> Double) -> Action {
    switch state {
    case .settingUp(let round, var replies):
      replies.append(reply)
      state = .settingUp(round, replies: replies)
      if replies.count < round.commands.count { return .none }
      return finish(round, replies, random: random())
    case .idle, .connecting, .up, .pausing, .closed:
      return .none
    }
  }

  /// Takes note that the socket broke or could not be opened, or that the set-up found this Redis to be unusable.
  mutating func lost(_ error: RedisError, random: Double) -> Action {
    switch state {
    case .up: failures = 0
    case .connecting, .settingUp: failures += 1
    case .idle, .pausing, .closed: return .none
    }
    state = .pausing
    return .goDown(because: error, retryAfter: backoff.delay(doublings: failures, random: random))
  }

  /// Begins the set-up once more, since this process wants another one. Redis has not failed, so commands go on waiting for a
  /// link that is coming up.
  mutating func startAgain(because error: RedisError) -> Action {
    switch state {
    case .up, .connecting, .settingUp: break
    case .idle, .pausing, .closed: return .none
    }
    state = .pausing
    return .goDown(because: error, retryAfter: .zero)
  }

  mutating func pauseEnded() -> Action {
    guard case .pausing = state else { return .none }
    state = .connecting
    return .connect
  }

  mutating func close() -> Action {
    if case .closed = state { return .none }
    state = .closed
    return .close
  }

  private mutating func begin(_ round: RedisSetUp) -> Action {
    guard !round.commands.isEmpty else { return finish(round, [], random: 0) }
    state = .settingUp(round, replies: [])
    return .ask(round.commands)
  }

  private mutating func finish(_ round: RedisSetUp, _ replies: [RedisReply], random: Double) -> Action {
    do {
      if let following = try round.next(replies) { return begin(following) }
    } catch {
      return lost(error, random: random)
    }
    failures = 0
    state = .up
    return .comeUp
  }
}
