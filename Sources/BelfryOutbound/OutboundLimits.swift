/// How much one loop asks of others at a time.
package struct OutboundLimits: Sendable, Hashable {
  /// Requests under way, of all hosts together.
  package var requestsMax = 256
  /// Requests under way to one host, each on a connection of its own. An account has half of it at most, and less where
  /// others ask, too.
  package var requestsPerHostMax = 64
  /// Requests that wait for one of these, of all hosts together.
  package var waitingMax = 4_096
  /// Requests that wait for one host, so that a few slow ones leave room for others; shared by accounts likewise.
  package var waitingPerHostMax = 512
  /// Hosts whose names are looked up at once: each takes a thread until the name server has answered. Shared by the
  /// accounts because of which they are looked up.
  package var lookupsMax = 16
  /// Hosts whose names wait to be looked up.
  package var lookupsWaitingMax = 256
  /// How long the addresses of a host are believed.
  package var addressesKept: Duration = .seconds(30)
  /// Connections kept open for the next request.
  package var connectionsKept = 64
  /// Of an answer's status line and headers.
  package var headMaxBytes = 16 * 1_024

  package init() {}
}
