/// The commands that a new connection sends before all others. A set-up has rounds: the commands of one round
/// are sent together, and their replies decide on the next round.
///
/// A set-up is a value with a closure and no `async` function, because the loop connects in its events,
/// outside of tasks.
package struct RedisSetUp {
  package let commands: [RedisCommand]
  /// Takes as many replies as there are commands, and returns the next round, or nil when the connection is ready. The
  /// closure must not use the connection. If the closure throws, the link pauses and connects again.
  package let next: ([RedisReply]) throws(RedisError) -> RedisSetUp?

  package init(
    _ commands: [RedisCommand],
    next: @escaping ([RedisReply]) throws(RedisError) -> RedisSetUp? = refuseErrors
  ) {
    self.commands = commands
    self.next = next
  }

  /// Ends the set-up: the connection is ready if no reply is an error.
  package static func refuseErrors(_ replies: [RedisReply]) throws(RedisError) -> RedisSetUp? {
    for case .error(let message) in replies {
      throw RedisError.replied(message, to: "connection set-up")
    }
    return nil
  }
}

extension RedisSetUp {
  /// The first round on every connection. It names the user and the database, and asks if Redis answers: a
  /// Redis that is loading its data or has too many clients accepts connections and refuses here. A Redis
  /// that cannot save to its disk refuses PING, too, but serves all reads.
  static func greeting(_ endpoint: RedisEndpoint, then following: RedisSetUp?) -> RedisSetUp {
    var commands: [RedisCommand] = []
    if let password = endpoint.password {
      var authenticate = RedisCommand("AUTH")
      if let username = endpoint.username { authenticate.append(username) }
      authenticate.append(password)
      commands.append(authenticate)
    }
    if endpoint.database != 0 { commands.append(RedisCommand("SELECT", endpoint.database)) }
    commands.append(RedisCommand("PING"))
    return RedisSetUp(commands) { replies throws(RedisError) in
      _ = try refuseErrors(replies.filter { !$0.isRefusalForDisk })
      return following
    }
  }
}
