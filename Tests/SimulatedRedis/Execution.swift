extension SimulatedRedis {
  /// Carries out one command.
  /// - Parameters:
  ///   - client: the connection that it came by.
  ///   - microseconds: the time since 1970.
  package func execute(
    _ arguments: [Bytes], on client: inout SimulatedClient, at microseconds: Int64
  ) -> Outcome {
    now = microseconds
    // Before Redis 7.2, WAIT asks for everything that was written before the connection's last command, by anybody.
    defer { client.writtenOffset = log.offset }
    var outcome = Outcome(replies: [], pushes: [])
    do throws(CommandError) {
      let spec = try admit(arguments, client)
      if client.queue != nil, !spec.traits.contains(.notQueued) {
        client.queue?.append(arguments)
        outcome.replies = [.status(Bytes("QUEUED".utf8))]
      } else {
        let call = CommandCall(self, client, spec, arguments)
        let reply = run(spec, call)
        client = call.client
        outcome.wait = call.wait
        outcome.replies = call.earlierReplies + (call.wait == nil ? [reply] : [])
      }
    } catch {
      if client.queue != nil { client.isQueueRefused = true }
      // EXEC says why it cannot be carried out, and ends the transaction all the same.
      let isEnd = arguments.first?.isWord("EXEC") == true
      if isEnd, client.queue != nil { client.endTransaction() }
      outcome.replies = [isEnd ? CommandError.aborted(by: error).reply : error.reply]
    }
    if client.queue == nil, arguments.first?.isWord("ASKING") != true { client.isAsking = false }
    endEffect()
    outcome.pushes = takePushes()
    swap(&outcome.messages, &busMessages)
    return outcome
  }

  /// The connection is closed.
  package func close(_ client: SimulatedClient) {
    for channel in client.channels { stopListening(client.id, to: channel) }
  }

  func stopListening(_ client: Int, to channel: Bytes) {
    listeners[channel]?.removeAll { $0 == client }
    if listeners[channel]?.isEmpty == true { listeners[channel] = nil }
  }

  /// Carries out a command that nothing forbids, and keeps its effect.
  func run(_ spec: CommandSpec, _ call: CommandCall) -> SimulatedReply {
    do throws(CommandError) {
      let reply = try spec.body(call)
      if let writes = call.writes { pendingWrites += writes }
      return reply
    } catch {
      return error.reply
    }
  }
}

extension CommandError {
  fileprivate static func aborted(by error: CommandError) -> CommandError {
    // A cluster's node sends the whole transaction elsewhere, and says so as for a single command.
    let code = String(decoding: error.text.prefix { $0 != UInt8(ascii: " ") }, as: UTF8.self)
    return ["EXECABORT", "MOVED", "ASK", "TRYAGAIN", "CROSSSLOT", "CLUSTERDOWN"].contains(code)
      ? error : CommandError(Bytes("EXECABORT Transaction discarded because of: ".utf8) + error.text)
  }
}
