/// What one client may cost, and all of them together. They hold for each loop.
package struct HTTPLimits: Sendable {
  /// Connections at once, streams included. Each is a descriptor: keep loops x this below the process's limit.
  /// Further connections wait in the kernel.
  package var connectionsPerLoop = 20_000

  /// Streams at once. They last as long as their clients like, so some connections are kept for requests.
  package var streamsPerLoop = 19_000

  /// Of a request's first line and headers together; what is longer is answered 414 or 431. Enough for twice a token of
  /// 2 KiB and a browser's headers, and no more: thousands that connect at once may each send as much.
  package var headMaxBytes = 8 * 1024

  /// How much of a refused body is read and thrown away before the connection is cut. A client that is cut while it
  /// sends mostly sees a broken pipe instead of the answer.
  package var drainBytes = 4 * 1024 * 1024

  /// From the connection, or the request's first byte, to the last byte of its body; then 408. What arrives adds to it,
  /// by ``bytesPerSecondMin``. Ends clients that hold a connection by sending a byte now and then.
  package var requestTime: Duration = .seconds(10)

  /// Between two requests on one connection. Proxies reuse theirs for about a minute.
  package var keepAliveTime: Duration = .seconds(75)

  /// For the client to take a whole answer. What it takes adds to it, by ``bytesPerSecondMin``.
  package var responseTime: Duration = .seconds(60)

  /// For a stream's client to take anything at all, once its socket is full. Long, since such a client costs only a
  /// chunk here and its socket's buffer in the kernel. One that is cut loses nothing: it resumes from its cursor.
  package var streamStallTime: Duration = .seconds(300)

  /// From a connection to the end of its handshake.
  package var handshakeTime: Duration = .seconds(10)

  /// Handshakes that wait for their clients, having cost a signature and 20 to 45 KiB each. One more ends that which has
  /// waited longest: whoever stalls them keeps nobody else out.
  package var handshakesWaiting = 2_048

  /// For the client of a WebSocket to close it, too, before the connection is cut.
  package var socketCloseTime: Duration = .seconds(2)

  /// How often deadlines are checked, so how late they may be. A check costs some nanoseconds for each connection; a
  /// timer for each request would cost a microsecond.
  package var sweepInterval: Duration = .seconds(1)

  package init() {}

  /// The slowest client that is waited for, while a body or an answer makes progress.
  static let bytesPerSecondMin = 16 * 1024

  static func time(forBytes count: Int) -> Duration { .milliseconds(count * 1_000 / bytesPerSecondMin) }

  /// Fields of a request. Each is looked at for about ten names.
  package static let fieldsMax = 100

  /// Read from a connection at a time, into a buffer that all of a loop share; of a body, and of what may be several
  /// requests, since what comes after the first of them is held until its turn.
  static let readBytes = 64 * 1024
  static let readAheadBytes = 16 * 1024

  /// A target of no more than this is kept, taken apart, for the next request of the connection.
  static let keptTargetBytes = 128

  /// The line that says how long a chunk is, with what may stand behind the length.
  static let chunkLineBytes = 256

  /// What may follow the last chunk of a body.
  static let trailerBytes = 4 * 1024

  /// Requests of one connection that are begun before others have their turn.
  static let requestsPerTurn = 16

  /// What a stream's source fills at a time, in a buffer that all streams of a loop share. A client that
  /// does not read costs at most one such chunk.
  static let streamChunkBytes = 16 * 1024

  /// What the kernel holds of a connection beyond what is on its way. It would hold megabytes, and to copy these for hundreds
  /// of clients that read slowly takes all of a loop's time. A client that reads has as much of it at once as before.
  static let kernelUnsentBytes: Int32 = 128 * 1024

  /// Chunks one stream sends before the others have their turn.
  static let streamChunksPerTurn = 4

  /// Streams that send before the loop looks at everything else again: at some 4 us for a message to each,
  /// requests wait for about a millisecond while thousands are served.
  static let streamsPerTurn = 256

  /// A refused body of no more than this, which is on its way already, is read before it is answered.
  static let awaitedBytes = 64 * 1024

  /// After a server accepts no more, for the first request of a connection that was accepted just before.
  static let firstRequestTime: Duration = .milliseconds(500)

  /// Connections accepted before others have their turn.
  static let acceptsPerTurn = 64

  /// Connections that are found in one look at all of them, to make room for others.
  static let shedAtOnce = 64

  /// How long the first request of a new connection may be on its way, before the connection makes room for others.
  static let newTime: Duration = .seconds(1)

  /// What handshakes may take of a turn of the loop: one step at least, and no other after this. A step with a signature
  /// takes some 0.5 ms with a key on P-256, and 0.3 more with one of RSA of 2,048 bits, so deliveries wait little longer.
  static let handshakeTurn: Duration = .milliseconds(2)

  /// How often a lack of room, or failed handshakes, are reported.
  static let pauseNoteInterval: Duration = .seconds(60)

  /// Connections the kernel holds for us before we accept them. It cuts this to its own limit.
  static let backlog: Int32 = 4_096
}
