extension BelfryClient {
  /// Everything unread, then what happens as it happens.
  ///
  /// Reconnects by itself and goes on where it was: within one iteration each notification comes once.
  /// Ends when its task is cancelled, after a ``FeedEvent/kicked(reason:retry:byDevice:)`` that says not to return, and
  /// with an error when asking again cannot help: the token is refused (401), not allowed (403), the cursor is
  /// not one (400).
  ///
  /// - Parameters:
  ///   - cursor: begins behind it rather than with everything unread. It comes from a
  ///     ``FeedEvent/notification(_:cursor:)`` of an earlier feed, or from ``unread(limit:after:waitSeconds:)``.
  ///   - withCounts: whether ``FeedEvent/counts(_:)`` tells how much is unread, too.
  ///   - transport: what carries the events. The feed is the same, and so is the cursor.
  public func notifications(
    after cursor: String? = nil, withCounts: Bool = false, over transport: FeedTransport = .serverSentEvents
  ) -> NotificationFeed {
    NotificationFeed(client: self, cursor: cursor, withCounts: withCounts, transport: transport)
  }
}

/// What carries a feed's events.
public enum FeedTransport: Sendable, Hashable {
  /// A response that goes on, in plain HTTP.
  case serverSentEvents
  /// A WebSocket, for networks that hold such responses back.
  case socket
}

/// The events of one account's feed; see ``BelfryClient/notifications(after:)``. Each iteration is a feed of
/// its own with a connection of its own, made when its first element is asked for and closed when the
/// iterator is let go.
public struct NotificationFeed: AsyncSequence, Sendable {
  public typealias Element = FeedEvent
  public typealias Failure = BelfryError

  let client: BelfryClient
  let cursor: String?
  let withCounts: Bool
  let transport: FeedTransport

  public func makeAsyncIterator() -> Iterator {
    Iterator(
      client: client, withCounts: withCounts, transport: transport,
      machine: FeedStateMachine(cursor: cursor, over: transport, backoff: client.timing.backoff))
  }

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

    public mutating func next() async throws(BelfryError) -> FeedEvent? {
      try await next(isolation: nil)
    }

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
