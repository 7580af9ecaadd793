import BelfryBytes
package import BelfryLoop

/// The nodes that hold a keyspace: one Redis, or the masters of a Redis Cluster. Masters may become more,
/// move, and be replaced by their replicas. Each command goes to the node that has its key, over one
/// connection for each node.
///
/// A cluster's nodes name one another, so one URL is enough. If a node says that another has a key, the
/// command is sent there, within its own deadline, and the caller does not notice. A command whose connection
/// broke is never repeated, since it may have been carried out.
///
/// It can be created on any thread, and is used on its loop only.
package final class RedisCluster {
  typealias Address = RedisEndpoint.Address

  let loop: EventLoop
  let endpoint: RedisEndpoint
  let limits: RedisLimits
  package let promise: ReplicationPromise
  /// The slot of the key that identifies the keyspace. No node is used before the one of this slot is set up,
  /// or a broker would work on a keyspace that is not its own.
  private let firstSlot: Int
  private let setUp: (RedisNodeProcess) -> RedisSetUp?
  /// The Sentinels' answer to where the single Redis is; nil if its address is given, and in a cluster.
  let lookup: SentinelLookup?

  var topology: TopologyStateMachine
  private(set) var nodes: [Address: RedisNode] = [:]
  /// The kind of the nodes; nil until one has said it.
  private var kind: NodeRole.Kind?
  package var isCluster: Bool { kind == .clusterNode }
  /// True if the Redis has said that it is no cluster. It never becomes one.
  package var isSingle: Bool { kind == .single }
  /// True if the node with the first key has been set up.
  var isAdmitted = false
  /// The nodes whose set-up began before the node of the first key was set up.
  private var setUpEarly: Set<Address> = []
  private var isStarted = false
  /// For each slot, how often another node than its owner answered, since the slot was on its way there.
  var answeredElsewhere: [Int: Int] = [:]
  private var question: NodeQuestion<TopologyAnswer>?
  private var timer: LoopTimer?
  private var isApplying = false

  package private(set) var state = RedisConnection.State.connecting {
    didSet { if state != oldValue { onStateChange?(state) } }
  }
  package var onStateChange: ((RedisConnection.State) -> Void)?
  /// Called when a node of a cluster is connected or lost, with its address.
  package var onNodeChange: ((_ place: String, NodeChange) -> Void)?
  /// Called when nodes were found or dropped, or slots have moved.
  package var onMapChange: (() -> Void)?

  /// A node that has lost its last slot is kept for so long: commands to it may be under way, and a slot may come back.
  static let unwantedMax: Duration = .seconds(5)

  /// - Parameters:
  ///   - promise: when a write counts as done.
  ///   - firstKey: the key that identifies the keyspace.
  ///   - setUp: the commands of each new connection to a node after the node was found to be suitable.
  package init(
    loop: EventLoop, endpoint: RedisEndpoint, limits: RedisLimits = RedisLimits(),
    promise: ReplicationPromise = .none, firstKey: String,
    setUp: @escaping (RedisNodeProcess) -> RedisSetUp?
  ) {
    self.loop = loop
    self.endpoint = endpoint
    self.limits = limits
    self.promise = promise
    self.setUp = setUp
    firstSlot = ClusterSlot.of(key: firstKey)
    lookup = SentinelLookup(loop: loop, endpoint: endpoint, limits: limits)
    topology = TopologyStateMachine(seed: endpoint.address)
    nodes[endpoint.address] = makeNode(endpoint.address)
  }

  package func start() {
    guard !isStarted, state != .closed else { return }
    isStarted = true
    for node in nodes.values { node.start() }
  }

  /// Closes all connections for good. Commands in flight fail.
  package func close() {
    isStarted = false
    state = .closed
    onStateChange = nil
    onNodeChange = nil
    onMapChange = nil
    timer?.cancel()
    question?.cancel()
    question = nil
    for node in nodes.values { node.close() }
  }

  /// Leaves all nodes and connects again, with the set-up.
  package func reconnect(because error: RedisError) {
    isAdmitted = isAdmitted && !isCluster
    for node in nodes.values { node.reconnect(because: error) }
  }

  /// To be called when a node that should be a master refuses to write.
  package func lookAgain() {
    guard !isCluster else { return carryOut(topology.doubt(now: .now)) }
    reconnect(because: RedisError(.unsuitable, cause: "it has become a replica", place: "READONLY"))
  }
}

// MARK: - Nodes

extension RedisCluster {
  /// True if commands can be sent: the kind of the nodes is known, and the keyspace is the right one.
  var isSettled: Bool { kind == .single || isAdmitted }

  /// The node that serves each slot, as far as known.
  var map: SlotMap { topology.map }

  func node(of slot: Int?) -> RedisNode? {
    if kind == .single { return nodes[endpoint.address] }
    guard let slot else { return anyNode }
    return map.owner(of: slot).map { node(at: $0) }
  }

  /// - Parameter then: gets nil if the node's replicas have all data that this process had written there
  ///   before the call.
  func wait(for process: String, at address: Address, then: @escaping (RedisError?) -> Void) {
    guard let replication = nodes[address]?.replication else {
      return then(
        RedisError(.unavailable, cause: "it serves no slots", place: endpoint(at: address).description))
    }
    replication.wait(for: process, then: then)
  }

  /// The same slot as long as the node serves it: a question is asked after each write.
  private func slotOfQuestion(to address: Address) -> ReplicationWait.Slot? {
    guard isCluster else { return ReplicationWait.Slot(number: 0) }
    guard let node = nodes[address] else { return nil }
    if map.owner(of: node.slotOfQuestion) != address {
      guard let slot = map.slot(of: address, after: node.slotOfQuestion) else {
        // All answers of this node so far were about slots on their way to it.
        return node.slotOnItsWay.map { ReplicationWait.Slot(number: $0, isOnItsWay: true) }
      }
      node.slotOfQuestion = slot
    }
    return ReplicationWait.Slot(number: node.slotOfQuestion)
  }

  /// - Returns: true if the question can be asked in another slot.
  private func noteRefusedQuestion(_ message: String, by address: Address) -> Bool {
    guard let redirection = Redirection(message, from: address) else { return false }
    note(redirection)
    guard redirection != .later, let node = nodes[address] else { return false }
    node.slotOnItsWay = nil
    // A slot that leaves the node is its own until all keys have left it.
    if let next = map.slot(of: address, after: node.slotOfQuestion) { node.slotOfQuestion = next }
    return true
  }

  /// Any connected node, for questions that all can answer.
  private var anyNode: RedisNode? {
    let known = map.masters.lazy.compactMap { self.nodes[$0] }
    return known.first { $0.connection.state == .ready } ?? known.first
  }

  /// The node at an address that another node has named.
  func node(at address: Address) -> RedisNode {
    if let node = nodes[address] { return node }
    let node = makeNode(address)
    nodes[address] = node
    if isStarted { node.start() }
    return node
  }

  /// The process that serves the slot, by Redis's `run_id`; empty if it has not said so yet.
  package func process(of slot: Int) -> String { node(of: slot)?.process ?? "" }

  /// A number that changes with each answer that came from another node than the slot's owner.
  package func answersElsewhere(of slot: Int) -> Int { answeredElsewhere[slot] ?? 0 }

  /// The number of nodes that serve slots, and the number of those that this loop is connected to.
  package var nodeCounts: (serving: Int, connected: Int) {
    let serving = isCluster ? map.serving : [endpoint.address]
    return (serving.count, serving.count { nodes[$0]?.connection.state == .ready })
  }

  /// True if this loop is connected to a node that serves the slot.
  package func isServed(_ slot: Int) -> Bool { node(of: slot)?.connection.state == .ready }

  /// The address of the node that serves the slot; nil if none does.
  package func place(of slot: Int) -> String? { map.owner(of: slot).map { place(at: $0) } }

  /// The configured address, or the address of the master that Sentinels watch.
  package var place: String { place(at: endpoint.address) }

  /// The address for people. For a master that Sentinels watch, it is the present one.
  func place(at address: Address) -> String { (lookup?.master ?? endpoint(at: address)).description }

  private func makeNode(_ address: Address) -> RedisNode {
    let endpoint = endpoint(at: address)
    let connection = makeConnection(endpoint) { [weak self] role throws(RedisError) in
      try self?.accept(role, at: endpoint)
    }
    let node = RedisNode(endpoint, promise, connection) { makeReplicationWait(endpoint) }
    node.connection.onStateChange = { [weak self] state in self?.nodeChanged(address, state) }
    return node
  }

  private func makeReplicationWait(_ endpoint: RedisEndpoint) -> ReplicationWait {
    let address = endpoint.address
    let connection = makeConnection(endpoint) { [weak self] role throws(RedisError) in
      self?.nodes[address]?.replication?.process = role.process
      return nil
    }
    return ReplicationWait(on: connection, promise, at: endpoint.description) { [weak self] in
      self?.slotOfQuestion(to: address)
    } onRefusal: { [weak self] message in
      self?.noteRefusedQuestion(message, by: address) ?? false
    }
  }

  private func makeConnection(
    _ endpoint: RedisEndpoint, then setUp: @escaping (NodeRole) throws(RedisError) -> RedisSetUp?
  ) -> RedisConnection {
    RedisConnection(
      loop: loop, endpoint: endpoint, by: lookup, limits: limits,
      setUp: RedisSetUp(NodeRole.commands) { replies throws(RedisError) in
        try setUp(NodeRole(replies, at: endpoint))
      })
  }

  /// The endpoint of another node, with the same user and the same encryption as at the configured node.
  func endpoint(at address: Address) -> RedisEndpoint {
    var endpoint = endpoint
    endpoint.address = address
    return endpoint
  }

  private func accept(_ role: NodeRole, at endpoint: RedisEndpoint) throws(RedisError) -> RedisSetUp? {
    let node = nodes[endpoint.address]
    let process = RedisNodeProcess(
      place: endpoint.description, process: role.process, isOfCluster: role.kind == .clusterNode)
    switch role.kind {
    case .single:
      guard !isCluster else {
        throw RedisError(.unsuitable, cause: "it is no longer a node of a cluster", place: process.place)
      }
      kind = .single
      node?.process = role.process
      return setUp(process)
    case .clusterNode:
      // Calls that were written for a single Redis lack the protection for a slot on its way.
      guard !isSingle else {
        throw RedisError(
          .unsuitable, cause: "it has become a node of a cluster: start the broker again",
          place: process.place)
      }
      return RedisSetUp(TopologyAnswer.commands) { [weak self] replies throws(RedisError) in
        let answer = try TopologyAnswer(replies, from: endpoint.address)
        guard let self else { return nil }
        becomeCluster()
        take(answer)
        guard !role.isReplica else {
          throw RedisError(.unavailable, cause: "it is a replica in its cluster", place: process.place)
        }
        node?.process = role.process
        if !isAdmitted { setUpEarly.insert(endpoint.address) }
        return setUp(process)
      }
    }
  }

  private func becomeCluster() {
    guard !isCluster else { return }
    kind = .clusterNode
    carryOut(topology.next(now: .now))
  }

  private func nodeChanged(_ address: Address, _ change: RedisConnection.State) {
    // Both connections were lost, and each has a pause of its own before it tries again.
    if case .ready = change { nodes[address]?.replication?.connection.endPause() }
    guard isCluster else {
      state = change
      return
    }
    if let told = nodes[address]?.noteChange(change, isServing: map.serving.contains(address)) {
      onNodeChange?(place(at: address), told)
    }
    if case .ready = change, !isAdmitted, map.owner(of: firstSlot) == address {
      isAdmitted = true
      setUpAgain(but: address)
      applySoon()
    }
    if case .lost = change { carryOut(topology.doubt(now: .now)) }
    guard state != .closed else { return }
    state = stateOfAll(after: change)
  }

  /// Sets those nodes up again that were asked for the way to the first key. Their set-up could not know the
  /// record under that key yet.
  private func setUpAgain(but owner: Address) {
    for address in setUpEarly where address != owner {
      nodes[address]?.setUpAgain(
        because: RedisError(
          .unavailable, cause: "connecting again, since the node with the format record is known now",
          place: endpoint(at: address).description))
    }
    setUpEarly.removeAll()
  }

  /// Ready while any node is, since most accounts are served then. Unsuitable if the node of the first key is.
  private func stateOfAll(after change: RedisConnection.State) -> RedisConnection.State {
    if isAdmitted, nodes.values.contains(where: { $0.connection.state == .ready }) { return .ready }
    if case .lost = change { return change }
    return state
  }
}

// MARK: - The map

extension RedisCluster {
  func carryOut(_ action: TopologyStateMachine.Action) {
    guard isStarted, isCluster else { return }
    switch action {
    case .none: break
    case .wait(let pause):
      let deadline = ContinuousClock.now + pause
      if let timer, timer.deadline <= deadline, timer.deadline > .now { return }
      timer?.cancel()
      timer = loop.schedule(at: deadline) { [weak self] in
        guard let self else { return }
        timer = nil
        carryOut(topology.next(now: .now))
        applySoon()
      }
    case .ask(let address):
      var limits = limits
      // Nobody waits for this connection.
      limits.waitForConnection = .zero
      let question = NodeQuestion(loop: loop, endpoint(at: address), limits, TopologyAnswer.commands) {
        replies throws(RedisError) in try TopologyAnswer(replies, from: address)
      }
      self.question = question
      question.ask { [weak self] result in
        guard let self else { return }
        self.question = nil
        let answer = try? result.get()
        if let answer { take(answer) }
        carryOut(topology.ended(isAnswered: answer != nil, now: .now))
      }
    }
  }

  private func take(_ answer: TopologyAnswer) { if topology.take(answer) { applySoon() } }

  /// Applies the map in the loop's next turn: the caller may be a connection that is to be closed.
  func applySoon() {
    guard !isApplying else { return }
    isApplying = true
    _ = loop.schedule(after: .zero) { [weak self] in
      self?.isApplying = false
      self?.apply()
    }
  }

  /// Connects to the nodes that serve slots, and leaves those that have served none for a while.
  private func apply() {
    guard isStarted, isCluster, topology.isKnown else { return }
    let serving = map.serving
    let wanted = isAdmitted ? serving : serving.filter { $0 == map.owner(of: firstSlot) }
    for address in wanted { node(at: address).unwantedSince = nil }
    if !isAdmitted, let owner = map.owner(of: firstSlot), node(at: owner).connection.state == .ready {
      // The node was set up while the first key was elsewhere, and so without a look at that key.
      node(at: owner).setUpAgain(
        because: RedisError(
          .unavailable, cause: "connecting again, since this node has the format record now",
          place: endpoint(at: owner).description))
    }
    let now = ContinuousClock.now
    for (address, node) in nodes where !wanted.contains(address) {
      let since = node.unwantedSince ?? now
      node.unwantedSince = since
      guard since + Self.unwantedMax <= now, node.unansweredCommands == 0 else { continue }
      node.close()
      nodes[address] = nil
    }
    if state == .ready, !nodes.values.contains(where: { $0.connection.state == .ready }) {
      state = .lost(unserved(nil))
    }
    onMapChange?()
  }
}
