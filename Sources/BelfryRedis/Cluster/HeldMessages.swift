/// Live messages of one node, held until its replicas have what they tell.
///
/// Redis publishes what a function has written before any replica has it. If the node failed then, a device would have been shown
/// what nobody can find afterwards, and the sender, who was promised nothing, sends it again.
///
/// The state machine is pure. Its owner asks whether the replicas have all that the node had done, one question at a time.
struct HeldMessages {
  struct Message: Hashable {
    let channel: String
    let payload: [UInt8]
  }

  enum Action: Hashable {
    case none
    /// Ask, and call ``applyAnswer(isReplicated:)``.
    case ask
    /// Give the connection up: what is lost with it is read from the log later.
    case giveUp
  }

  /// A node whose replicas are away takes no writes, and those that it took before are few.
  static let bytesMax = 16 << 20

  private var messages: [Message] = []
  /// Messages at the front that came before the question that has no answer yet.
  private var asked = 0
  private var isAsking = false
  private(set) var bytes = 0

  var isEmpty: Bool { messages.isEmpty }

  mutating func holdMessage(_ message: Message) -> Action {
    bytes += message.size
    guard bytes <= Self.bytesMax else { return .giveUp }
    messages.append(message)
    return isAsking ? .none : ask()
  }

  /// - Returns: the messages that may be delivered, in their order, and whether to ask again at once.
  mutating func applyAnswer(isReplicated: Bool) -> (delivered: [Message], action: Action) {
    isAsking = false
    let delivered = isReplicated ? Array(messages.prefix(asked)) : []
    messages.removeFirst(delivered.count)
    bytes -= delivered.reduce(0) { $0 + $1.size }
    asked = 0
    return (delivered, messages.isEmpty ? .none : ask())
  }

  /// Forgets the messages of channels that are not wanted any more, or are heard at another node.
  mutating func dropMessages(of channels: Set<String>) {
    if messages.isEmpty { return }
    asked -= messages.prefix(asked).count { channels.contains($0.channel) }
    messages.removeAll { channels.contains($0.channel) }
    bytes = messages.reduce(0) { $0 + $1.size }
  }

  /// Forgets all, since the connection is lost. A question may have no answer yet: it lets nothing pass that comes later.
  mutating func dropAll() {
    messages = []
    asked = 0
    bytes = 0
  }

  private mutating func ask() -> Action {
    isAsking = true
    asked = messages.count
    return .ask
  }
}

extension HeldMessages.Message {
  /// With what an array keeps of each.
  fileprivate var size: Int { payload.count + channel.utf8.count + 64 }
}
