import BelfryBytes

extension SimulatedRedis {
  /// Carries out a command of a script. The checks come in Redis's order (`scriptCall`).
  func call(_ arguments: [Bytes]) -> SimulatedReply {
    guard running != nil else { return .error(Bytes("ERR no script is running".utf8)) }
    if arguments.first?.elementsEqual("set_repl".utf8) == true { return setReach(arguments) }
    do throws(CommandError) {
      let spec = try admitInside(arguments)
      let call = CommandCall(self, SimulatedClient(id: 0), spec, arguments, isInside: true)
      let first = pendingWrites.count
      let reply = run(spec, call)
      if let running, !(running.reachesFile && running.reachesReplicas) { limitReach(running, from: first) }
      return reply
    } catch {
      return error.reply
    }
  }

  private func admitInside(_ arguments: [Bytes]) throws(CommandError) -> CommandSpec {
    if arguments.isEmpty {
      throw CommandError("ERR Please specify at least one argument for this redis lib call")
    }
    guard let spec = CommandTable.spec(of: arguments) else {
      throw CommandError("ERR Unknown Redis command called from script")
    }
    guard spec.accepts(arguments.count) else {
      throw CommandError("ERR Wrong number of args calling Redis command from script")
    }
    if spec.traits.contains(.notInScripts) {
      throw CommandError("ERR This Redis command is not allowed from script")
    }
    guard let running else { return spec }
    if spec.traits.contains(.writes) {
      if running.onlyReads {
        throw CommandError("ERR Write commands are not allowed from read-only scripts.")
      }
      if isReplica { throw .readOnly }
      if let diskFailure { throw diskFailure.refusal }
    }
    let isRefused = running.isMemoryFull && spec.traits.contains(.needsMemory)
    if isRefused, running.flags?.contains(.allowsFullMemory) != true { throw .memory }
    try checkSlots(of: Array(spec.keys(of: arguments)), spec)
    return spec
  }

  private func checkSlots(of keys: [Bytes], _ spec: CommandSpec) throws(CommandError) {
    guard let cluster, let running, let first = keys.first else { return }
    let isOfChannels = spec.traits.contains(.ofChannels)
    let refusal = cluster.redirection(of: keys, isAsking: running.isAsking, isOfChannels) {
      findKey($0) != nil
    }
    let otherSlots = CommandError("ERR Script attempted to access keys that do not hash to the same slot")
    if let refusal {
      if refusal.text.starts(with: "CROSSSLOT".utf8) { throw otherSlots }
      if refusal.text.starts(with: "CLUSTERDOWN The".utf8) {
        throw CommandError("ERR Script attempted to execute a command while the cluster is down")
      }
      throw CommandError("ERR Script attempted to access a non local key in a cluster node")
    }
    guard let flags = running.flags, !flags.contains(.allowsOtherSlots) else { return }
    let slot = ClusterSlot.of(key: first[...])
    if let known = running.slot, known != slot { throw otherSlots }
    self.running?.slot = slot
  }

  private func setReach(_ arguments: [Bytes]) -> SimulatedReply {
    guard arguments.count == 2, let reach = arguments[1].integer, (0...3).contains(reach) else {
      return .error(
        Bytes("ERR Invalid replication flags. Please use REPL_AOF, REPL_REPLICA, REPL_ALL or REPL_NONE.".utf8)
      )
    }
    running?.reachesFile = reach & 1 != 0
    running?.reachesReplicas = reach & 2 != 0
    return .null
  }

  private func limitReach(_ running: ScriptRun, from first: Int) {
    guard running.reachesReplicas else {
      // Nothing in Belfry writes to a file alone, so such writes count as written nowhere.
      pendingWrites.removeSubrange(first...)
      return
    }
    for index in pendingWrites.indices[first...] { pendingWrites[index].isLogged = false }
  }
}
