package import BelfrySystem

/// The client's own limits: how much a broker, or another program in its place, can make the client hold or wait.
enum ClientLimits {
  /// An answer to a request. The largest one that a broker sends is a page of 500 notifications at all their limits,
  /// about 30 MB.
  static let answerBytes = 64 * 1_024 * 1_024
  /// Bytes of one exchange that have arrived and were not taken yet. Beyond this the client stops reading, and TCP
  /// makes the broker wait. So a loop that is slow or stands still holds no more memory than this.
  static let untakenBytes = 256 * 1_024
  /// An answer's status line and headers. libcurl limits each line, not their sum.
  static let headBytes = 64 * 1_024
  /// One line of a stream, and the data of one event. A notification at all its limits, with every character
  /// escaped, stays under 200 KiB.
  static let eventBytes = 1_024 * 1_024
  /// Connections for requests. More requests wait in line.
  static let requestConnections = 32
  /// Streams and long polls of one client and its copies, one connection each.
  static let streamConnections = 1_024
  /// The longest wait that the client accepts from a broker. A longer one is shortened: the header may be garbage.
  static let retryAfterSeconds = 300
  /// The longest wait between the tries of one request. If the broker asks for more, the caller decides.
  static let requestRetryAfterSeconds = 5
  /// Longer than any token in use. A longer one is a mistake, such as the content of a whole file.
  static let tokenBytes = 8 * 1_024
}

/// How long the client waits. Not public: only the client's own tests need other values.
package struct ClientTiming: Sendable {
  /// How long a request may stay without an answer. Long polls add the time for which they asked the broker to wait.
  package var answerSeconds: Double = 30
  /// How long a stream may be silent: three of the broker's heartbeats, which come every 15 s.
  package var streamSilenceSeconds: Double = 45
  package var backoff = Backoff(.milliseconds(500), atMost: .seconds(30), jitter: .full)

  package init() {}
}
