/// Whether a socket's client is still there: a pure rule, asked at each beat. A client that was asked and has said nothing by
/// the next beat is silent, unless the question lies behind so much else that it has perhaps not come to the client yet.
struct SocketLiveness {
  enum Verdict: Equatable {
    /// The client is to be asked whether it is there.
    case ask
    case wait
    case silent
  }

  /// What is known at a beat.
  struct Seen {
    /// Anything came from the client since the last beat.
    var isHeard = false
    /// The client takes nothing, which has a limit of its own, or the broker does not read from it.
    var isPaused = false
    /// The client's machine has yet to say that it has what was sent.
    var isOnItsWay = false
    /// A message has begun to arrive and is not there yet.
    var isWithinMessage = false
  }

  /// Beats that a message may take to arrive.
  static let messageBeatsMax = 2
  /// Beats for which a question may be on its way: as long as a stream's client may take nothing, five minutes.
  static let delayBeatsMax = 20

  private var isAsked = false
  /// How many beats found the question on its way.
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
    // It has only just arrived.
    defer { delayBeats = 0 }
    return delayBeats > 0 ? .wait : .silent
  }
}
