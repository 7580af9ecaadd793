package import BelfryLoop

/// One connection for sharded publish and subscribe (Redis 7: SSUBSCRIBE, on a single server as well as on
/// a cluster). It reconnects by itself and subscribes again to everything wanted.
///
/// Messages published while the connection is lost are gone: between `lost` and the next `connected`,
/// and at the first of `subscribe`, whoever needs all of them must look for them elsewhere.
///
/// It belongs to its loop: create it anywhere, use it only there. From `start()` until `close()` the loop
/// keeps it alive.
package final class RedisSubscriber {
  package enum State: Hashable {
    /// Everything wanted is subscribed.
    case connected
    case lost(RedisError)
  }

  private typealias Waiter = CheckedContinuation<Result<Void, RedisError>, Never>

  private let loop: EventLoop
  private let limits: RedisLimits
  private let link: RedisLink
  private var machine: SubscriptionStateMachine<Waiter>
  private var deadlineTimer: LoopTimer?
  private var heartbeatTimer: LoopTimer?

  /// Called for each message of a subscribed channel, in Redis's order. The first may come before the
  /// `subscribe` that asked for it has resumed its caller.
  package var onMessage: ((_ channel: String, _ payload: ArraySlice<UInt8>) -> Void)?
  /// Called when the connection was lost, and when everything wanted is subscribed: the first time too.
  package var onStateChange: ((State) -> Void)?

  package init(loop: EventLoop, endpoint: RedisEndpoint, limits: RedisLimits = RedisLimits()) {
    self.loop = loop
    self.limits = limits
    link = RedisLink(loop: loop, endpoint: endpoint, limits: limits, setUp: nil)
    machine = SubscriptionStateMachine(endpoint: endpoint.description, limits: limits)
  }

  package func start() {
    guard link.owner == nil else { return }
    link.owner = self
    machine.linkIsComingUp()
    link.start()
  }

  /// Closes the connection for good. Nothing more is called back.
  package func close() {
    link.close()
    deadlineTimer?.cancel()
    heartbeatTimer?.cancel()
    fail(machine.close())
    onMessage = nil
    onStateChange = nil
  }

  /// When Redis was last heard, by a message or by its answer to PING; nil if never. While connected, it
  /// is at most two `heartbeatInterval`s ago.
  package var lastHeard: ContinuousClock.Instant? { link.lastHeard }

  /// Channels wanted, confirmed or not.
  package var channelCount: Int { machine.channelCount }
}

// MARK: Channels

extension RedisSubscriber {
  /// Returns when Redis has confirmed the subscription: messages published from now on arrive. At once if
  /// it is confirmed already. If it throws, the channel is not subscribed, except when an earlier call has
  /// succeeded for it.
  package func subscribe(_ channel: String) async throws(RedisError) {
    let result = await withCheckedContinuation { waiter in submit(channel, waiter) }
    try result.get()
  }

  /// No message of the channel is delivered after this, and it is not subscribed again after a loss.
  package func unsubscribe(_ channel: String) {
    let (request, failures) = machine.unsubscribe(channel)
    if let request { write(request) }
    fail(failures)
  }

  private func submit(_ channel: String, _ waiter: Waiter) {
    loop.checkIsolated()
    let now = ContinuousClock.now
    let deadline = now + limits.commandTimeout
    switch machine.subscribe(channel, for: waiter, deadline: deadline, now: now) {
    case .finish: return waiter.resume(returning: .success(()))
    case .fail(let error): return waiter.resume(returning: .failure(error))
    case .send(let request): write(request)
    case .wait: break
    }
    watchDeadline()
  }

  private func watchDeadline() {
    guard deadlineTimer == nil, let deadline = machine.nextDeadline else { return }
    deadlineTimer = loop.schedule(at: deadline) { self.deadlineReached() }
  }

  private func deadlineReached() {
    deadlineTimer = nil
    link.readAll()
    let (requests, failures) = machine.expire(now: .now)
    for request in requests { write(request) }
    fail(failures)
    watchDeadline()
  }

  private func write(_ request: SubscriptionStateMachine<Waiter>.Request) {
    // One channel per command: on a cluster, the channels of one SSUBSCRIBE must share a slot.
    switch request {
    case .subscribe(let channel): link.write([RedisCommand("SSUBSCRIBE", channel)])
    case .unsubscribe(let channel): link.write([RedisCommand("SUNSUBSCRIBE", channel)])
    case .ping: link.write([RedisCommand("PING")])
    }
  }

  private func fail(_ failures: [(waiter: Waiter, error: RedisError)]) {
    for (waiter, error) in failures { waiter.resume(returning: .failure(error)) }
  }
}

// MARK: The link

extension RedisSubscriber: RedisLinkOwner {
  func linkDidComeUp() {
    let (requests, isRestored) = machine.linkCameUp()
    for request in requests { write(request) }
    scheduleHeartbeat()
    if isRestored { onStateChange?(.connected) }
  }

  func linkDidReceive(_ reply: RedisReply) {
    switch machine.received(reply) {
    case .none: break
    case .message(let channel, let payload): onMessage?(channel, payload)
    case .confirm(let waiters, let isRestored):
      for waiter in waiters { waiter.resume(returning: .success(())) }
      if isRestored { onStateChange?(.connected) }
    case .fail(let failures): fail(failures)
    case .giveUp(let error): link.giveUp(error)
    }
  }

  func linkDidGoDown(because error: RedisError, isComingUp: Bool) {
    heartbeatTimer?.cancel()
    let (wasRestored, failures) = machine.linkWentDown(because: error, isComingUp: isComingUp)
    fail(failures)
    if wasRestored { onStateChange?(.lost(error)) }
  }

  private func scheduleHeartbeat() {
    heartbeatTimer = loop.schedule(after: limits.heartbeatInterval) {
      // If this process stood still for a while, the answer is here already.
      self.link.readAll()
      switch self.machine.heartbeat() {
      case .stop: break
      case .giveUp(let error): self.link.giveUp(error)
      case .send(let request):
        self.write(request)
        self.scheduleHeartbeat()
      }
    }
  }
}
