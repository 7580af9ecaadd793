import BelfryBytes
import BelfryLoop

/// Knows which channels are wanted, which are confirmed, and which request Redis answers next.
///
/// Redis answers requests in their order, and an error does not name its channel, so the requests are
/// remembered in order. A channel is wanted from `subscribe` until `unsubscribe`, unless the `subscribe`
/// fails.
///
/// The state machine is pure: time is passed in, and a `Waiter` can be any value that resumes a caller.
struct SubscriptionStateMachine<Waiter> {
  typealias Instant = ContinuousClock.Instant
  typealias Failure = (waiter: Waiter, error: RedisError)

  enum Request: Hashable {
    case subscribe(String)
    case unsubscribe(String)
    case ping
  }

  enum SubscribeAction: Equatable {
    /// The caller returns, because the channel is confirmed already.
    case finish
    /// The request is to be written now, and the caller waits.
    case send(Request)
    /// The caller waits: a request for this channel is under way, or the link is coming up.
    case wait
    case fail(RedisError)
  }

  enum ReplyAction {
    case none
    case message(channel: String, payload: ArraySlice<UInt8>)
    /// - Parameter isRestored: true if every channel that was wanted when the link came up is subscribed now.
    case confirm([Waiter], isRestored: Bool)
    case fail([Failure])
    /// A channel is no longer subscribed, because this node of a cluster does not serve its slot any more. It
    /// is not wanted here from now on.
    /// - Parameters:
    ///   - channel: nil if its subscription had never succeeded, so that nobody relies on it.
    ///   - isRestored: as in `confirm`.
    case movedAway(channel: String?, [Failure], isRestored: Bool)
    case giveUp(RedisError)
  }

  enum HeartbeatAction: Equatable {
    case send(Request)
    case giveUp(RedisError)
    /// No heartbeat is needed, because there is no link.
    case stop
  }

  private enum Link {
    case down(because: RedisError)
    case comingUp
    /// The link is up, and so many of the channels that were wanted when it came up are not confirmed yet.
    case restoring(unconfirmed: Int)
    case up
    case closed
  }

  private struct Subscription {
    /// Tells confirmations of this subscription from those of an earlier one to the same channel.
    let attempt: Int
    /// True if Redis has confirmed the subscription on the present connection.
    var isConfirmed = false
    /// True if a `subscribe` has ever succeeded. Then the subscription is restored on new connections.
    var isEstablished = false
    var waiters: [Waiter] = []
    /// The deadline of the first waiter. The other waiters end with the first.
    var deadline: Instant
  }

  private enum SentRequest {
    case subscribe(String, attempt: Int, restores: Bool)
    case unsubscribe(String)
    case ping

    var slot: Int? {
      switch self {
      case .subscribe(let channel, _, _), .unsubscribe(let channel): ClusterSlot.of(key: channel)
      case .ping: nil
      }
    }
  }

  private let endpoint: String
  private let limits: RedisLimits
  private var link: Link
  private var wanted: [String: Subscription] = [:]
  /// The wanted channels that a caller waits for, which are few among many.
  private var awaited: Set<String> = []
  private var sent = Queue<SentRequest>()
  private var isPingUnanswered = false
  private var attemptsEver = 0

  init(endpoint: String, limits: RedisLimits) {
    self.endpoint = endpoint
    self.limits = limits
    self.link = .down(because: RedisError(.unavailable, cause: "not started", place: endpoint))
  }

  var channelCount: Int { wanted.count }
  var channels: [String] { Array(wanted.keys) }

  /// The time at which `expire` has work to do next; nil if nobody waits.
  var nextDeadline: Instant? {
    awaited.lazy.compactMap { wanted[$0]?.deadline }.min()
  }

  private var isComingUp: Bool {
    if case .comingUp = link { true } else { false }
  }

  private func error(_ code: RedisError.Code, _ cause: String, _ channel: String? = nil) -> RedisError {
    RedisError(code, cause: cause, place: channel.map { "SSUBSCRIBE \($0) at \(endpoint)" } ?? endpoint)
  }
}

// MARK: Wanted channels

extension SubscriptionStateMachine {
  mutating func subscribe(
    _ channel: String, for waiter: Waiter, deadline: Instant, now: Instant
  ) -> SubscribeAction {
    if wanted[channel]?.isConfirmed == true { return .finish }
    if let refusal = refusal(channel) { return .fail(refusal) }
    awaited.insert(channel)
    let giveUpAt = isComingUp ? min(deadline, now + limits.waitForConnection) : deadline
    if wanted[channel] != nil {
      if wanted[channel]?.waiters.isEmpty == true { wanted[channel]?.deadline = giveUpAt }
      wanted[channel]?.waiters.append(waiter)
      return .wait
    }
    attemptsEver += 1
    wanted[channel] = Subscription(attempt: attemptsEver, waiters: [waiter], deadline: giveUpAt)
    if isComingUp { return .wait }
    sent.append(.subscribe(channel, attempt: attemptsEver, restores: false))
    return .send(.subscribe(channel))
  }

  /// - Returns: the request to write, and the callers that waited for the subscription.
  mutating func unsubscribe(_ channel: String) -> (request: Request?, failures: [Failure]) {
    guard let subscription = wanted.removeValue(forKey: channel) else { return (nil, []) }
    awaited.remove(channel)
    let failures = subscription.waiters.map { ($0, error(.unsubscribed, "unsubscribed meanwhile", channel)) }
    return (requestUnsubscription(channel), failures)
  }

  /// Gives up overdue subscriptions. The connection stays, because the heartbeat decides if it is alive.
  /// - Returns: the requests to write, and the callers that waited.
  mutating func expire(now: Instant) -> (requests: [Request], failures: [Failure]) {
    var requests: [Request] = []
    var failures: [Failure] = []
    let overdue = awaited.filter { wanted[$0].map { $0.deadline <= now } ?? true }
    for channel in overdue {
      let cause =
        isComingUp
        ? error(.unavailable, "no connection yet", channel)
        : error(.timedOut, "not confirmed before the deadline", channel)
      let isGone = fail(channel, with: cause, into: &failures)
      if isGone, let request = requestUnsubscription(channel) { requests.append(request) }
    }
    return (requests, failures)
  }

  private func refusal(_ channel: String) -> RedisError? {
    switch link {
    case .closed: return error(.closed, "the subscriber was closed", channel)
    case .down(let cause): return error(.unavailable, cause.cause, channel)
    case .comingUp, .restoring, .up: break
    }
    if wanted[channel] == nil, wanted.count >= limits.channelsMax {
      return error(.overloaded, "more than \(limits.channelsMax) channels", channel)
    }
    // There is room for the requests that restore all channels, and for the usual number in addition.
    if sent.count >= limits.channelsMax + limits.unansweredCommandsMax {
      return error(.overloaded, "too many requests unconfirmed", channel)
    }
    return nil
  }

  private mutating func requestUnsubscription(_ channel: String) -> Request? {
    switch link {
    case .restoring, .up:
      sent.append(.unsubscribe(channel))
      return .unsubscribe(channel)
    case .down, .comingUp, .closed:
      return nil
    }
  }

  /// Fails the callers that wait for the channel. A channel that was never established is no longer wanted
  /// then.
  /// - Returns: true if the channel is no longer wanted.
  private mutating func fail(
    _ channel: String, with error: RedisError, into failures: inout [Failure]
  ) -> Bool {
    awaited.remove(channel)
    guard var subscription = wanted[channel] else { return false }
    failures += subscription.waiters.map { ($0, error) }
    subscription.waiters = []
    wanted[channel] = subscription.isEstablished ? subscription : nil
    return !subscription.isEstablished
  }
}

// MARK: Replies of Redis

extension SubscriptionStateMachine {
  mutating func received(_ reply: RedisReply) -> ReplyAction {
    switch reply {
    case .array(let elements):
      guard elements.count >= 2, case .bulk(let kind) = elements[0], case .bulk(let subject) = elements[1]
      else { break }
      switch kind {
      case PushKind.message:
        guard elements.count == 3, case .bulk(let payload) = elements[2] else { break }
        return message(String(decoding: subject, as: UTF8.self), payload)
      case PushKind.subscribed:
        return subscribed(String(decoding: subject, as: UTF8.self))
      case PushKind.unsubscribed:
        return unsubscribed(String(decoding: subject, as: UTF8.self))
      case PushKind.pong:
        return pong()
      default: break
      }
    case .status: return pong()
    case .error(let message): return refused(message)
    case .integer, .bulk, .null: break
    }
    return outOfStep
  }

  /// To be called every `heartbeatInterval` while the link is up.
  mutating func heartbeat() -> HeartbeatAction {
    switch link {
    case .down, .comingUp, .closed: return .stop
    case .restoring, .up: break
    }
    if isPingUnanswered { return .giveUp(error(.timedOut, "no answer to PING")) }
    isPingUnanswered = true
    sent.append(.ping)
    return .send(.ping)
  }

  private func message(_ channel: String, _ payload: ArraySlice<UInt8>) -> ReplyAction {
    // Redis may have sent the message before the channel was given up.
    guard wanted[channel]?.isConfirmed == true else { return .none }
    return .message(channel: channel, payload: payload)
  }

  private mutating func subscribed(_ channel: String) -> ReplyAction {
    guard case .subscribe(channel, let attempt, let restores) = sent.popFirst() else { return outOfStep }
    var waiters: [Waiter] = []
    if wanted[channel]?.attempt == attempt {
      wanted[channel]?.isConfirmed = true
      wanted[channel]?.isEstablished = true
      if awaited.remove(channel) != nil {
        waiters = wanted[channel]?.waiters ?? []
        wanted[channel]?.waiters = []
      }
    }
    return .confirm(waiters, isRestored: restores && isLastOfRestoration())
  }

  private mutating func isLastOfRestoration() -> Bool {
    guard case .restoring(let unconfirmed) = link else { return false }
    link = unconfirmed > 1 ? .restoring(unconfirmed: unconfirmed - 1) : .up
    return unconfirmed <= 1
  }

  private mutating func unsubscribed(_ channel: String) -> ReplyAction {
    // Redis also sends this by itself when the slot leaves, just before the refusal: see ``refused``.
    if case .unsubscribe(channel) = sent.first {
      sent.popFirst()
      return .none
    }
    // No request asked for it: the channel's slot has moved to another node.
    return movedAway(channel, SlotMove.cause, isRestored: false)
  }

  private mutating func movedAway(_ channel: String, _ cause: String, isRestored: Bool) -> ReplyAction {
    guard let subscription = wanted.removeValue(forKey: channel) else {
      return isRestored ? .confirm([], isRestored: true) : .none
    }
    awaited.remove(channel)
    let failures = subscription.waiters.map { ($0, error(.replied, cause, channel)) }
    return .movedAway(
      channel: subscription.isEstablished ? channel : nil, failures, isRestored: isRestored)
  }

  /// Gives up the channels of slots that have moved. Redis is not told: the node that had the slots ends their
  /// subscriptions by itself, and would refuse the request.
  /// - Returns: the channels that were established, by slot, and the callers that waited.
  mutating func release(_ slots: Set<Int>) -> (channels: [Int: [String]], failures: [Failure]) {
    var (channels, failures): ([Int: [String]], [Failure]) = ([:], [])
    for (channel, subscription) in wanted {
      let slot = ClusterSlot.of(key: channel)
      guard slots.contains(slot) else { continue }
      if subscription.isEstablished { channels[slot, default: []].append(channel) }
      wanted[channel] = nil
      awaited.remove(channel)
      failures += subscription.waiters.map { ($0, error(.replied, SlotMove.cause, channel)) }
    }
    return (channels, failures)
  }

  private mutating func pong() -> ReplyAction {
    guard case .ping = sent.popFirst() else { return outOfStep }
    isPingUnanswered = false
    return .none
  }

  private mutating func refused(_ message: String) -> ReplyAction {
    // Redis's message when the slot left counts as the answer to the request to end a subscription. The
    // refusal of that request comes afterwards, and must not be taken for that of the next request.
    if let slot = Redirection.slotMoved(message), sent.first?.slot != slot { return .none }
    switch sent.popFirst() {
    case .subscribe(let channel, let attempt, let restores):
      let error = error(.replied, message, channel)
      if restores {
        guard Redirection.isOne(message) else { return .giveUp(error) }
        guard wanted[channel]?.attempt == attempt else {
          // The request was given up meanwhile.
          return isLastOfRestoration() ? .confirm([], isRestored: true) : .none
        }
        return movedAway(channel, message, isRestored: isLastOfRestoration())
      }
      var failures: [Failure] = []
      if wanted[channel]?.attempt == attempt { _ = fail(channel, with: error, into: &failures) }
      return .fail(failures)
    case .unsubscribe:
      return .none
    case .ping:
      isPingUnanswered = false
      return .none
    case nil:
      return .giveUp(error(.replied, message))
    }
  }

  private var outOfStep: ReplyAction {
    .giveUp(error(.unexpectedReply, "a reply that nobody asked for"))
  }
}

/// The kinds of messages that a subscribed connection receives, by their first element.
private enum PushKind {
  static let message = ArraySlice("smessage".utf8)
  static let subscribed = ArraySlice("ssubscribe".utf8)
  static let unsubscribed = ArraySlice("sunsubscribe".utf8)
  static let pong = ArraySlice("pong".utf8)
}

// MARK: The link

extension SubscriptionStateMachine {
  /// Notes that the first try to connect is under way.
  mutating func linkIsComingUp() {
    link = .comingUp
  }

  /// - Returns: the requests to write, one for each wanted channel, and whether everything is restored already because no
  ///   channel is wanted.
  mutating func linkCameUp() -> (requests: [Request], isRestored: Bool) {
    link = wanted.isEmpty ? .up : .restoring(unconfirmed: wanted.count)
    for (channel, subscription) in wanted {
      sent.append(.subscribe(channel, attempt: subscription.attempt, restores: true))
    }
    return (wanted.keys.map { .subscribe($0) }, wanted.isEmpty)
  }

  /// - Parameter isComingUp: true if the link may be up again in a moment.
  /// - Returns: true if everything had been restored before.
  mutating func linkWentDown(
    because cause: RedisError, isComingUp: Bool
  ) -> (wasRestored: Bool, failures: [Failure]) {
    let wasRestored = if case .up = link { true } else { false }
    let code: RedisError.Code = self.isComingUp ? .unavailable : .connectionLost
    link = isComingUp ? .comingUp : .down(because: cause)
    return (wasRestored, failAwaited(code, cause.cause))
  }

  mutating func close() -> [Failure] {
    let failures = failAwaited(.closed, "the subscriber was closed")
    link = .closed
    wanted = [:]
    return failures
  }

  private mutating func failAwaited(_ code: RedisError.Code, _ cause: String) -> [Failure] {
    var failures: [Failure] = []
    for channel in awaited {
      _ = fail(channel, with: error(code, cause, channel), into: &failures)
    }
    for channel in wanted.keys { wanted[channel]?.isConfirmed = false }
    sent = Queue()
    isPingUnanswered = false
    return failures
  }
}
