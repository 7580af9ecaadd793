/// What arrives on a feed's connection, whichever way it is carried.
enum FeedItem: Sendable, Hashable {
  /// `id` is the cursor behind it: the last one seen, in this event or before it.
  case event(name: String, data: String, id: String?)
  /// A cursor with no data: the place in the feed moves on, and there is nothing to say.
  case position(id: String)
  /// What to wait before connecting again.
  case retry(Duration)
}

/// What no broker says. Asked again, it would say the same again.
enum FeedFlaw: Error, Hashable {
  /// One event is longer than ``ClientLimits/eventBytes``.
  case tooLong(limitBytes: Int)
  /// A frame that a server must not send (RFC 6455 section 5).
  case badFrame(String)

  var cause: String {
    switch self {
    case .tooLong(let limitBytes): "an event of the stream is longer than \(limitBytes) bytes"
    case .badFrame(let cause): "the socket has a frame that no server may send: \(cause)"
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

  /// Appends what the bytes complete; what was complete before the offending event is kept.
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

  /// What the broker is to be answered, once.
  mutating func takeReplies() -> [UInt8] {
    guard case .frames(var parser) = self else { return [] }
    defer { self = .frames(parser) }
    return parser.takeReplies()
  }
}
