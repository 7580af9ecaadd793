import BelfryLoop

/// Which request goes next: hosts take turns, and each has a bounded number under way and waiting. So a host that is
/// slow, and has as many under way as it may, costs the others nothing but its share of those that wait.
struct OutboundTurns {
  private let limits: OutboundLimits
  private var lines = FairLines<String, OutboundTransfer>()
  private var waitingCount = 0
  private var underWayCount = 0
  private var hosts: [String: Host] = [:]

  private struct Host {
    var waiting = 0
    var underWay = 0
  }

  init(_ limits: OutboundLimits) { self.limits = limits }

  /// - Returns: false when as many wait as may.
  mutating func append(_ transfer: OutboundTransfer) -> Bool {
    let host = transfer.request.url.authority
    guard waitingCount < limits.waitingMax, hosts[host, default: Host()].waiting < limits.waitingPerHostMax
    else { return false }
    lines.append(transfer, to: host)
    count(host, waiting: 1)
    return true
  }

  /// The one whose turn it is, which is under way then; nil while there is none, or no room.
  mutating func next() -> OutboundTransfer? {
    while underWayCount < limits.requestsMax {
      let next = lines.popFirst { (hosts[$0]?.underWay ?? 0) >= limits.requestsPerHostMax }
      guard let next else { return nil }
      // One that ended while it waited was counted out then.
      if next.element.isOver { continue }
      next.element.isUnderWay = true
      count(next.key, waiting: -1, underWay: 1)
      return next.element
    }
    return nil
  }

  /// To be called once for each that was appended, after it has finished.
  mutating func end(_ transfer: OutboundTransfer) {
    let host = transfer.request.url.authority
    guard transfer.isUnderWay else { return count(host, waiting: -1) }
    count(host, underWay: -1)
    lines.resume(host)
  }

  /// All that wait, for their end.
  mutating func removeWaiting() -> [OutboundTransfer] {
    // The line of a host that is full rests, and would be passed over.
    for host in hosts.keys { lines.resume(host) }
    var removed: [OutboundTransfer] = []
    while let next = lines.popFirst(unless: { _ in false }) {
      if !next.element.isOver { removed.append(next.element) }
    }
    return removed
  }

  private mutating func count(_ name: String, waiting: Int = 0, underWay: Int = 0) {
    waitingCount += waiting
    underWayCount += underWay
    var host = hosts[name] ?? Host()
    host.waiting += waiting
    host.underWay += underWay
    hosts[name] = host.waiting + host.underWay > 0 ? host : nil
  }
}
