/// What one client may cost, and all of them together. They hold for each daemon, one a loop.
package struct HTTPLimits: Sendable {
  /// Connections at once, streams included. Each is a descriptor: keep loops x this below the process's limit.
  /// Further connections wait in the kernel.
  package var connectionsPerDaemon = 20_000

  /// Streams at once. They last as long as their clients like, so some connections are kept for requests.
  package var streamsPerDaemon = 19_000

  /// MHD keeps a request's line and headers in this much memory, allocated once per connection, with 64 bytes
  /// to manage each field. What does not fit is answered 414 or 431. Enough for twice a token of 2 KiB and a browser's
  /// headers, and no more: thousands that connect at once each take it until their streams begin.
  package var connectionMemoryBytes = 8 * 1024

  /// How much of a refused body is read and thrown away before the connection is cut. A client that is cut while it
  /// sends mostly sees a broken pipe instead of the answer.
  package var drainBytes = 4 * 1024 * 1024

  /// From the connection, or the request's first line, to the last byte of its body; then 408. Ends clients that hold
  /// a connection by sending a byte now and then.
  package var requestTime: Duration = .seconds(10)

  /// Between two requests on one connection. Proxies reuse theirs for about a minute.
  package var keepAliveTime: Duration = .seconds(75)

  /// For the client to take a whole answer.
  package var responseTime: Duration = .seconds(60)

  /// For a stream's client to take anything at all, once its socket is full. Long, since such a client costs only a
  /// chunk here and its socket's buffer in the kernel. One that is cut loses nothing: it resumes from its cursor.
  package var streamStallTime: Duration = .seconds(300)

  package init() {}

  /// What is kept of a connection's memory for the head of the answer. Otherwise MHD would accept a request that leaves
  /// no room to answer it, and close the connection after the request was carried out.
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

  /// How often deadlines are checked, so how late they may be. A check costs some nanoseconds for each connection; a
  /// timer for each request would cost a microsecond.
  static let sweepInterval: Duration = .seconds(1)

  /// A refused body of no more than this, which is on its way already, is read before it is answered.
  static let awaitedBytes = 64 * 1024

  /// Connections accepted before others have their turn.
  static let acceptsPerTurn = 64

  /// How often a lack of room is reported.
  static let pauseNoteInterval: Duration = .seconds(60)

  /// Connections the kernel holds for us before we accept them. It cuts this to its own limit.
  static let backlog: Int32 = 4_096
}
