import BelfryHTTP
import Glibc

/// How many descriptors the process may have, and how many connections that makes.
struct DescriptorLimit: Hashable, Sendable {
  /// What the process needs beside its loops: the standard streams, an embedded Redis, files, resolving a host.
  static let ownDescriptors = 16
  /// What a loop needs beside its connections: to wait, to be woken, to listen, Redis three times, two clients that reach out
  /// with as many as three each, and one that a connection has twice while it becomes a stream.
  static let descriptorsPerLoop = 14
  /// One of so many is for what a loop connects to itself: the nodes of a cluster, and receivers of what reaches out.
  static let shareOfOutward = 16
  /// Fewer would not leave one for requests beside the streams.
  static let connectionsAtLeast = 4

  let descriptors: Int

  /// Raises the process's limit as far as it may do so by itself: most systems begin with 1,024.
  static func raised() -> DescriptorLimit {
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    var limit = rlimit()
    guard unsafe getrlimit(resource, &limit) == 0 else { return DescriptorLimit(descriptors: 1_024) }
    var highest = limit
    highest.rlim_cur = limit.rlim_max
    if unsafe setrlimit(resource, &highest) == 0 { limit = highest }
    return DescriptorLimit(descriptors: Int(clamping: limit.rlim_cur))
  }

  /// What each loop may have open. Beyond it clients wait, rather than that the system refuses descriptors to
  /// whoever asks next, Redis's connections included.
  func limits(loops: Int) -> HTTPLimits {
    var limits = HTTPLimits()
    let ofLoop = (descriptors - Self.ownDescriptors) / loops
    let share = ofLoop - Self.descriptorsPerLoop - ofLoop / Self.shareOfOutward
    limits.connectionsPerLoop = min(limits.connectionsPerLoop, max(share, Self.connectionsAtLeast))
    // A twentieth for requests, and at least some.
    let forRequests = max(limits.connectionsPerLoop / 20, min(8, limits.connectionsPerLoop / 2))
    limits.streamsPerLoop = limits.connectionsPerLoop - forRequests
    return limits
  }
}
