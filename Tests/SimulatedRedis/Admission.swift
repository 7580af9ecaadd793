/// The reasons for which Redis refuses a command before it looks at the data, in Redis's order (`processCommand`).
extension SimulatedRedis {
  func admit(_ arguments: [Bytes], _ client: SimulatedClient) throws(CommandError) -> CommandSpec {
    guard let spec = CommandTable.spec(of: arguments) else { throw .unknown(arguments) }
    guard spec.accepts(arguments.count) else { throw .arity(spec.name.lowercased()) }
    if options.password != nil, !client.isAuthenticated, !spec.traits.contains(.withoutLogin) {
      throw CommandError("NOAUTH Authentication required.")
    }
    let traits = traits(of: spec, arguments, client)
    if let refusal = redirection(of: spec, arguments, client) { throw refusal }
    let isQueued = client.queue != nil && !spec.traits.contains(.notQueued)
    if isOutOfMemory, traits.contains(.needsMemory) || isQueued { throw .memory }
    if let diskFailure, !isReplica, traits.contains(.writes) || spec.name == "PING" {
      throw diskFailure.refusal
    }
    if isReplica, traits.contains(.writes) { throw .readOnly }
    if !client.channels.isEmpty, !spec.traits.contains(.whileSubscribed) {
      throw CommandError(
        "ERR Can't execute '\(spec.name.lowercased())': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / "
          + "PING / QUIT / RESET are allowed in this context")
    }
    if master?.isUp == false, !traits.contains(.whileStale) {
      throw .masterDown
    }
    if isLoading, !traits.contains(.whileLoading) {
      throw CommandError("LOADING Redis is loading the dataset in memory")
    }
    return spec
  }

  /// A function may do as much as its flags say, and EXEC as much as the commands of its transaction.
  private func traits(
    of spec: CommandSpec, _ arguments: [Bytes], _ client: SimulatedClient
  ) -> CommandSpec.Traits {
    switch spec.name {
    case "FCALL", "FCALL_RO":
      return functions.flags(of: arguments[1]).map { $0.traits(spec.traits) } ?? spec.traits
    case "EVAL": return ScriptFlags(script: arguments[1]).map { $0.traits(spec.traits) } ?? spec.traits
    case "EVALSHA": return scripts.flags(of: arguments[1]).map { $0.traits(spec.traits) } ?? spec.traits
    case "FUNCTION":
      if arguments[1].isWord("LOAD") { return spec.traits.union(.grows) }
      return arguments[1].isWord("LIST") ? spec.traits : spec.traits.union(.writes)
    case "EXEC":
      let queue = client.queue ?? []
      // EXEC itself needs no memory: each command was refused, or had it, when it was queued.
      return queue.reduce(spec.traits) { sum, command in
        guard let queued = CommandTable.spec(of: command) else { return sum }
        return sum.union(traits(of: queued, command, client).intersection(.writes))
      }
    default: return spec.traits
    }
  }
}

extension DiskFailure {
  var refusal: CommandError {
    switch self {
    case .snapshot:
      CommandError(
        "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk. "
          + "Commands that may modify the data set are disabled, because this instance is configured to "
          + "report errors during writes if RDB snapshotting fails (stop-writes-on-bgsave-error option). "
          + "Please check the Redis logs for details about the RDB error.")
    case .appendOnlyFile(let cause): CommandError("MISCONF Errors writing to the AOF file: \(cause)")
    }
  }
}

extension CommandError {
  /// With the beginning of the arguments, as Redis tells them.
  static func unknown(_ arguments: [Bytes]) -> CommandError {
    var text = Bytes("ERR unknown command '".utf8) + (arguments.first ?? []).prefix(128)
    text += Bytes("', with args beginning with: ".utf8)
    var told = 0
    for argument in arguments.dropFirst() where told < 128 {
      let part = Bytes("'".utf8) + argument.prefix(128 - told) + Bytes("' ".utf8)
      told += part.count
      text += part
    }
    return CommandError(text)
  }
}
