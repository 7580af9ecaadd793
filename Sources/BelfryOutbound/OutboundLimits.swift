/// The limits of the requests that one loop sends to others at a time.
package struct OutboundLimits: Sendable, Hashable {
  /// Requests under way, of all hosts together.
  package var requestsMax = 256
  /// Requests under way to one host, each on its own connection. An account has at most half of it, and less
  /// if others also send requests.
  package var requestsPerHostMax = 64
  /// Requests that wait for one of these, of all hosts together.
  package var waitingMax = 4_096
  /// Requests that wait for one host, so that a few slow ones leave room for others; shared by accounts likewise.
  package var waitingPerHostMax = 512
  /// Hosts whose names are looked up at once: each takes a thread until the name server has answered. The
  /// accounts that cause the look-ups share this number.
  package var lookupsMax = 16
  /// Hosts whose names wait to be looked up.
  package var lookupsWaitingMax = 256
  /// The time for which the addresses of a host are used.
  package var addressesKept: Duration = .seconds(30)
  /// Connections kept open for the next request.
  package var connectionsKept = 64
  /// The most bytes of an answer's status line and headers.
  package var headMaxBytes = 16 * 1_024

  package init() {}
}
