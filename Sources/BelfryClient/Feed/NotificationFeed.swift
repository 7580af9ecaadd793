extension BelfryClient {
  /// Everything unread, then each event as it happens.
  ///
  /// The feed reconnects by itself and continues where it was, so within one iteration each stored notification comes
  /// once. It ends without an error when its task is cancelled, and after a
  /// ``FeedEvent/kicked(reason:retry:byDevice:)`` that says not to return.
  ///
  /// It ends with a ``BelfryError`` when reconnecting cannot help:
  /// - ``BelfryError/Code/unauthorized``, ``BelfryError/Code/tokenRevoked``: the token was refused. Get another one.
  /// - ``BelfryError/Code/forbidden``: the token may not follow this feed.
  /// - ``BelfryError/Code/invalidField``: the cursor is not one of Belfry's. Begin without a cursor.
  /// - ``BelfryError/Code/tooMany``: the account has too many streams and waiting requests open. End some.
  /// - ``BelfryError/Code/protocol``: the address is not that of a broker. Check ``baseURL``.
  ///
  /// - Parameters:
  ///   - cursor: the place to begin behind. It comes from an event of an earlier feed, or from
  ///     ``unread(limit:after:waitSeconds:)``. With nil the feed begins with everything unread.
  ///   - withCounts: true to receive ``FeedEvent/counts(_:)``, too.
  ///   - transport: how the events are carried. The events and the cursors are the same with each.
  public func notifications(
    after cursor: String? = nil, withCounts: Bool = false, over transport: FeedTransport = .serverSentEvents
  ) -> NotificationFeed {
    NotificationFeed(client: self, cursor: cursor, withCounts: withCounts, transport: transport)
  }
}

/// How a feed's events are carried.
///
/// ```swift
/// for try await event in client.notifications(over: .socket) { print(event) }
/// ```
public enum FeedTransport: Sendable, Hashable {
  /// Server-Sent Events: one HTTP response that does not end.
  case serverSentEvents
  /// A WebSocket. Use it in networks that hold back responses that do not end.
  case socket
}

/// The events of one account's feed, as ``BelfryClient/notifications(after:withCounts:over:)`` returns it.
///
/// ```swift
/// let feed = client.notifications(after: savedCursor)
/// for try await event in feed {
///   if case .notification(let notification, _) = event { show(notification) }
/// }
/// ```
///
/// Each iteration is a feed of its own with its own connection. The connection is made when the first event is asked for,
/// and closed when the iterator is released.
public struct NotificationFeed: AsyncSequence, Sendable {
  /// A feed is a sequence of events.
  public typealias Element = FeedEvent
  /// A feed throws no other errors.
  public typealias Failure = BelfryError

  let client: BelfryClient
  let cursor: String?
  let withCounts: Bool
  let transport: FeedTransport

  /// Begins a feed of its own, behind the cursor that this sequence was made with.
  public func makeAsyncIterator() -> Iterator {
    Iterator(
      client: client, withCounts: withCounts, transport: transport,
      machine: FeedStateMachine(cursor: cursor, over: transport, backoff: client.timing.backoff))
  }

  /// One iteration of a feed. A `for await` loop makes it; use it directly to take single events.
  ///
  /// ```swift
  /// var iterator = client.notifications().makeAsyncIterator()
  /// let first = try await iterator.next()
  /// ```
  public struct Iterator: AsyncIteratorProtocol {
    private let client: BelfryClient
    private let withCounts: Bool
    private let transport: FeedTransport
    private var machine: FeedStateMachine
    private var exchange: HTTPExchange?

    fileprivate init(
      client: BelfryClient, withCounts: Bool, transport: FeedTransport, machine: FeedStateMachine
    ) {
      self.client = client
      self.withCounts = withCounts
      self.transport = transport
      self.machine = machine
    }

    /// Waits for the next event. Nil when the feed has ended.
    ///
    /// - Throws: the error that ended the feed, once. After that it returns nil.
    public mutating func next() async throws(BelfryError) -> FeedEvent? {
      try await next(isolation: nil)
    }

    /// Waits for the next event, on the actor of the caller. Nil when the feed has ended.
    ///
    /// - Throws: the error that ended the feed, once. After that it returns nil.
    public mutating func next(
      isolation: isolated (any _Concurrency.Actor)?
    ) async throws(BelfryError) -> FeedEvent? {
      while !Task.isCancelled {
        switch machine.next() {
        case .handOut(let event):
          return event
        case .connect(let cursor):
          exchange = nil
          await connect(after: cursor)
        case .read:
          await read()
        case .pause(let duration):
          exchange = nil
          try? await Task.sleep(for: duration)
          machine.paused()
        case .end(let error):
          exchange = nil
          if let error { throw error }
          return nil
        }
      }
      exchange = nil
      return nil
    }

    private mutating func connect(after cursor: String?) async {
      do {
        exchange =
          switch transport {
          case .serverSentEvents: try await client.openStream(after: cursor, withCounts: withCounts)
          case .socket: try await client.openSocket(after: cursor, withCounts: withCounts)
          }
        machine.connected()
      } catch {
        machine.ended(.failed(error), random: .random(in: 0..<1))
      }
    }

    private mutating func read() async {
      let random = Double.random(in: 0..<1)
      switch await exchange?.next() {
      case .body(let bytes):
        machine.received(bytes, random: random)
        let replies = machine.takeReplies()
        if !replies.isEmpty { exchange?.send(replies) }
      case .end(let failure): machine.ended(.failed(client.error(failure)), random: random)
      case .head: break
      case nil: machine.ended(.failed(client.error(nil)), random: random)
      }
    }
  }
}
