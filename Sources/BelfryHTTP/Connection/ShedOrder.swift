import BelfryLoop

/// Which connections make room for new ones where the limit is reached.
enum ShedOrder {
  /// Why a connection can be spared, those that are spared first above.
  enum Reason: Int, Comparable {
    /// It has its last answer, and has yet to close.
    case answered
    /// It was opened and has sent nothing. An honest client sends its request at once.
    case silent
    /// It waits for its next request. A client has to expect that it is closed at any time.
    case idle

    static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }
  }

  /// Within a reason, the one whose time ends first has been so for longest.
  struct Place: Comparable {
    let reason: Reason
    let until: ContinuousClock.Instant

    init(_ reason: Reason, _ until: ContinuousClock.Instant) {
      self.reason = reason
      self.until = until
    }

    static func < (one: Self, other: Self) -> Bool {
      one.reason == other.reason ? one.until < other.until : one.reason < other.reason
    }
  }

  struct Candidate {
    let connection: HTTPConnection
    let place: Place
  }

  /// The first of those that make room, in order, and all for the same reason. By the time that they have made room, others
  /// may have come that are needed less than the next reason's. Looks at each connection twice at most.
  ///
  /// The request of a client that has just connected is on its way, so a new connection makes no room for the next one.
  /// Otherwise nobody would be served on a full server where clients are far away. It does once many are silent: then
  /// somebody opens connections for nothing.
  /// - Parameters:
  ///   - count: so many at most.
  ///   - newUntil: the deadlines of silent connections that are new lie after it.
  static func first(
    _ count: Int, of connections: [HTTPConnection], newUntil: ContinuousClock.Instant
  ) -> Queue<Candidate> {
    let areManySilent = connections.count { $0.shedPlace?.reason == .silent } * 4 > connections.count
    var found: [Candidate] = []
    for connection in connections {
      guard let place = connection.shedPlace else { continue }
      if place.reason == .silent, place.until > newUntil, !areManySilent { continue }
      if found.count == count {
        guard let last = found.last, place < last.place else { continue }
        found.removeLast()
      }
      let index = found.firstIndex { place < $0.place } ?? found.endIndex
      found.insert(Candidate(connection: connection, place: place), at: index)
    }
    var queue = Queue<Candidate>()
    for candidate in found where candidate.place.reason == found.first?.place.reason {
      queue.append(candidate)
    }
    return queue
  }
}
