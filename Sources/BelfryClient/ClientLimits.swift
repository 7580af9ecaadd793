package import BelfrySystem

/// The client's own bounds: what a broker, or something that answers in its place, can make it hold or wait.
enum ClientLimits {
  /// An answer to a request. The largest honest one is a page of 500 notifications at all their limits,
  /// about 30 MB.
  static let answerBytes = 64 * 1_024 * 1_024
  /// What has arrived in one exchange and was not taken yet. Beyond this the client stops reading, and TCP
  /// makes the broker wait: a loop that is slow, or stands still, holds no more memory than this.
  static let untakenBytes = 256 * 1_024
  /// An answer's status line and headers. libcurl bounds each line, not their sum.
  static let headBytes = 64 * 1_024
  /// One line of a stream, and the data of one event. A notification at all its limits, every character
  /// of it escaped, stays under 200 KiB.
  static let eventBytes = 1_024 * 1_024
  /// Connections for requests. More at once wait in line.
  static let requestConnections = 32
  /// Streams and long polls of one client and its copies, one connection each.
  static let streamConnections = 1_024
  /// A broker that asks for more patience than this is asked again sooner: the header may be garbage.
  static let retryAfterSeconds = 300
  /// What a single request waits between its own tries; longer waits are the caller's to decide on.
  static let requestRetryAfterSeconds = 5
  /// Any credential in use fits; what does not is a mistake, such as a file's whole content.
  static let tokenBytes = 8 * 1_024
}

/// How long the client waits. Not public: nobody should need other values but the client's own tests.
package struct ClientTiming: Sendable {
  /// A request without an answer. Long polls add what they asked the broker to wait.
  package var answerSeconds: Double = 30
  /// A stream without a byte: three of the broker's heartbeats, which come every 15 s.
  package var streamSilenceSeconds: Double = 45
  package var backoff = Backoff(.milliseconds(500), atMost: .seconds(30), jitter: .full)

  package init() {}
}
