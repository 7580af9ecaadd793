import BelfryFeed
import BelfryHooks
import BelfryInterface
import BelfryLive
import BelfryLoop
import BelfryModel
import BelfryOutbound
import BelfryStore
import BelfrySystem

/// The services that answer requests on one loop. It lives on the loop's thread.
final class LoopServices {
  let loop: EventLoop
  let loopNumber: Int
  let scope: LoopScope
  let store: any Store
  let feed: FeedReader
  let hub: Hub
  let runner: OperationRunner
  let tokens: TokenCache
  /// For webhooks and key sets.
  let outbound: OutboundClient
  /// For callbacks alone. Sends wait for callbacks, so a webhook of the same host may not take their places.
  let callbackOutbound: OutboundClient
  let callbacks: Callbacks
  let webhooks: WebhookDispatcher
  /// For push alone. So callbacks and webhooks never wait for pushes, and pushes do not reach the networks
  /// that only webhooks may reach.
  let pushOutbound: OutboundClient
  let push: PushDispatcher
  let broker: Broker
  /// For records that operators maintain.
  let administration: RedisStore
  let counts = RequestCounts()
  let slots = ConnectionSlots()
  let readings = ReadingsUnderWay()
  let streams: StreamRegistry
  let waitingSockets: WaitingSockets
  var clientIDs = ClientIDs()
  /// True if the broker is shutting down. Load balancers are told, but clients that still come are not
  /// refused.
  var isDraining = false

  init(
    loop: EventLoop, loopNumber: Int, scope: LoopScope, store: RedisStore, live: any LiveFeed, broker: Broker
  ) {
    administration = store
    self.loop = loop
    self.loopNumber = loopNumber
    self.scope = scope
    self.store = store
    self.broker = broker
    let limits = broker.configuration.limits
    waitingSockets = WaitingSockets(countMax: broker.configuration.socketsWaitingMax)
    feed = FeedReader(store: store, limits: limits, loop: loop, scope: scope)
    hub = Hub(
      loop: loop, scope: scope, feed: feed, live: live,
      heartbeatSeconds: broker.configuration.heartbeatSeconds)
    let streams = StreamRegistry(
      broker: broker.name, loopNumber: loopNumber, scope: scope, loop: loop, store: store,
      logins: broker.configuration.logins, failures: broker.failures)
    self.streams = streams
    hub.onEnded = { streams.end($0) }
    hub.onHearing = { streams.hear($0) }
    hub.onHearingAgain = { streams.mayHaveMissed() }
    hub.onUnreadable = { streams.noteUnreadableMessage() }
    runner = OperationRunner(store: store, limits: limits, scope: scope)
    tokens = TokenCache(broker.keys)
    let policy = AddressPolicy(allowedNetworks: broker.configuration.allowedNetworks)
    let userAgent = "belfry/\(BelfryVersion.text)"
    outbound = OutboundClient(loop: loop, policy: policy, userAgent: userAgent)
    callbackOutbound = OutboundClient(loop: loop, policy: policy, userAgent: userAgent)
    pushOutbound = OutboundClient(
      loop: loop, policy: broker.configuration.push.addressPolicy, userAgent: userAgent)
    callbacks = Callbacks(broker.configuration.callbacks, loop: loop, client: callbackOutbound) {
      Self.logCallback($0, loop: loopNumber)
    }
    let partitions = store.partitions.all.filter { $0.number % broker.configuration.loops == loopNumber }
    webhooks = WebhookDispatcher(
      loop: loop, scope: scope, store: store, client: outbound, endpoints: broker.webhooks,
      partitions: partitions,
      timeoutMilliseconds: broker.configuration.webhookTimeoutMilliseconds,
      retryDelaysSeconds: broker.configuration.retryDelaysSeconds, failures: broker.failures
    ) { event, endpoint, cause in
      let (id, origin) = (endpoint.id.text, endpoint.url.origin)
      if let cause {
        Log.line(event, ["loop": "\(loopNumber)", "webhookId": id, "origin": origin, "cause": cause])
      } else {
        Log.line(event, ["loop": "\(loopNumber)", "webhookId": id, "origin": origin])
      }
    }
    push = PushDispatcher(
      loop: loop, scope: scope, store: store, feed: feed, client: pushOutbound, word: broker.pushWord,
      partitions: partitions, loops: broker.configuration.loops, spare: broker.pushSpare,
      settings: broker.configuration.push,
      key: broker.pushKey, retryDelaysSeconds: broker.configuration.retryDelaysSeconds,
      failures: broker.failures
    ) { event, account, origin, cause in
      switch (account, cause) {
      case (let account?, let cause):
        Log.line(event, ["account": account.text, "origin": origin, "cause": cause ?? ""])
      case (nil, let cause?):
        Log.line(event, ["loop": "\(loopNumber)", "origin": origin, "cause": cause])
      case (nil, nil): Log.line(event, ["loop": "\(loopNumber)", "origin": origin])
      }
    }
  }

  /// Takes the base price of a request, which does not depend on its content, if the account is not in debt.
  func take(_ price: Price, of caller: Caller?) throws(Refusal) {
    guard price.base > 0 else { return }
    try take(price.base, price.pace, of: caller)
  }

  private func take(_ count: Int, _ pace: Price.Pace, of caller: Caller?) throws(Refusal) {
    guard let account = caller?.actor.charged else { return }
    let limits = broker.accountLimits
    guard let seconds = limits.take(count, pace, of: account, now: loop.now) else { return }
    throw Refusal(
      .rateLimited,
      "too fast: \(account) is limited to \(limits.pace(pace)), and earlier requests have used them up; a request counts as several if it names several accounts, and this one as \(count)",
      retryAfterSeconds: seconds)
  }

  /// Finds a notification. A user pays for a search through the logs of spaces that they do not belong to.
  func find(_ id: MessageID, for caller: Caller) async throws(Refusal) -> LocatedEntry {
    let actor = caller.actor
    guard actor.charged != nil else { return try await feed.find(id, for: actor.account) }
    let payment = SearchPayment(
      check: { [self] () throws(Refusal) in try take(0, .sends, of: caller) },
      pay: { [self] in owe(Price.search(throughLogs: $0), .sends, of: caller) })
    return try await feed.find(id, for: actor.account, paying: payment)
  }

  /// Takes the extra price that a request turned out to have. The request itself is not refused any more; the
  /// next one waits.
  func owe(_ count: Int, _ pace: Price.Pace, of caller: Caller?) {
    guard count > 0, let account = caller?.actor.charged else { return }
    broker.accountLimits.owe(count, pace, of: account, now: loop.now)
  }

  /// True if the credential is still accepted.
  func isAccepted(_ credential: Credential) -> Bool {
    switch credential {
    case .key(let identity, let issue):
      tokens.keys.accepts(identity) && !(issue.map(broker.revocations.isRevoked) ?? false)
    case .backEndKey(let id):
      broker.backEndKeys.holds(id, nowSeconds: WallClock.nowMilliseconds() / 1_000)
    }
  }

  /// The refusal for a credential that was accepted before.
  func refusal(of credential: Credential) -> Refusal {
    if let issue = credential.issue, broker.revocations.isRevoked(issue) { return .revokedToken }
    return Refusal(.unauthorized, "the token is no longer accepted")
  }

  /// Takes a slot for a stream or a waiting request.
  func openSlot(of account: AccountID, by credential: Credential) throws(Refusal) -> ConnectionSlot {
    // The caller was admitted when the headers were there. The credential may have been revoked since then.
    guard isAccepted(credential) else { throw refusal(of: credential) }
    guard broker.accountLimits.openSlot(of: account) else {
      let most = broker.configuration.limits.streamsPerAccount
      throw Refusal(
        .tooMany,
        "\(account) has \(most) open streams and waiting requests, which is the limit; close one first")
    }
    return ConnectionSlot(account, by: credential, broker.accountLimits, among: slots)
  }
}

/// Makes a `messageClientId` for senders who gave none: a random word that no other loop has, and a number.
/// Asking the system for random bits each time would cost every send two more system calls.
struct ClientIDs {
  private let word = String(UInt64.random(in: .min ... .max), radix: 36)
  private var count = 0

  mutating func next() -> String {
    count += 1
    return "\(word)-\(count)"
  }
}

extension LoopServices {
  fileprivate static func logCallback(_ event: Callbacks.Event, loop: Int) {
    func facts(_ callback: Callbacks.Callback, _ cause: String) -> KeyValuePairs<String, String> {
      [
        "loop": "\(loop)", "origin": callback.origin, "events": callback.events.joined(separator: ","),
        "onFailure": callback.onFailure.rawValue, "cause": cause,
      ]
    }
    switch event {
    case .fails(let callback, let cause): Log.line("callback fails", facts(callback, cause))
    case .pauses(let callback, let cause):
      Log.line("callback is paused after failures", facts(callback, cause))
    case .answersAgain(let callback):
      Log.line(
        "callback answers again",
        ["loop": "\(loop)", "origin": callback.origin, "events": callback.events.joined(separator: ",")])
    }
  }
}
