/// Commands about the connection, and transactions.
enum ConnectionCommands {
  static let specs: [CommandSpec] = [
    CommandSpec("PING", -1, [.whileSubscribed], .none, ping),
    CommandSpec("AUTH", -2, [.notInScripts, .always, .withoutLogin, .notQueued], .none, logIn),
    CommandSpec("SELECT", 2, .always, .none, select),
    CommandSpec("CLIENT", -2, [.notInScripts, .always], .none, tellClient),
    CommandSpec("ASKING", 1, [], .none, noteAsking),
    CommandSpec("MULTI", 1, [.notInScripts, .always, .notQueued], .none, begin),
    CommandSpec("EXEC", 1, [.notInScripts, .always, .notQueued], .none, carryOut),
    CommandSpec("DISCARD", 1, [.notInScripts, .always, .notQueued], .none, discard),
    CommandSpec("WAIT", 3, [.notInScripts], .none, wait),
  ]

  static func ping(_ call: CommandCall) throws(CommandError) -> SimulatedReply {
    if call.arguments.count > 2 { throw .arity("ping") }
    let text = call.arguments.count == 2 ? call.arguments[1] : nil
    if !call.client.channels.isEmpty { return .array([.text("pong"), .bulk(text ?? [])]) }
    return text.map { .bulk($0) } ?? .status(Bytes("PONG".utf8))
  }

  static func logIn(_ call: CommandCall) throws(CommandError) -> SimulatedReply {
    if call.arguments.count > 3 { throw .syntax }
    guard let password = call.redis.options.password else {
      if call.arguments.count == 3, call.arguments[1].elementsEqual("default".utf8) { return .ok }
      throw CommandError(
        "ERR AUTH <password> called without any password configured for the default user. "
          + "Are you sure your configuration is correct?")
    }
    let isOfUser = call.arguments.count == 2 || call.arguments[1].elementsEqual("default".utf8)
    guard isOfUser, call.arguments[call.arguments.count - 1].elementsEqual(password.utf8) else {
      throw CommandError("WRONGPASS invalid username-password pair or user is disabled.")
    }
    call.client.isAuthenticated = true
    return .ok
  }

  static func select(_ call: CommandCall) throws(CommandError) -> SimulatedReply {
    let number = try call.integer(1)
    if call.redis.cluster != nil, number != 0 {
      throw CommandError("ERR SELECT is not allowed in cluster mode")
    }
    // One database is all that Belfry uses, and all that is simulated.
    if number != 0 { throw CommandError("ERR DB index is out of range") }
    return .ok
  }

  static func tellClient(_ call: CommandCall) throws(CommandError) -> SimulatedReply {
    if call.arguments[1].isWord("ID") { return .integer(call.client.id) }
    guard call.arguments[1].isWord("SETNAME") else { throw .syntax }
    return .ok
  }

  static func noteAsking(_ call: CommandCall) throws(CommandError) -> SimulatedReply {
    if call.redis.cluster == nil { throw CommandError("ERR This instance has cluster support disabled") }
    call.client.isAsking = true
    return .ok
  }
}

// MARK: Transactions

extension ConnectionCommands {
  static func begin(_ call: CommandCall) throws(CommandError) -> SimulatedReply {
    if call.client.queue != nil { throw CommandError("ERR MULTI calls can not be nested") }
    call.client.queue = []
    return .ok
  }

  static func discard(_ call: CommandCall) throws(CommandError) -> SimulatedReply {
    if call.client.queue == nil { throw CommandError("ERR DISCARD without MULTI") }
    call.client.endTransaction()
    return .ok
  }

  static func carryOut(_ call: CommandCall) throws(CommandError) -> SimulatedReply {
    guard let queue = call.client.queue else { throw CommandError("ERR EXEC without MULTI") }
    let isRefused = call.client.isQueueRefused
    call.client.endTransaction()
    if isRefused { throw CommandError("EXECABORT Transaction discarded because of previous errors.") }
    var replies: [SimulatedReply] = []
    for arguments in queue {
      guard let spec = CommandTable.spec(of: arguments) else { continue }
      let inner = CommandCall(call.redis, call.client, spec, arguments, isInside: true)
      let reply = call.redis.run(spec, inner)
      call.client = inner.client
      replies += inner.earlierReplies + [reply]
    }
    return .array(replies)
  }
}

// MARK: Replication

extension ConnectionCommands {
  /// Answers at once if enough replicas have confirmed the connection's last write.
  static func wait(_ call: CommandCall) throws(CommandError) -> SimulatedReply {
    if call.redis.isReplica {
      throw CommandError(
        "ERR WAIT cannot be used with replica instances. Please also note that since Redis 4.0 if a replica "
          + "is configured to be writable (which is not the default) writes to replicas are just local and "
          + "are not propagated.")
    }
    let replicas = try call.integer(1)
    let milliseconds = try call.integer(2)
    if milliseconds < 0 { throw CommandError("ERR timeout is negative") }
    let question = ReplicationQuestion(
      offset: call.client.writtenOffset, replicas: Int(clamping: replicas), milliseconds: milliseconds)
    let confirmed = call.redis.countReplicas(at: question.offset)
    if confirmed < question.replicas, !call.isInside { call.wait = question }
    return .integer(confirmed)
  }
}

extension SimulatedRedis {
  /// The replicas that have confirmed all effects up to this offset.
  package func countReplicas(at offset: Int) -> Int { confirmedOffsets.values.count { $0 >= offset } }
}
