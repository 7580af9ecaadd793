import BelfryHTTP
import Glibc

/// The number of descriptors that the process may have, and the number of connections that follows from it.
struct DescriptorLimit: Hashable, Sendable {
  /// The descriptors that the process needs outside its loops: the standard streams, an embedded Redis,
  /// files, resolving a host.
  static let ownDescriptors = 16
  /// The descriptors that a loop needs apart from its connections: to wait, to be woken, to listen, three for
  /// Redis, two outbound clients with up to three each, and one because a connection has two while it becomes
  /// a stream.
  static let descriptorsPerLoop = 14
  /// One descriptor in this many is for the loop's own connections: to the nodes of a cluster and to
  /// receivers of outbound requests.
  static let shareOfOutward = 16
  /// With fewer, none would be left for requests when there are streams.
  static let connectionsAtLeast = 4

  let descriptors: Int

  /// Raises the process's limit as far as the process itself may. Most systems begin with 1,024.
  static func raised() -> DescriptorLimit {
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    var limit = rlimit()
    guard unsafe getrlimit(resource, &limit) == 0 else { return DescriptorLimit(descriptors: 1_024) }
    var highest = limit
    highest.rlim_cur = limit.rlim_max
    if unsafe setrlimit(resource, &highest) == 0 { limit = highest }
    return DescriptorLimit(descriptors: Int(clamping: limit.rlim_cur))
  }

  /// The limits of each loop. Beyond them clients wait. Otherwise the system would refuse descriptors, also
  /// for connections to Redis.
  func limits(loops: Int) -> HTTPLimits {
    var limits = HTTPLimits()
    let ofLoop = (descriptors - Self.ownDescriptors) / loops
    let share = ofLoop - Self.descriptorsPerLoop - ofLoop / Self.shareOfOutward
    limits.connectionsPerLoop = min(limits.connectionsPerLoop, max(share, Self.connectionsAtLeast))
    // A twentieth is for requests, but at least a few.
    let forRequests = max(limits.connectionsPerLoop / 20, min(8, limits.connectionsPerLoop / 2))
    limits.streamsPerLoop = limits.connectionsPerLoop - forRequests
    return limits
  }
}
