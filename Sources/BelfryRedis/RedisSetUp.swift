/// What a new connection is asked before anybody else's commands go out on it, in rounds: the commands of
/// one are sent at once, and its replies decide whether there is another.
///
/// It is a value with a closure rather than an `async` function because a connection is made by an event of
/// the loop, where no task is running.
package struct RedisSetUp {
  package let commands: [RedisCommand]
  /// Receives as many replies as there are commands, and must not touch the connection. Returns the next round, or nil when the connection is
  /// ready; throws when it is unusable: it is then given up and made again after a pause.
  package let next: ([RedisReply]) throws(RedisError) -> RedisSetUp?

  package init(
    _ commands: [RedisCommand],
    next: @escaping ([RedisReply]) throws(RedisError) -> RedisSetUp? = refuseErrors
  ) {
    self.commands = commands
    self.next = next
  }

  /// Ready if no reply is an error.
  package static func refuseErrors(_ replies: [RedisReply]) throws(RedisError) -> RedisSetUp? {
    for case .error(let message) in replies {
      throw RedisError.replied(message, to: "connection set-up")
    }
    return nil
  }
}

extension RedisSetUp {
  /// The first round on every connection: who we are, which database, and whether Redis answers at all. A
  /// Redis that is loading its data, or has too many clients, accepts connections and refuses here.
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
