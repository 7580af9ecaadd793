import BelfryLoop

/// Decides which request goes next. Hosts take turns and share the number of requests under way. The owners
/// of a host's requests take turns and share the number under way to it. So a slow host costs other hosts
/// nothing, and an owner whose requests are slow costs nothing to other owners with the same host.
struct OutboundTurns {
  private let limits: OutboundLimits
  private var hosts: [String: Host] = [:]
  private var underWay: FairShares<String>
  private var waiting: FairShares<String>
  private var turns = Queue<String>()
  /// Each has requests under way, so there are no more of them than requests.
  private var resting: [String] = []

  private struct Host {
    enum Standing {
      /// Nothing waits for it.
      case none
      case inTurns
      /// It has its share, or the owners of its waiting requests have theirs.
      case resting
    }

    var pool: FairPool<String, OutboundTransfer>
    var standing = Standing.none
  }

  init(_ limits: OutboundLimits) {
    self.limits = limits
    underWay = FairShares(total: limits.requestsMax, perOwner: limits.requestsPerHostMax)
    waiting = FairShares(total: limits.waitingMax, perOwner: limits.waitingPerHostMax)
  }

  /// - Returns: false if as many requests wait as may: in total, for this host or for this owner.
  mutating func append(_ transfer: OutboundTransfer) -> Bool {
    let name = transfer.request.url.authority
    guard waiting.shortage(for: name) == nil else { return false }
    if hosts[name] == nil { hosts[name] = makeHost() }
    guard hosts[name]?.pool.append(transfer, for: transfer.request.owner) == true else { return false }
    _ = waiting.take(for: name)
    giveTurn(to: name)
    return true
  }

  /// The request whose turn it is, which then counts as under way; nil if there is none, or no room.
  mutating func next() -> OutboundTransfer? {
    while !underWay.isExhausted, let name = turns.popFirst() {
      if underWay.shortage(for: name) != nil {
        rest(name)
        continue
      }
      // One that ended while it waited was counted out then.
      guard let next = hosts[name]?.pool.popNext(passingOver: \.isOver) else {
        if (hosts[name]?.pool.waitingCount ?? 0) > 0 { rest(name) } else { forget(name) }
        continue
      }
      waiting.giveBack(of: name)
      _ = underWay.take(for: name)
      hosts[name]?.standing = .none
      if (hosts[name]?.pool.waitingCount ?? 0) > 0 { giveTurn(to: name) }
      next.element.isUnderWay = true
      return next.element
    }
    return nil
  }

  /// To be called once for each that was appended, after it has finished.
  mutating func end(_ transfer: OutboundTransfer) {
    let name = transfer.request.url.authority
    if transfer.isUnderWay {
      hosts[name]?.pool.leave(transfer.request.owner)
      underWay.giveBack(of: name)
      // The place that is free now makes each owner's share larger.
      let rested = resting
      resting.removeAll(keepingCapacity: true)
      for name in rested {
        hosts[name]?.standing = .none
        giveTurn(to: name)
      }
    } else {
      hosts[name]?.pool.withdraw(of: transfer.request.owner)
      waiting.giveBack(of: name)
    }
    if let host = hosts[name], host.standing == .none, host.pool.isUnused { hosts[name] = nil }
  }

  /// All that wait, for their end.
  mutating func removeWaiting() -> [OutboundTransfer] {
    hosts.keys.flatMap { hosts[$0]?.pool.removeWaiting() ?? [] }.filter { !$0.isOver }
  }

  private func makeHost() -> Host {
    Host(
      pool: FairPool(
        places: FairShares(total: limits.requestsPerHostMax),
        waiting: FairShares(total: limits.waitingPerHostMax)))
  }

  /// Something waits for it. One that rests may have a new owner, whose share is free.
  private mutating func giveTurn(to name: String) {
    guard let standing = hosts[name]?.standing, standing != .inTurns else { return }
    if standing == .resting, let place = resting.firstIndex(of: name) { resting.remove(at: place) }
    hosts[name]?.standing = .inTurns
    turns.append(name)
  }

  private mutating func rest(_ name: String) {
    hosts[name]?.standing = .resting
    resting.append(name)
  }

  private mutating func forget(_ name: String) {
    hosts[name]?.standing = .none
    if hosts[name]?.pool.isUnused == true { hosts[name] = nil }
  }
}
