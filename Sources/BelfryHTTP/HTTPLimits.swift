/// The limits of one client, and of all together. They hold for each loop.
package struct HTTPLimits: Sendable {
  /// Connections at once, streams included. Each is a descriptor: keep loops x this below the process's limit.
  /// Further connections wait in the kernel.
  package var connectionsPerLoop = 20_000

  /// Streams at once. They last as long as their clients like, so some connections are kept for requests.
  package var streamsPerLoop = 19_000

  /// The most bytes of a request's first line and headers together; a longer one is answered with 414 or 431.
  /// This is enough for twice a token of 2 KiB and a browser's headers, and no more: thousands that connect
  /// at once may each send this much.
  package var headMaxBytes = 8 * 1024

  /// The bytes of a refused body that are read and thrown away before the connection is cut. A client that is
  /// cut while it sends usually sees a broken pipe in place of the answer.
  package var drainBytes = 4 * 1024 * 1024

  /// The time from the connection, or from the request's first byte, to the last byte of its body; then 408.
  /// Arriving bytes extend it, by ``bytesPerSecondMin``. This ends clients that hold a connection by sending
  /// a byte now and then.
  package var requestTime: Duration = .seconds(10)

  /// The time between two requests on one connection. Proxies reuse theirs for about a minute.
  package var keepAliveTime: Duration = .seconds(75)

  /// The time for the client to take a whole answer. Bytes that it takes extend the time, by
  /// ``bytesPerSecondMin``.
  package var responseTime: Duration = .seconds(60)

  /// The time for a stream's client to take anything at all, once its socket is full. It is long, because
  /// such a client costs only a chunk here and its socket's buffer in the kernel. A client that is cut loses
  /// nothing: it resumes from its cursor.
  package var streamStallTime: Duration = .seconds(300)

  /// The time from a connection to the end of its handshake.
  package var handshakeTime: Duration = .seconds(10)

  /// The most handshakes that wait for their clients, after a signature and 20 to 45 KiB each. One more ends
  /// the one that has waited longest. So a client that stalls handshakes keeps nobody else out.
  package var handshakesWaiting = 2_048

  /// The time for the client of a WebSocket to close it too, before the connection is cut.
  package var socketCloseTime: Duration = .seconds(2)

  /// The interval at which deadlines are checked, and so the longest delay of a deadline. A check costs some
  /// nanoseconds for each connection; a timer for each request would cost a microsecond.
  package var sweepInterval: Duration = .seconds(1)

  package init() {}

  /// The slowest client that is waited for, while a body or an answer makes progress.
  static let bytesPerSecondMin = 16 * 1024

  static func time(forBytes count: Int) -> Duration { .milliseconds(count * 1_000 / bytesPerSecondMin) }

  /// Fields of a request. Each is looked at for about ten names.
  package static let fieldsMax = 100

  /// The most bytes that are read from a connection at a time, into a buffer that all connections of a loop
  /// share. The first number is for a body. The second is for input that may be several requests: bytes after
  /// the first request are held until its turn.
  static let readBytes = 64 * 1024
  static let readAheadBytes = 16 * 1024

  /// A target up to this length is kept in parsed form for the next request of the connection.
  static let keptTargetBytes = 128

  /// The longest line with the length of a chunk and its extensions.
  static let chunkLineBytes = 256

  /// The most bytes that may follow the last chunk of a body.
  static let trailerBytes = 4 * 1024

  /// Requests of one connection that are begun before others have their turn.
  static let requestsPerTurn = 16

  /// The most bytes that a stream's source fills at a time, in a buffer that all streams of a loop share. A
  /// client that does not read costs at most one such chunk.
  static let streamChunkBytes = 16 * 1024

  /// The most bytes that the kernel holds of a connection in addition to those on their way. Otherwise it
  /// would hold megabytes, and copying these for hundreds of slow clients takes all of a loop's time. A
  /// client that reads receives as much at once as before.
  static let kernelUnsentBytes: Int32 = 128 * 1024

  /// Chunks one stream sends before the others have their turn.
  static let streamChunksPerTurn = 4

  /// Streams that send before the loop looks at everything else again: at some 4 us for a message to each,
  /// requests wait for about a millisecond while thousands are served.
  static let streamsPerTurn = 256

  /// A refused body up to this length, which is already on its way, is read before it is answered.
  static let awaitedBytes = 64 * 1024

  /// The time after a server stops accepting, for the first request of a connection that was accepted just
  /// before.
  static let firstRequestTime: Duration = .milliseconds(500)

  /// Connections accepted before others have their turn.
  static let acceptsPerTurn = 64

  /// Connections that are found in one look at all of them, to make room for others.
  static let shedAtOnce = 64

  /// The time for which the first request of a new connection may be on its way, before the connection makes
  /// room for others.
  static let newTime: Duration = .seconds(1)

  /// The time of a turn of the loop that handshakes may take: at least one step, and no further step after
  /// this time. A step with a signature takes some 0.5 ms with a key on P-256, and 0.3 ms more with an RSA
  /// key of 2,048 bits. So deliveries are hardly delayed.
  static let handshakeTurn: Duration = .milliseconds(2)

  /// The interval at which a lack of room, or failed handshakes, are reported.
  static let pauseNoteInterval: Duration = .seconds(60)

  /// Connections the kernel holds for us before we accept them. It cuts this to its own limit.
  static let backlog: Int32 = 4_096
}
