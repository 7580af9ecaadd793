/// The sockets of one loop that have yet to say who they are.
final class WaitingSockets {
  /// At once: whoever they are, they take places that streams need.
  private let countMax: Int
  private var sessions: [ObjectIdentifier: SocketSession] = [:]

  init(countMax: Int) { self.countMax = countMax }

  var hasRoom: Bool { sessions.count < countMax }

  func insert(_ session: SocketSession) { sessions[ObjectIdentifier(session)] = session }
  func remove(_ session: SocketSession) { sessions[ObjectIdentifier(session)] = nil }

  /// The broker is shutting down.
  func sendAway() {
    for session in sessions.values { session.sendAway() }
  }
}
