import BelfryBytes

/// An error reply of a cluster's node that says that the command has to be sent again, elsewhere or later.
/// The node has not carried out any of it.
enum Redirection: Hashable {
  /// Another node serves the slot from now on.
  case moved(slot: Int, to: RedisEndpoint.Address)
  /// The slot is on its way to another node. That node has these keys already, and answers if ASKING tells it
  /// so.
  case ask(slot: Int, to: RedisEndpoint.Address)
  /// The command can be tried later. Some of the keys are at one node and some at the other, or nobody serves
  /// the slot, or the node is not what it was taken for.
  case later

  /// The slot that has moved, if the text says so.
  static func slotMoved(_ message: String) -> Int? {
    guard case .moved(let slot, _) = Redirection(message, from: .tcp(host: "", port: 0)) else { return nil }
    return slot
  }

  static func isOne(_ message: String) -> Bool { Redirection(message, from: .tcp(host: "", port: 0)) != nil }

  /// Nil if the text is no redirection.
  /// - Parameter asked: the node that answered.
  init?(_ message: String, from asked: RedisEndpoint.Address) {
    let words = message.split(separator: " ", maxSplits: 3)
    switch words.first {
    case "MOVED", "ASK":
      guard words.count >= 3, let slot = Int(words[1]), (0..<ClusterSlot.count).contains(slot),
        let colon = words[2].lastIndex(of: ":"), let port = UInt16(words[2][words[2].index(after: colon)...]),
        let address = RedisEndpoint.Address(host: String(words[2][..<colon]), port: port, from: asked)
      else {
        self = .later
        return
      }
      self = words[0] == "MOVED" ? .moved(slot: slot, to: address) : .ask(slot: slot, to: address)
    // EXECABORT is not here: the refused command of the transaction has a reply of its own, which says why.
    case "TRYAGAIN", "CLUSTERDOWN", "LOADING", "READONLY", "MASTERDOWN": self = .later
    default: return nil
    }
  }
}

/// The reason why a subscription ended although its owner did not end it.
enum SlotMove {
  static let cause = "its slot has moved"
}

/// Limits how often, and after which pauses, a command is sent again that a node has not carried out.
struct RedirectionBudget {
  /// Without a limit two nodes that each name the other would be asked for ever.
  static let redirectionsMax = 16
  static let pauseMin: Duration = .milliseconds(25)
  static let pauseMax: Duration = .milliseconds(200)

  private var redirections = 0
  private var pauses = 0

  /// - Returns: the pause after which the command is sent again; nil if it is given up.
  mutating func next(_ redirection: Redirection) -> Duration? {
    redirections += 1
    guard redirections <= Self.redirectionsMax else { return nil }
    if redirection != .later, redirections <= Self.redirectionsMax / 2 { return .zero }
    pauses += 1
    return min(Self.pauseMin * (1 << min(pauses - 1, 4)), Self.pauseMax)
  }
}
