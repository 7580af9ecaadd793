extension [RedisReply] {
  /// The same replies, with the reply of each aborted transaction replaced by the error that aborted it.
  ///
  /// Redis answers EXEC with `EXECABORT` if it refused a command of the transaction, for example because its memory is
  /// full. Only the reply to that command says why.
  package var withCausesOfAborts: [RedisReply] {
    // Nearly all pipelines have none, and copy nothing.
    guard contains(where: { if case .error = $0 { true } else { false } }) else { return self }
    var replies = self
    var refused: RedisReply?
    for (index, reply) in enumerated() {
      guard case .error(let message) = reply else {
        // The reply to MULTI. An error before it belongs to another command.
        if reply == .status("OK") { refused = nil }
        continue
      }
      if message.hasPrefix("EXECABORT") {
        if let refused { replies[index] = refused }
        refused = nil
      } else if refused == nil {
        refused = reply
      }
    }
    return replies
  }
}
