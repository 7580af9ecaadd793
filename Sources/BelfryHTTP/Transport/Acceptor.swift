import BelfryLoop
import BelfrySystem
import CLinux
import Glibc

/// Accepts connections while the limits leave room. If there is no room, the connection that is needed least
/// is closed, see ``ShedOrder``. If each connection has a request, clients wait in the kernel until a
/// connection or a stream ends.
final class Acceptor {
  private unowned let server: HTTPServer
  private let descriptor: Int32
  private var watch: Watch?
  /// Set when there was no room. Nothing is accepted until ``resume()``.
  private var isPaused = false
  /// When a lack of room may be reported again.
  private var quietUntil: ContinuousClock.Instant?

  /// - Parameter descriptor: listens, and belongs to the server.
  init(_ descriptor: Int32, for server: HTTPServer) throws(SystemError) {
    self.server = server
    self.descriptor = descriptor
    watch = try server.loop.watch(descriptor, for: .readable) { [unowned self] _ in accept() }
  }

  /// Stops watching, so that the descriptor may be closed.
  func stop() {
    watch?.cancel()
    watch = nil
  }

  /// Accepts again. Called when a connection or a stream has ended, and with each sweep: a connection that
  /// had a request may be idle now, and can make room.
  func resume() {
    guard isPaused else { return }
    isPaused = false
    listen(for: .readable)
  }

  /// Accepts those that wait in the kernel, for whom there is room. When the descriptor is closed the kernel resets the
  /// others, even if they have sent a request.
  func acceptWaiting() {
    for _ in 0..<HTTPLimits.backlog {
      guard !server.isFull, acceptNext(makesRoom: false) else { return }
    }
  }

  private func accept() {
    for turn in 0..<HTTPLimits.acceptsPerTurn {
      if server.isFull {
        // Only the first client is known to wait. Room that nobody needs would have cost somebody's
        // connection.
        if turn > 0 { return }
        guard server.shedOne() else { return pause("the limit of connections is reached") }
      }
      guard acceptNext(makesRoom: turn == 0) else { return }
    }
  }

  /// - Parameter makesRoom: false if perhaps no client waits. The kernel says that descriptors have run out even then.
  /// - Returns: false if no client waits, or there is no room.
  private func acceptNext(makesRoom: Bool) -> Bool {
    var address = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    // SAFETY: the kernel writes no more than the length it is given.
    let (descriptor, client) = unsafe withUnsafeMutableBytes(of: &address) {
      let address = unsafe $0.assumingMemoryBound(to: sockaddr.self).baseAddress
      let descriptor = unsafe linux_accept(self.descriptor, address, &length)
      return unsafe (descriptor, ClientAddress(descriptor < 0 ? nil : address))
    }
    guard descriptor >= 0 else {
      let number = errno
      // Otherwise nobody waits any more, or a client has gone before it was accepted.
      guard [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(number) else { return false }
      guard makesRoom else { return false }
      if server.shedOne() { return true }
      pause(unsafe String(cString: strerror(number)))
      return false
    }
    server.take(descriptor, from: client)
    return true
  }

  private func pause(_ cause: String) {
    isPaused = true
    listen(for: [])
    let now = server.loop.now
    guard quietUntil.map({ $0 <= now }) ?? true else { return }
    quietUntil = now + HTTPLimits.pauseNoteInterval
    server.handler.pausedAccepting(
      HTTPPause(cause: cause, connections: server.openConnections, streams: server.openStreams))
  }

  private func listen(for readiness: Readiness) {
    // A change of a descriptor that is watched already does not fail.
    try? watch?.update(readiness)
  }
}

/// Why no connection is accepted at present, and how much is open.
package struct HTTPPause: Sendable, Hashable {
  package let cause: String
  /// Streams included.
  package let connections: Int
  package let streams: Int
}
