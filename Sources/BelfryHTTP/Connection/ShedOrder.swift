import BelfryLoop

/// Which connections make room for new ones where the limit is reached.
enum ShedOrder {
  /// Why a connection can be spared, those that are spared first above.
  enum Reason: Int, Comparable {
    /// It has its last answer, and has yet to close.
    case answered
    /// It was opened and has sent nothing. Honest clients send their request at once.
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

  /// So many at most, in order, and all for the same reason: by the time that they have made room, others may have come that
  /// are needed less than those that come after them here. Looks at each connection once.
  static func first(_ count: Int, of connections: [HTTPConnection]) -> Queue<Candidate> {
    var found: [Candidate] = []
    for connection in connections {
      guard let place = connection.shedPlace else { continue }
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
