/// Decides if a socket's client is still there: a pure rule, evaluated at each beat. A client is silent if it
/// was asked and has sent nothing by the next beat. If a lot of data was sent before the question, the
/// question may not have reached the client yet.
struct SocketLiveness {
  enum Verdict: Equatable {
    /// The client is to be asked if it is there.
    case ask
    case wait
    case silent
  }

  /// The facts that are known at a beat.
  struct Seen {
    /// True if any data came from the client since the last beat.
    var isHeard = false
    /// True if the client does not read, which has its own limit, or if the broker does not read from the
    /// client.
    var isPaused = false
    /// True if the client's machine has not yet acknowledged everything that was sent.
    var isOnItsWay = false
    /// True if a message has begun to arrive and is not complete yet.
    var isWithinMessage = false
  }

  /// The most beats in which a message may arrive.
  static let messageBeatsMax = 2
  /// The most beats for which a question may be on its way: five minutes, as long as the client of a stream
  /// may read nothing.
  static let delayBeatsMax = 20

  private var isAsked = false
  /// The number of beats that found the question on its way.
  private var delayBeats = 0
  private var messageBeats = 0

  /// A whole message has come.
  mutating func hearMessage() { messageBeats = 0 }

  mutating func beat(_ seen: Seen) -> Verdict {
    if seen.isPaused {
      (isAsked, delayBeats) = (false, 0)
      return .wait
    }
    if isAsked, !seen.isHeard { return beatOfQuiet(isOnItsWay: seen.isOnItsWay) }
    messageBeats = seen.isWithinMessage ? messageBeats + 1 : 0
    if messageBeats > Self.messageBeatsMax { return .silent }
    (isAsked, delayBeats) = (true, 0)
    return .ask
  }

  private mutating func beatOfQuiet(isOnItsWay: Bool) -> Verdict {
    if isOnItsWay {
      delayBeats += 1
      return delayBeats > Self.delayBeatsMax ? .silent : .wait
    }
    // The question has only just arrived.
    defer { delayBeats = 0 }
    return delayBeats > 0 ? .wait : .silent
  }
}
