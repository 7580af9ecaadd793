import BelfryBytes
import BelfryLoop

/// The sharded channels of a keyspace. Each is subscribed at the node that serves its slot, with one
/// subscriber for each node. If a slot moves, its channels are subscribed at the other node, and listeners of
/// other slots do not notice.
///
/// A subscriber belongs to a ``RedisCluster`` of the same loop, whose map it follows.
package final class ShardSubscriber {
  typealias Address = RedisEndpoint.Address

  /// The slots that an event is about.
  package enum Slots: Hashable {
    case all
    case some(Set<Int>)
  }

  private struct Node {
    let subscriber: RedisSubscriber
    var isConnected = false
    /// The process that it listens to, by Redis's `run_id`.
    var process = ""
    /// Messages that wait for replicas. Empty if the promise is without replicas.
    var held = HeldMessages()
  }

  /// A slot with wanted channels.
  private struct Home {
    var address: Address
    /// The channels that are not subscribed at that node yet, but were at another.
    var missing: Set<String> = []
    /// The number of tries to subscribe the channels there. The end of an earlier try means nothing.
    var tries = 0
    var isHeard = true
  }

  private let cluster: RedisCluster
  private let loop: EventLoop
  private let limits: RedisLimits
  private var nodes: [Address: Node] = [:]
  private var homes: [Int: Home] = [:]
  /// The callers that are subscribing to each channel.
  private var attempts: [String: [Attempt]] = [:]
  private var isStarted = false
  /// True if the nodes have said that they are a cluster.
  private var isOfCluster = false

  /// Called with each message, and with the process that listeners of its channel are to hear: the nodes of a cluster also
  /// pass on to one another what they publish.
  package var onMessage: ((_ channel: String, _ payload: ArraySlice<UInt8>, _ process: String) -> Void)?
  /// False: messages of these slots may be missing from now on. True: all their channels are subscribed
  /// again, and messages that were published in between have to be read elsewhere.
  package var onHearing: ((Bool, Slots) -> Void)?
  /// Called when a connection to a node was made and all subscriptions are back, and each time that one is lost or is not made.
  package var onConnection: ((_ place: String, RedisError?) -> Void)?

  /// The pause before channels of a slot are subscribed again, when no node was found that serves it.
  static let retryPause: Duration = .milliseconds(50)

  package init(of cluster: RedisCluster) {
    self.cluster = cluster
    loop = cluster.loop
    limits = cluster.limits
    addNode(cluster.endpoint.address)
  }

  package func start() {
    guard !isStarted else { return }
    isStarted = true
    cluster.onMapChange = { [weak self] in self?.follow() }
    for node in nodes.values { node.subscriber.start() }
  }

  /// Closes all connections for good. No callback is called afterwards.
  package func close() {
    isStarted = false
    cluster.onMapChange = nil
    onMessage = nil
    onHearing = nil
    onConnection = nil
    for node in nodes.values { node.subscriber.close() }
    nodes = [:]
  }

  /// Leaves all nodes and connects again.
  package func reconnect(because error: RedisError) {
    for node in nodes.values { node.subscriber.reconnect(because: error) }
  }

  package var isConnected: Bool { nodes.values.contains { $0.isConnected } }

  private func addNode(_ address: Address) {
    let endpoint = cluster.endpoint(at: address)
    // A replica, too, accepts subscriptions. Once its master has left it, nobody would notice that no
    // messages arrive any more.
    let subscriber = RedisSubscriber(
      loop: loop, endpoint: endpoint, by: cluster.lookup, limits: limits,
      setUp: RedisSetUp(NodeRole.commands) { [weak self, weak cluster] replies throws(RedisError) in
        let role = try NodeRole(replies, at: endpoint)
        if role.kind == .single, cluster?.isCluster == true {
          throw RedisError(
            .unsuitable, cause: "it is no longer a node of a cluster", place: endpoint.description)
        }
        if role.isReplica {
          throw RedisError(.unavailable, cause: "it is a replica in its cluster", place: endpoint.description)
        }
        self?.nodes[address]?.process = role.process
        self?.nodes[address]?.held.dropAll()
        return nil
      })
    subscriber.onMessage = { [weak self] channel, payload in self?.hear(channel, payload, at: address) }
    subscriber.onStateChange = { [weak self] state in self?.nodeChanged(address, state == .connected) }
    subscriber.onFailure = { [weak self] error in self?.onConnection?(endpoint.description, error) }
    subscriber.onMovedAway = { [weak self] channel in self?.movedAway(channel, from: address) }
    nodes[address] = Node(subscriber: subscriber)
    if isStarted { subscriber.start() }
  }
}

// MARK: - Messages

extension ShardSubscriber {
  private func hear(_ channel: String, _ payload: ArraySlice<UInt8>, at address: Address) {
    guard cluster.promise.replicas > 0 else {
      onMessage?(channel, payload, nodes[address]?.process ?? "")
      return
    }
    let message = HeldMessages.Message(channel: channel, payload: Array(payload))
    if let action = nodes[address]?.held.holdMessage(message) { carryOut(action, at: address) }
  }

  private func carryOut(_ action: HeldMessages.Action, at address: Address) {
    switch action {
    case .none: break
    case .giveUp:
      nodes[address]?.held.dropAll()
      nodes[address]?.subscriber.reconnect(
        because: RedisError(
          .overloaded, cause: "too many live messages are waiting for replicas",
          place: cluster.endpoint(at: address).description))
    case .ask:
      guard let node = nodes[address] else { return }
      cluster.wait(for: node.process, at: address) { [weak self] problem in
        guard let self else { return }
        guard problem != nil else { return answered(true, node.subscriber, address) }
        _ = loop.schedule(after: Self.retryPause) { [weak self] in
          self?.answered(false, node.subscriber, address)
        }
      }
    }
  }

  /// - Parameter subscriber: the subscriber of the messages. Another one may be at the address now.
  private func answered(_ isReplicated: Bool, _ subscriber: RedisSubscriber, _ address: Address) {
    guard let node = nodes[address], node.subscriber === subscriber else { return }
    guard let (delivered, action) = nodes[address]?.held.applyAnswer(isReplicated: isReplicated) else {
      return
    }
    for message in delivered { onMessage?(message.channel, message.payload[...], node.process) }
    carryOut(action, at: address)
  }
}

// MARK: - Channels

extension ShardSubscriber {
  /// Returns when the node that serves the channel's slot has confirmed the subscription. Messages that are published from
  /// then on arrive. If the function throws, the channel is not subscribed, unless an earlier call for the same channel has
  /// succeeded.
  package func subscribe(_ channel: String) async throws(RedisError) {
    let attempt = Attempt()
    attempts[channel, default: []].append(attempt)
    defer { forget(attempt, at: channel) }
    let slot = ClusterSlot.of(key: channel)
    let deadline = ContinuousClock.now + limits.commandTimeout
    while true {
      let address = try home(of: slot)
      guard let node = nodes[address] else { throw cluster.unserved(slot) }
      let failure = await tryOnce(channel, with: node.subscriber)
      try attempt.check(channel)
      if let failure {
        guard isRefused(failure, as: slot, at: address), .now < deadline else { throw failure }
        try? await loop.sleep(for: Self.retryPause)
        try attempt.check(channel)
      } else {
        // The only node may have said meanwhile that it is part of a cluster, or the slot may have moved.
        if !cluster.isCluster || homes[slot]?.address == address { return }
        unsubscribe(channel, at: address)
      }
    }
  }

  private func tryOnce(_ channel: String, with subscriber: RedisSubscriber) async -> RedisError? {
    do throws(RedisError) {
      try await subscriber.subscribe(channel)
      return nil
    } catch {
      return error
    }
  }

  private func forget(_ attempt: Attempt, at channel: String) {
    attempts[channel]?.removeAll { $0 === attempt }
    if attempts[channel]?.isEmpty == true { attempts[channel] = nil }
  }

  /// True if the subscription failed because the slot is elsewhere.
  private func isRefused(_ error: RedisError, as slot: Int, at address: Address) -> Bool {
    if error.code == .replied, let redirection = Redirection(error.cause, from: address) {
      cluster.note(redirection)
      return true
    }
    if error.cause == SlotMove.cause { return true }
    return cluster.isCluster && homes[slot]?.address != address
  }

  /// One caller's subscription, over all of its tries. The channel may be unsubscribed at any moment in which the caller
  /// waits, also between two tries, when no node knows of it. Another try would then subscribe it for nobody, and for ever.
  private final class Attempt {
    var isEnded = false

    /// - Throws: `unsubscribed` if the channel was unsubscribed since the attempt began.
    func check(_ channel: String) throws(RedisError) {
      if isEnded { throw RedisError(.unsubscribed, cause: "unsubscribed meanwhile", place: channel) }
    }
  }

  /// Ends the subscription. No message of the channel is delivered from now on.
  package func unsubscribe(_ channel: String) {
    for attempt in attempts[channel] ?? [] { attempt.isEnded = true }
    guard cluster.isCluster else {
      unsubscribe(channel, at: cluster.endpoint.address)
      return
    }
    let slot = ClusterSlot.of(key: channel)
    guard let home = homes[slot] else { return }
    unsubscribe(channel, at: home.address)
    if homes[slot]?.missing.remove(channel) != nil { settle(slot) }
  }

  private func unsubscribe(_ channel: String, at address: Address) {
    nodes[address]?.subscriber.unsubscribe(channel)
    nodes[address]?.held.dropMessages(of: [channel])
  }

  private func home(of slot: Int) throws(RedisError) -> Address {
    guard cluster.isCluster else { return cluster.endpoint.address }
    if let home = homes[slot] { return home.address }
    guard isStarted, cluster.isAdmitted, let owner = cluster.map.owner(of: slot) else {
      throw cluster.unserved(slot)
    }
    if nodes[owner] == nil { addNode(owner) }
    homes[slot] = Home(address: owner)
    // Until its node is connected, the connection may be lost once more without notice.
    if nodes[owner]?.isConnected != true { loseHearing(slot) }
    return owner
  }
}

// MARK: - Moving

extension ShardSubscriber {
  /// Follows the cluster's map: if another node serves a slot now, its channels are subscribed there.
  private func follow() {
    guard isStarted, cluster.isCluster else { return }
    adopt()
    let serving = cluster.isAdmitted ? cluster.map.serving : []
    for address in serving where nodes[address] == nil { addNode(address) }
    var left: [Address: Set<Int>] = [:]
    for (slot, home) in homes {
      guard let owner = cluster.map.owner(of: slot), owner != home.address else { continue }
      left[home.address, default: []].insert(slot)
    }
    for (address, slots) in left { leaveSlots(slots, at: address) }
    guard !serving.isEmpty else { return }
    for (address, node) in nodes where !serving.contains(address) {
      if homes.values.contains(where: { $0.address == address }) { continue }
      node.subscriber.close()
      nodes[address] = nil
    }
  }

  /// Other nodes serve these slots now. A failover moves thousands of channels, so it looks at those of the old node once.
  private func leaveSlots(_ slots: Set<Int>, at address: Address) {
    let channels = nodes[address]?.subscriber.release(slots) ?? [:]
    nodes[address]?.held.dropMessages(of: Set(channels.values.joined()))
    for slot in slots {
      guard let owner = cluster.map.owner(of: slot) else { continue }
      if nodes[owner] == nil { addNode(owner) }
      homes[slot]?.address = owner
      homes[slot]?.missing.formUnion(channels[slot] ?? [])
      loseHearing(slot)
      subscribeAgain(slot)
    }
  }

  /// Notes the channels that were subscribed before the node said that it is part of a cluster. Earlier
  /// events were about all slots, and later ones are about each, so no slot may be left unheard.
  private func adopt() {
    guard !isOfCluster else { return }
    isOfCluster = true
    onHearing?(true, .all)
    guard let node = nodes[cluster.endpoint.address] else { return }
    for channel in node.subscriber.channels {
      homes[ClusterSlot.of(key: channel)] = Home(address: cluster.endpoint.address)
    }
    if !node.isConnected { for slot in homes.keys { loseHearing(slot) } }
  }

  private func movedAway(_ channel: String, from address: Address) {
    guard cluster.isCluster else { return }
    let slot = ClusterSlot.of(key: channel)
    cluster.note(.later)
    guard homes[slot]?.address == address else { return }
    homes[slot]?.missing.insert(channel)
    nodes[address]?.held.dropMessages(of: [channel])
    loseHearing(slot)
    // The other channels of the slot follow in the same turn.
    tryLater(slot)
  }

  private func tryLater(_ slot: Int) {
    homes[slot]?.tries += 1
    let tries = homes[slot]?.tries
    _ = loop.schedule(after: Self.retryPause) { [weak self] in
      guard let self, homes[slot]?.tries == tries else { return }
      subscribeAgain(slot)
    }
  }

  private func subscribeAgain(_ slot: Int) {
    guard isStarted, let home = homes[slot] else { return }
    let tries = home.tries + 1
    homes[slot]?.tries = tries
    if home.missing.isEmpty { return settle(slot) }
    for channel in home.missing {
      // Another channel of this try has failed at once, and so would the others.
      guard homes[slot]?.tries == tries else { return }
      nodes[home.address]?.subscriber.subscribe(channel) { [weak self] result in
        guard let self, homes[slot]?.tries == tries else { return }
        if case .failure(let error) = result {
          cluster.note(Redirection(error.cause, from: home.address) ?? .later)
          return tryLater(slot)
        }
        homes[slot]?.missing.remove(channel)
        settle(slot)
      }
    }
  }

  /// Says that the slot is heard again, once it is.
  private func settle(_ slot: Int) {
    guard let home = homes[slot], !home.isHeard, home.missing.isEmpty,
      nodes[home.address]?.isConnected == true
    else { return }
    homes[slot]?.isHeard = true
    onHearing?(true, .some([slot]))
  }

  private func loseHearing(_ slot: Int) {
    guard homes[slot]?.isHeard == true else { return }
    homes[slot]?.isHeard = false
    onHearing?(false, .some([slot]))
  }

  private func nodeChanged(_ address: Address, _ isConnected: Bool) {
    nodes[address]?.isConnected = isConnected
    if isConnected { onConnection?(cluster.endpoint(at: address).description, nil) }
    if !isConnected { nodes[address]?.held.dropAll() }
    guard cluster.isCluster else {
      onHearing?(isConnected, .all)
      return
    }
    if !isConnected { cluster.note(.later) }
    for (slot, home) in homes where home.address == address {
      if isConnected { subscribeAgain(slot) } else { loseHearing(slot) }
    }
  }
}
