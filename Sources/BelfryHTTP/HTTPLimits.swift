/// What one client may cost, and all of them together. Each daemon, which is to say each loop, has its own.
package struct HTTPLimits: Sendable {
  /// Connections at once, streams included. Each is a descriptor: keep loops x this below the process's limit.
  /// Who comes when there are so many waits in the kernel.
  package var connectionsPerDaemon = 20_000

  /// Streams at once. Each waits for as long as its client likes, so they must not take every connection.
  package var streamsPerDaemon = 19_000

  /// MHD keeps a request's line and headers in this much memory, allocated once per connection, with 64 bytes
  /// to manage each field. What does not fit is answered 414 or 431. Enough for a token of 2 KiB and a
  /// browser's headers, twice; whoever takes longer fields than a browser's adds what they need. No more than that:
  /// thousands that connect at once each have it until their streams have begun.
  package var connectionMemoryBytes = 8 * 1024

  /// How much of a refused body is read, and not kept, before the connection is cut. Cut while it sends, a
  /// client sees a broken pipe more often than it sees the answer.
  package var drainBytes = 4 * 1024 * 1024

  /// From the connection, or from the request's first line, to the last byte of its body. Bounds those who
  /// hold a connection by sending a byte now and then; 408.
  package var requestTime: Duration = .seconds(10)

  /// Between two requests on one connection. Proxies reuse theirs for about a minute.
  package var keepAliveTime: Duration = .seconds(75)

  /// For the client to take a whole answer.
  package var responseTime: Duration = .seconds(60)

  /// For a stream's client to take anything at all, once its socket is full. Long enough for one that is kept
  /// busy by what it was sent; it costs a chunk here, and what its socket holds in the kernel. Cut, it loses
  /// nothing, since it resumes from its cursor.
  package var streamStallTime: Duration = .seconds(300)

  package init() {}

  /// Of a connection's memory, what the head of the answer gets. Without it MHD would let a request through that
  /// leaves no room to answer it, and close the connection after the request was carried out.
  static let responseHeadBytes = 1024

  /// What MHD allocates to manage a header field or a cookie (0.9.75: 56 bytes, aligned).
  static let fieldBytes = 64

  /// What a stream's source fills at a time, in a buffer that all streams of a daemon share. A client that
  /// does not read costs at most one such chunk.
  static let streamChunkBytes = 16 * 1024

  /// Chunks one stream sends before the others have their turn.
  static let streamChunksPerTurn = 4

  /// Streams that send before the loop looks at everything else again: at some 4 us for a message to each,
  /// requests wait for about a millisecond while thousands are served.
  static let streamsPerTurn = 256

  /// How often deadlines are looked at; they end late by up to this much. One look costs some nanoseconds a
  /// connection, where a timer for each request would cost a microsecond.
  static let sweepInterval: Duration = .seconds(1)

  /// So much of a refused body is on its way already, and waited for before it is refused.
  static let awaitedBytes = 64 * 1024

  /// Connections accepted before others have their turn.
  static let acceptsPerTurn = 64

  /// How often it is told that there is no room.
  static let pauseNoteInterval: Duration = .seconds(60)

  /// Connections the kernel holds for us before we accept them. It cuts this to its own limit.
  static let backlog: Int32 = 4_096
}
