import BelfryLoop
import BelfrySystem
import Glibc

/// Accepts connections while the limits leave room.
///
/// MHD does not accept by itself: it does not count streams, and once it has run out of descriptors it waits until one
/// of its own connections closes, or spins if it has none.
final class Acceptor {
  private unowned let daemon: HTTPDaemon
  private let descriptor: Int32
  private var watch: Watch?
  /// Set when there was no room: nothing is accepted until a connection or a stream ends.
  private var isPaused = false
  /// When a lack of room may be reported again.
  private var quietUntil: ContinuousClock.Instant?

  /// - Parameter descriptor: listens, and belongs to the daemon.
  init(_ descriptor: Int32, for daemon: HTTPDaemon) throws(SystemError) {
    self.daemon = daemon
    self.descriptor = descriptor
    watch = try daemon.loop.watch(descriptor, for: .readable) { [unowned self] _ in accept() }
  }

  /// Stops watching, so that the descriptor may be closed.
  func stop() {
    watch?.cancel()
    watch = nil
  }

  /// Accepts again. Called when a connection or a stream has ended, and with each sweep.
  func resume() {
    guard isPaused, !daemon.isFull else { return }
    isPaused = false
    listen(for: .readable)
  }

  private func accept() {
    for _ in 0..<HTTPLimits.acceptsPerTurn {
      guard !daemon.isFull else { return pause("the limit of connections is reached") }
      var address = sockaddr_storage()
      var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
      // SAFETY: the kernel writes no more than the length it is given.
      let client = unsafe withUnsafeMutableBytes(of: &address) {
        unsafe Glibc.accept(descriptor, $0.assumingMemoryBound(to: sockaddr.self).baseAddress, &length)
      }
      guard client >= 0 else {
        let number = errno
        // Otherwise nobody waits any more, or a client has gone before it was accepted.
        let isShort = [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(number)
        return isShort ? pause(unsafe String(cString: strerror(number))) : ()
      }
      unsafe withUnsafeBytes(of: &address) {
        unsafe daemon.take(client, $0.assumingMemoryBound(to: sockaddr.self).baseAddress, length)
      }
    }
  }

  private func pause(_ cause: String) {
    isPaused = true
    listen(for: [])
    let now = daemon.loop.now
    guard quietUntil.map({ $0 <= now }) ?? true else { return }
    quietUntil = now + HTTPLimits.pauseNoteInterval
    daemon.handler.pausedAccepting(
      HTTPPause(cause: cause, connections: daemon.openConnections, streams: daemon.openStreams))
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
