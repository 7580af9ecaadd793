/// Sharded publishing and subscribing.
enum ChannelCommands {
  static let specs: [CommandSpec] = [
    CommandSpec(
      "SSUBSCRIBE", -2, [.notInScripts, .always, .ofChannels, .whileSubscribed], .all, subscribe),
    CommandSpec(
      "SUNSUBSCRIBE", -1, [.notInScripts, .always, .ofChannels, .whileSubscribed], .all, unsubscribe),
    CommandSpec("SPUBLISH", 3, [.always, .ofChannels], .first, publish),
    CommandSpec("PUBSUB", -2, .always, .none, tellListeners),
  ]

  static func subscribe(_ call: CommandCall) -> SimulatedReply {
    let replies = call.arguments(from: 1).map { channel in
      if !call.client.channels.contains(channel) {
        call.client.channels.append(channel)
        call.redis.listeners[channel, default: []].append(call.client.id)
      }
      return message("ssubscribe", channel, call.client.channels.count)
    }
    return finish(call, replies)
  }

  static func unsubscribe(_ call: CommandCall) -> SimulatedReply {
    let named = Array(call.arguments(from: 1))
    let channels = named.isEmpty ? call.client.channels : named
    if channels.isEmpty { return .array([.text("sunsubscribe"), .null, .integer(0)]) }
    let replies = channels.map { channel in
      call.client.channels.removeAll { $0 == channel }
      call.redis.stopListening(call.client.id, to: channel)
      return message("sunsubscribe", channel, call.client.channels.count)
    }
    return finish(call, replies)
  }

  /// The message that a channel has moved away.
  static func ended(_ channel: Bytes, left: Int) -> SimulatedReply { message("sunsubscribe", channel, left) }

  private static func message(_ kind: String, _ channel: Bytes, _ count: Int) -> SimulatedReply {
    .array([.text(kind), .bulk(channel), .integer(count)])
  }

  private static func finish(_ call: CommandCall, _ replies: [SimulatedReply]) -> SimulatedReply {
    call.earlierReplies = replies.dropLast()
    return replies.last ?? .null
  }

  static func publish(_ call: CommandCall) -> SimulatedReply {
    let message = ChannelMessage(channel: call.key, text: call.arguments[2])
    let pushes = call.redis.passMessage(message)
    call.redis.pushes += pushes
    if call.redis.cluster != nil {
      call.redis.busMessages.append(message)
    } else {
      // Replicas get it with the writes, and no file.
      call.noteChange(as: call.arguments, isLogged: false)
    }
    return .integer(pushes.count)
  }

  static func tellListeners(_ call: CommandCall) throws(CommandError) -> SimulatedReply {
    guard call.arguments[1].isWord("SHARDNUMSUB") else { throw .syntax }
    return .array(
      call.arguments(from: 2).flatMap { channel in
        [.bulk(channel), .integer(call.redis.listeners[channel]?.count ?? 0)]
      })
  }
}

extension SimulatedRedis {
  /// Gives the message to those who listen here.
  package func passMessage(_ message: ChannelMessage) -> [Push] {
    let push = SimulatedReply.array([.text("smessage"), .bulk(message.channel), .bulk(message.text)])
    return (listeners[message.channel] ?? []).map { Push(client: $0, message: push) }
  }
}
