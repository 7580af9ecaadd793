import BelfryLoop

/// Chooses the connections that make room for new ones when the limit is reached.
enum ShedOrder {
  /// Why a connection can be closed. The connections that are closed first come first.
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

  /// The first connections that make room, in order, and all for the same reason. Until they have made room,
  /// connections may come that are needed less than those of the next reason. It looks at each connection at
  /// most twice.
  ///
  /// A new connection makes no room for the next one, because the request of a client that has just connected
  /// is on its way. Otherwise nobody would be served on a full server with distant clients. It does make room
  /// once many are silent: then somebody opens connections for nothing.
  /// - Parameters:
  ///   - count: the most connections to return.
  ///   - newUntil: silent connections with a deadline after this are new.
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
