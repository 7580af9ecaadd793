/// What is sent on a new connection before other commands, in rounds: the commands of a round are sent together, and
/// its replies decide on the next.
///
/// A value with a closure and no `async` function, because connections are made in events of the loop, outside of tasks.
package struct RedisSetUp {
  package let commands: [RedisCommand]
  /// Receives as many replies as there are commands, and must not use the connection. Returns the next round, or nil
  /// when the connection is ready. If it throws, the connection is given up, and made again after a pause.
  package let next: ([RedisReply]) throws(RedisError) -> RedisSetUp?

  package init(
    _ commands: [RedisCommand],
    next: @escaping ([RedisReply]) throws(RedisError) -> RedisSetUp? = refuseErrors
  ) {
    self.commands = commands
    self.next = next
  }

  /// The last round: ready if no reply is an error.
  package static func refuseErrors(_ replies: [RedisReply]) throws(RedisError) -> RedisSetUp? {
    for case .error(let message) in replies {
      throw RedisError.replied(message, to: "connection set-up")
    }
    return nil
  }
}

extension RedisSetUp {
  /// The first round on every connection: user, database, and whether Redis answers. A Redis that is loading its data,
  /// or has too many clients, accepts connections and refuses here.
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
      _ = try refuseErrors(replies)
      return following
    }
  }
}
