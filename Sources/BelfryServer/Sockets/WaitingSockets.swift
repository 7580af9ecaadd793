/// The sockets of one loop whose clients have not sent a token yet.
final class WaitingSockets {
  /// The most sockets that may wait at once. They take places that streams need.
  private let countMax: Int
  private var sessions: [ObjectIdentifier: SocketSession] = [:]

  init(countMax: Int) { self.countMax = countMax }

  var hasRoom: Bool { sessions.count < countMax }

  func insert(_ session: SocketSession) { sessions[ObjectIdentifier(session)] = session }
  func remove(_ session: SocketSession) { sessions[ObjectIdentifier(session)] = nil }

  /// Ends the sockets because the broker is shutting down.
  func sendAway() {
    for session in sessions.values { session.sendAway() }
  }
}
