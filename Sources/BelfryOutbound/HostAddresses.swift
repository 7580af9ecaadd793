import BelfryLoop

/// The addresses of hosts by name, as they were looked up a moment ago. Each name has at most one look-up at
/// a time, on its own thread. So a dead name server holds up no loop, and its threads do not add up.
///
/// The accounts that cause look-ups share them. If an account makes up names under a name server that never
/// answers, only that account waits.
final class HostAddresses {
  enum Answer {
    case addresses([String])
    /// The name server said so, or could not be reached.
    case failed(HostLookupFailure)
    /// Too many wait for a look-up. Nothing is known of the host.
    case busy
  }
  typealias Completion = (Answer) -> Void

  private struct Known {
    let addresses: [String]
    let until: ContinuousClock.Instant
  }

  private struct Lookup {
    /// Nil while it waits for its turn.
    var resolver: HostResolver?
    /// The owners in whose queues it waits. The first of these turns begins it for all of them.
    var owners: Set<String?>
    var completions: [Completion] = []
  }

  private let loop: EventLoop
  private let limits: OutboundLimits
  private var known: [String: Known] = [:]
  private var lookups: [String: Lookup] = [:]
  private var turns: FairPool<String, String>
  /// Beyond this number, known addresses are forgotten and looked up again.
  private static let knownMax = 1_024

  init(loop: EventLoop, limits: OutboundLimits) {
    self.loop = loop
    self.limits = limits
    turns = FairPool(
      places: FairShares(total: limits.lookupsMax), waiting: FairShares(total: limits.lookupsWaitingMax))
  }

  /// Calls back on the loop, at once if the addresses are known.
  /// - Parameter owner: the account that causes the look-up, see ``OutboundRequest/owner``.
  func find(_ host: String, for owner: String?, _ completion: @escaping Completion) {
    if let known = known[host], known.until > loop.now { return completion(.addresses(known.addresses)) }
    var lookup = lookups[host] ?? Lookup(owners: [])
    if lookup.resolver == nil, !lookup.owners.contains(owner) {
      // It waits in the queue of each owner, because one owner may have many look-ups before it.
      guard turns.append(host, for: owner) else {
        // Old addresses are better than none: hosts seldom move.
        return completion(known[host].map { .addresses($0.addresses) } ?? .busy)
      }
      lookup.owners.insert(owner)
    }
    lookup.completions.append(completion)
    lookups[host] = lookup
    beginLookups()
  }

  /// True while the host is to be looked up, and its turn has not come.
  func isWaiting(for host: String) -> Bool { lookups[host].map { $0.resolver == nil } ?? false }

  private func beginLookups() {
    while let (owner, host) = turns.popNext() {
      guard let lookup = lookups[host], lookup.resolver == nil, lookup.owners.contains(owner) else {
        // The turn of another owner began it.
        turns.leave(owner)
        continue
      }
      let resolver = HostResolver(host: host, loop: loop)
      lookups[host]?.resolver = resolver
      resolver.resolve { [weak self] answer in self?.take(answer, of: host, for: owner) }
    }
  }

  private func take(_ found: HostResolver.Answer, of host: String, for owner: String?) {
    turns.leave(owner)
    let answer: Answer
    switch found {
    case .success(let addresses):
      if !addresses.isEmpty {
        if known.count >= Self.knownMax { known.removeAll() }
        known[host] = Known(addresses: addresses, until: loop.now + limits.addressesKept)
      }
      answer = .addresses(addresses)
    case .failure(let failure): answer = .failed(failure)
    }
    for completion in lookups.removeValue(forKey: host)?.completions ?? [] { completion(answer) }
    beginLookups()
  }
}
