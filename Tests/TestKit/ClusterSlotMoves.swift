extension RedisClusterServers {
  /// The master that serves the slot.
  /// - Throws: if the node that had it does not answer, and no replica has taken over.
  package func owner(ofSlot slot: Int) throws(FixtureError) -> RedisServer {
    var owner: (node: RedisServer, epoch: Int)?
    for node in nodes where node.answers {
      // A master that comes back claims its slots until it has heard of the later epoch.
      let own = try node.nodesTable.own
      guard own.isMaster, own.slots.contains(where: { $0.contains(slot) }) else { continue }
      if own.epoch >= owner?.epoch ?? 0 { owner = (node, own.epoch) }
    }
    guard let owner else { throw FixtureError("nobody serves slot \(slot)") }
    return owner.node
  }

  /// Begins to move a slot: from now on its keys may be at either node.
  package func beginMoving(
    slot: Int, from source: RedisServer, to target: RedisServer
  ) throws(FixtureError) {
    try target.command("CLUSTER", "SETSLOT", "\(slot)", "IMPORTING", try source.clusterID)
    try source.command("CLUSTER", "SETSLOT", "\(slot)", "MIGRATING", try target.clusterID)
  }

  /// Moves so many keys of the slot, or of them those that are wanted, in one step.
  /// - Returns: how many were moved.
  @discardableResult
  package func moveKeys(
    ofSlot slot: Int, from source: RedisServer, to target: RedisServer, atMost count: Int = 100_000,
    where isWanted: (String) -> Bool = { _ in true }
  ) throws(FixtureError) -> Int {
    let keys = try source.command("CLUSTER", "GETKEYSINSLOT", "\(slot)", "\(count)")
      .split(separator: "\n").map(String.init).filter(isWanted)
    if keys.isEmpty { return 0 }
    let credentials = options.password.map { ["AUTH", $0] } ?? []
    try source.command(
      ["MIGRATE", "127.0.0.1", "\(target.port ?? 0)", "", "0", "10000", "REPLACE"] + credentials
        + ["KEYS"] + keys)
    return keys.count
  }

  /// Says at all masters that the slot is the target's, which comes first: were it last, and did it fail before, the slot
  /// would be nobody's.
  package func finishMoving(slot: Int, to target: RedisServer) throws(FixtureError) {
    let id = try target.clusterID
    try target.command("CLUSTER", "SETSLOT", "\(slot)", "NODE", id)
    for node in nodes where node !== target && node.answers {
      // A replica refuses: it hears of it from the others.
      _ = try? node.command("CLUSTER", "SETSLOT", "\(slot)", "NODE", id)
    }
  }

  /// Leaves the slot at the node where its keys were. No key may have been moved.
  package func giveUpMoving(slot: Int, from source: RedisServer, to target: RedisServer) throws(FixtureError)
  {
    for node in [source, target] { try node.command("CLUSTER", "SETSLOT", "\(slot)", "STABLE") }
  }

  /// Moves a slot with all its keys.
  package func move(slot: Int, to target: RedisServer) throws(FixtureError) {
    let source = try owner(ofSlot: slot)
    if source === target { return }
    try beginMoving(slot: slot, from: source, to: target)
    while try moveKeys(ofSlot: slot, from: source, to: target) > 0 {}
    try finishMoving(slot: slot, to: target)
  }
}
