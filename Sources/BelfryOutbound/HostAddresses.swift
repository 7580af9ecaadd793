import BelfryLoop

/// The addresses of hosts by name, as they were looked up a moment ago. Each name is looked up once at a time, on a
/// thread of its own, so that a dead name server holds up no loop, and its threads do not add up.
final class HostAddresses {
  typealias Completion = (HostResolver.Answer) -> Void

  private struct Known {
    let addresses: [String]
    let until: ContinuousClock.Instant
  }

  private struct Lookup {
    let resolver: HostResolver
    var waiting: [Completion]
  }

  private let loop: EventLoop
  private let limits: OutboundLimits
  private var known: [String: Known] = [:]
  private var lookups: [String: Lookup] = [:]
  /// Beyond it, what is known is forgotten: it is looked up again.
  private static let knownMax = 1_024

  init(loop: EventLoop, limits: OutboundLimits) {
    self.loop = loop
    self.limits = limits
  }

  /// Calls back on the loop, at once where the addresses are known.
  func find(_ host: String, _ completion: @escaping Completion) {
    if let known = known[host], known.until > loop.now { return completion(.success(known.addresses)) }
    if lookups[host] != nil {
      lookups[host]?.waiting.append(completion)
      return
    }
    guard lookups.count < limits.lookupsMax else {
      return completion(
        .failure(HostLookupFailure(host: host, cause: "too many other names are being looked up")))
    }
    let resolver = HostResolver(host: host, loop: loop)
    lookups[host] = Lookup(resolver: resolver, waiting: [completion])
    resolver.resolve { [weak self] answer in self?.take(answer, of: host) }
  }

  private func take(_ answer: HostResolver.Answer, of host: String) {
    if case .success(let addresses) = answer, !addresses.isEmpty {
      if known.count >= Self.knownMax { known.removeAll() }
      known[host] = Known(addresses: addresses, until: loop.now + limits.addressesKept)
    }
    for completion in lookups.removeValue(forKey: host)?.waiting ?? [] { completion(answer) }
  }
}
