/// One thing that arrives on a feed's connection, the same for each transport.
enum FeedItem: Sendable, Hashable {
  /// `id` is the cursor behind the event: the last one seen, in this event or before it.
  case event(name: String, data: String, id: String?)
  /// A cursor without data: the place in the feed moves on, and nothing is handed out.
  case position(id: String)
  /// The broker asks for this pause before the next connection.
  case retry(Duration)
}

/// Something on a feed's connection that no broker sends. Connecting again would bring the same again, so the feed ends.
enum FeedFlaw: Error, Hashable {
  /// One event is longer than ``ClientLimits/eventBytes``.
  case tooLong(limitBytes: Int)
  /// A frame that a server must not send (RFC 6455 section 5).
  case badFrame(String)

  var cause: String {
    switch self {
    case .tooLong(let limitBytes): "an event of the stream is longer than \(limitBytes) bytes"
    case .badFrame(let cause): "the WebSocket received a frame that no server may send: \(cause)"
    }
  }
}

/// Reads what arrives on one connection of a feed.
enum FeedParser: Sendable {
  case events(ServerSentEventParser)
  case frames(SocketFrameParser)

  init(_ transport: FeedTransport) {
    self = transport == .socket ? .frames(SocketFrameParser()) : .events(ServerSentEventParser())
  }

  /// Appends the items that the bytes complete. Items that were complete before the wrong one are kept.
  mutating func parse(_ bytes: some Collection<UInt8>, into items: inout [FeedItem]) throws(FeedFlaw) {
    switch self {
    case .events(var parser):
      defer { self = .events(parser) }
      try parser.parse(bytes, into: &items)
    case .frames(var parser):
      defer { self = .frames(parser) }
      try parser.parse(bytes, into: &items)
    }
  }

  /// Returns the bytes with which to answer the broker, and forgets them.
  mutating func takeReplies() -> [UInt8] {
    guard case .frames(var parser) = self else { return [] }
    defer { self = .frames(parser) }
    return parser.takeReplies()
  }
}
