import BelfrySystem
import FoundationEssentials

/// A feed without its I/O. It decides what to do next from what has happened.
///
/// The cursor moves when an event is handed out, not when it arrives. Everything that arrived is handed out before the feed
/// connects again. Together this makes each notification come once: a new connection begins exactly behind the last event
/// that the consumer was given.
struct FeedStateMachine: Sendable {
  enum Action: Sendable, Hashable {
    case handOut(FeedEvent)
    case connect(after: String?)
    case read
    case pause(Duration)
    /// The feed is over.
    case end(BelfryError?)
  }

  private enum Phase {
    case away, pausing(Duration), connected, ended(BelfryError?)
  }

  private(set) var cursor: String?
  private var phase = Phase.away
  private var policy: ReconnectPolicy
  private let transport: FeedTransport
  private var parser: FeedParser
  /// Items that have arrived and were not handed out yet.
  private var arrived: ArraySlice<FeedItem> = []
  /// Events of the client itself, such as `disconnected`. They come after everything that has arrived.
  private var remarks: [FeedEvent] = []
  private var isKnownConnected = false

  init(cursor: String?, over transport: FeedTransport = .serverSentEvents, backoff: Backoff) {
    self.cursor = cursor?.isEmpty == true ? nil : cursor
    self.transport = transport
    parser = FeedParser(transport)
    policy = ReconnectPolicy(backoff: backoff)
  }

  mutating func next() -> Action {
    while let item = arrived.popFirst() {
      if let event = take(item) { return .handOut(event) }
    }
    if !remarks.isEmpty { return .handOut(remarks.removeFirst()) }
    switch phase {
    case .away: return .connect(after: cursor)
    case .pausing(let pause): return .pause(pause)
    case .connected: return .read
    case .ended(let error):
      // The error is thrown once. Later calls return nil.
      phase = .ended(nil)
      return .end(error)
    }
  }

  // MARK: Events of the connection

  mutating func connected() {
    phase = .connected
    parser = FeedParser(transport)
    if !isKnownConnected { remarks.append(.connected) }
    isKnownConnected = true
  }

  mutating func received(_ bytes: Data, random: Double) {
    guard case .connected = phase else { return }
    policy.heard()
    var items: [FeedItem] = []
    var flaw: FeedFlaw?
    do { try parser.parse(bytes, into: &items) } catch { flaw = error }
    for item in items { if case .retry(let pause) = item { policy.asked(toPause: pause) } }
    arrived += items
    if let returns = items.lazy.compactMap(\.returnsAfterKick).first {
      isKnownConnected = false
      follow(policy.decide(.kicked(retry: returns), random: random))
    } else if let flaw {
      phase = .ended(BelfryError(.protocol, flaw.cause))
    }
  }

  /// Returns the bytes with which to answer the broker, and forgets them.
  mutating func takeReplies() -> [UInt8] { parser.takeReplies() }

  /// The connection has ended, or could not be made.
  mutating func ended(_ ending: ReconnectPolicy.Ending, random: Double) {
    let decision = policy.decide(ending, random: random)
    if case .failed(let error) = ending, case .reconnect(let pause) = decision {
      isKnownConnected = false
      remarks.append(.disconnected(because: error, pause: pause))
    }
    follow(decision)
  }

  mutating func paused() {
    if case .pausing = phase { phase = .away }
  }

  private mutating func follow(_ decision: ReconnectPolicy.Decision) {
    switch decision {
    case .reconnect(let pause): phase = pause > .zero ? .pausing(pause) : .away
    case .end(let error): phase = .ended(error)
    }
  }

  private mutating func take(_ item: FeedItem) -> FeedEvent? {
    switch item {
    case .retry:
      return nil
    case .position(let id):
      cursor = id
      return nil
    case .event(let name, let data, let id):
      if let id { cursor = id }
      // An event that is not stored has no cursor. After it, the feed stays where it was.
      return FeedEvent(event: name, data: data, id: cursor)
    }
  }
}

extension FeedItem {
  /// True if the feed reconnects after this kick. Nil if the item is no kick.
  fileprivate var returnsAfterKick: Bool? {
    guard case .event("kicked", let data, let id) = self,
      case .kicked(let reason, let retry, _) = FeedEvent(event: "kicked", data: data, id: id)
    else { return nil }
    // The broker says not to return, since the token is void. The next connection asks for a token again.
    return retry || ["tokenExpired", "tokenRevoked"].contains(reason)
  }
}
