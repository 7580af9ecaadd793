package import BelfryLoop

/// One connection for sharded publish and subscribe (SSUBSCRIBE, since Redis 7). When the connection breaks,
/// the subscriber connects again and subscribes to all its channels again.
///
/// Messages that are published while the connection is lost do not arrive. A user has to look elsewhere for
/// messages that were published between `lost` and the next `connected`.
///
/// A subscriber can be created on any thread, and is used on its loop only. From `start()` until `close()`
/// the loop keeps the subscriber alive.
package final class RedisSubscriber {
  package enum State: Hashable {
    /// All wanted channels are subscribed.
    case connected
    case lost(RedisError)
  }

  private typealias Waiter = (Result<Void, RedisError>) -> Void

  private let loop: EventLoop
  private let limits: RedisLimits
  private let link: RedisLink
  private var machine: SubscriptionStateMachine<Waiter>
  private var deadlineTimer: LoopTimer?
  private var heartbeatTimer: LoopTimer?

  /// Called for each message of a subscribed channel, in Redis's order. The first call may come before the channel's
  /// `subscribe` has returned.
  package var onMessage: ((_ channel: String, _ payload: ArraySlice<UInt8>) -> Void)?
  /// Called when the connection is lost, and each time that all wanted channels have become subscribed.
  package var onStateChange: ((State) -> Void)?
  /// Called each time that a connection is lost or is not made.
  var onFailure: ((RedisError) -> Void)?
  /// Called when a node of a cluster has ended the subscription to a channel whose slot it does not serve any more.
  var onMovedAway: ((_ channel: String) -> Void)?

  /// - Parameter setUp: as in ``RedisConnection``.
  package convenience init(
    loop: EventLoop, endpoint: RedisEndpoint, limits: RedisLimits = RedisLimits(), setUp: RedisSetUp? = nil
  ) {
    let lookup = SentinelLookup(loop: loop, endpoint: endpoint, limits: limits)
    self.init(loop: loop, endpoint: endpoint, by: lookup, limits: limits, setUp: setUp)
  }

  /// - Parameter lookup: as in ``RedisConnection``.
  init(
    loop: EventLoop, endpoint: RedisEndpoint, by lookup: SentinelLookup?, limits: RedisLimits,
    setUp: RedisSetUp?
  ) {
    self.loop = loop
    self.limits = limits
    link = RedisLink(loop: loop, endpoint: endpoint, by: lookup, limits: limits, setUp: setUp)
    machine = SubscriptionStateMachine(endpoint: endpoint.description, limits: limits)
  }

  package func start() {
    guard link.owner == nil else { return }
    link.owner = self
    machine.linkIsComingUp()
    link.start()
  }

  /// Closes the socket and connects again, with the set-up.
  package func reconnect(because error: RedisError) { link.giveUp(error) }

  /// Closes the connection for good. No callback is called afterwards.
  package func close() {
    link.close()
    deadlineTimer?.cancel()
    heartbeatTimer?.cancel()
    fail(machine.close())
    onMessage = nil
    onStateChange = nil
    onMovedAway = nil
  }

  /// The time at which a message or the answer to a PING last arrived; nil if never. While the subscriber is
  /// connected, that is at most two `heartbeatInterval`s ago.
  package var lastHeard: ContinuousClock.Instant? { link.lastHeard }

  /// The number of wanted channels, confirmed by Redis or not.
  package var channelCount: Int { machine.channelCount }

  var channels: [String] { machine.channels }
}

// MARK: Channels

extension RedisSubscriber {
  /// Returns when Redis has confirmed the subscription. Messages that are published from then on arrive. If the function
  /// throws, the channel is not subscribed, unless an earlier call for the same channel has succeeded.
  package func subscribe(_ channel: String) async throws(RedisError) {
    let result = await withCheckedContinuation { waiter in subscribe(channel) { waiter.resume(returning: $0) }
    }
    try result.get()
  }

  /// Ends the subscription. No message of the channel is delivered from now on.
  package func unsubscribe(_ channel: String) {
    let (request, failures) = machine.unsubscribe(channel)
    if let request { write(request) }
    fail(failures)
  }

  /// Gives up the channels of slots that have moved. Callers that wait for one of them get an error.
  /// - Returns: the channels that were established, by slot.
  func release(_ slots: Set<Int>) -> [Int: [String]] {
    let (channels, failures) = machine.release(slots)
    fail(failures)
    return channels
  }

  /// - Parameter then: called once, perhaps before this function returns.
  func subscribe(_ channel: String, then waiter: @escaping (Result<Void, RedisError>) -> Void) {
    loop.checkIsolated()
    let now = ContinuousClock.now
    let deadline = now + limits.commandTimeout
    switch machine.subscribe(channel, for: waiter, deadline: deadline, now: now) {
    case .finish: return waiter(.success(()))
    case .fail(let error): return waiter(.failure(error))
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
    // Each command names one channel, because on a cluster the channels of one SSUBSCRIBE must share a slot.
    switch request {
    case .subscribe(let channel): link.write(RedisCommand("SSUBSCRIBE", channel))
    case .unsubscribe(let channel): link.write(RedisCommand("SUNSUBSCRIBE", channel))
    case .ping: link.write(RedisCommand("PING"))
    }
  }

  private func fail(_ failures: [(waiter: Waiter, error: RedisError)]) {
    for (waiter, error) in failures { waiter(.failure(error)) }
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

  func linkDidReceiveReply(in parser: ReplyParser) {
    switch machine.received(parser.takeReply()) {
    case .none: break
    case .message(let channel, let payload): onMessage?(channel, payload)
    case .confirm(let waiters, let isRestored):
      for waiter in waiters { waiter(.success(())) }
      if isRestored { onStateChange?(.connected) }
    case .fail(let failures): fail(failures)
    case .movedAway(let channel, let failures, let isRestored):
      if let channel { onMovedAway?(channel) }
      fail(failures)
      if isRestored { onStateChange?(.connected) }
    case .giveUp(let error): link.giveUp(error)
    }
  }

  func linkDidGoDown(because error: RedisError, isComingUp: Bool) {
    heartbeatTimer?.cancel()
    let (wasRestored, failures) = machine.linkWentDown(because: error, isComingUp: isComingUp)
    fail(failures)
    if wasRestored { onStateChange?(.lost(error)) }
    onFailure?(error)
  }

  private func scheduleHeartbeat() {
    heartbeatTimer = loop.schedule(after: limits.heartbeatInterval) {
      // If this process was suspended for a while, the answer may have arrived in time and only has to be read.
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
