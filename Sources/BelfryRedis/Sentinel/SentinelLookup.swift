import BelfryLoop

/// Finds the master that Sentinels watch, for all links of a loop: each asks before it connects. It carries
/// out what `SentinelStateMachine` decides.
///
/// While there are links, it looks at intervals by itself, and a link to another node than the master is
/// given up. So a broker leaves a master that was demoted and has not heard of it, even if the broker neither
/// writes nor loses a connection.
final class SentinelLookup {
  private typealias Waiter = (Result<RedisEndpoint, RedisError>) -> Void

  private let loop: EventLoop
  private let endpoint: RedisEndpoint
  private let group: SentinelGroup
  private let limits: RedisLimits
  private var machine: SentinelStateMachine
  private var links: [WeakLink] = []
  private var waiters: [Waiter] = []
  private var question: NodeQuestion<SentinelAnswer>?
  private var timer: LoopTimer?
  /// The reason why the Sentinel that was asked last did not answer.
  private var lastError: RedisError?

  private struct WeakLink {
    weak var link: RedisLink?
  }

  /// The longest time of each step of asking a Sentinel. Two that are away must not take more than a second
  /// from the callers that wait for the third.
  static let answerTimeout: Duration = .milliseconds(500)

  /// - Returns: nil if the endpoint has an address of its own.
  init?(loop: EventLoop, endpoint: RedisEndpoint, limits: RedisLimits) {
    guard let group = endpoint.sentinels else { return nil }
    var limits = limits
    (limits.connectTimeout, limits.setUpTimeout) = (Self.answerTimeout, Self.answerTimeout)
    // Nobody waits for this connection.
    limits.waitForConnection = .zero
    (self.loop, self.endpoint, self.group, self.limits) = (loop, endpoint, group, limits)
    machine = SentinelStateMachine(group.sentinels)
  }

  /// The master that the Sentinels named last.
  var master: RedisEndpoint? { machine.master.map { endpoint(at: $0) } }

  /// Asks for the master's address.
  /// - Parameter then: called once, perhaps before this function returns; not at all if the link is removed.
  func locate(then: @escaping (Result<RedisEndpoint, RedisError>) -> Void) {
    switch machine.locate(now: .now) {
    case .found(let address): then(.success(endpoint(at: address)))
    case .fail(let failure): then(.failure(error(failure)))
    case .ask(let sentinel):
      waiters.append(then)
      ask(sentinel)
    case .none, .wait: waiters.append(then)
    }
  }

  /// Notes that the named master could not be connected to, was lost, or is no master.
  func refuse(_ address: RedisEndpoint.Address) { machine.refuse(address) }

  /// Follows the link, which is told when the master is elsewhere.
  func add(_ link: RedisLink) { links.append(WeakLink(link: link)) }

  /// Stops following the link. With the last link gone nobody is asked any more.
  func remove(_ link: RedisLink) {
    links.removeAll { $0.link == nil || $0.link === link }
    guard links.isEmpty else { return }
    timer?.cancel()
    timer = nil
    question?.cancel()
    question = nil
    waiters = []
  }

  private func carryOut(_ action: SentinelStateMachine.Action) {
    guard !links.isEmpty else { return }
    switch action {
    case .none: break
    case .ask(let sentinel): ask(sentinel)
    case .wait(let pause): lookLater(after: pause)
    case .found(let address):
      let found = endpoint(at: address)
      end(.success(found))
      for link in links { link.link?.masterIsAt(address) }
    case .fail(let failure): end(.failure(error(failure)))
    }
  }

  private func ask(_ sentinel: RedisEndpoint.Address) {
    var place = RedisEndpoint(sentinel)
    (place.username, place.password, place.tls) = (group.username, group.password, endpoint.tls)
    let question = NodeQuestion(loop: loop, place, limits, SentinelAnswer.commands(group.name)) {
      replies throws(RedisError) in try SentinelAnswer(replies)
    }
    self.question = question
    question.ask { [weak self] result in
      guard let self else { return }
      self.question = nil
      switch result {
      case .success(let answer): carryOut(machine.answered(answer, now: .now))
      case .failure(let error):
        lastError = error
        carryOut(machine.failed(now: .now))
      }
    }
  }

  /// Ends a round. The time until the next look starts now.
  private func end(_ result: Result<RedisEndpoint, RedisError>) {
    lookLater(after: SentinelStateMachine.interval)
    let waiting = waiters
    waiters = []
    for waiter in waiting { waiter(result) }
  }

  private func lookLater(after pause: Duration) {
    timer?.cancel()
    timer = loop.schedule(after: pause) { [weak self] in
      guard let self else { return }
      carryOut(machine.look(now: .now))
    }
  }

  private func error(_ failure: SentinelStateMachine.Failure) -> RedisError {
    switch failure {
    case .unknownName:
      RedisError(
        .unsuitable, cause: "the Sentinels watch no master with the name \"\(group.name)\"",
        place: endpoint.description)
    case .noAnswer:
      RedisError(
        .unavailable, cause: "no Sentinel answers" + (lastError.map { "; the last one: \($0)" } ?? ""),
        place: endpoint.description)
    }
  }

  /// The endpoint at an address, with the same user, database and encryption as for the configured master.
  private func endpoint(at address: RedisEndpoint.Address) -> RedisEndpoint {
    var endpoint = endpoint
    endpoint.address = address
    return endpoint
  }
}
