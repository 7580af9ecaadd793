import Foundation
import Glibc
import Synchronization

/// A connection to a redis-server that breaks at a given point, as that of a broker that dies in the middle
/// of its work. Only Redis can tell how far the broker had come.
///
/// Commands pass one at a time. After so many commands that write, the connection is cut: the last of them
/// has been done, and its caller never gets the answer. With none at all, the first does not reach Redis.
package final class FrailLink: Sendable {
  private struct State {
    var writesLeft = 0
    var isBroken = true
    var breaks = 0
  }

  /// A value behind a lock, for the test and for the thread that passes things on.
  private final class Shared: Sendable {
    let state = Mutex(State())
    var isBroken: Bool { state.withLock { $0.isBroken } }
  }

  package let socketPath: String
  private let listener: Int32
  private let shared: Shared

  /// It is broken until it is mended.
  /// - Parameter path: the socket of another link that leads to the server; nil: that of the server.
  package init(to server: RedisServer, through path: String? = nil) throws(FixtureError) {
    socketPath = server.folder + "/frail.sock"
    listener = try openListener(at: socketPath)
    shared = Shared()
    let (listener, redisPath, shared) = (listener, path ?? server.socketPath, shared)
    Thread.detachNewThread {
      // One connection at a time: a broker that dies has one.
      while true {
        let accepted = accept(listener, nil, nil)
        guard accepted >= 0 else { break }
        Self.serve(MessageStream(accepted), redisPath, shared)
      }
      close(listener)
    }
  }

  /// Wakes the thread, which then ends.
  deinit { shutdown(listener, Int32(SHUT_RDWR)) }

  /// Lets connections in again, until so many writes have passed.
  package func mend(writes: Int) {
    shared.state.withLock { ($0.writesLeft, $0.isBroken) = (writes, false) }
  }

  package var isBroken: Bool { shared.isBroken }
  /// How often it has been cut.
  package var breaks: Int { shared.state.withLock { $0.breaks } }

  private static func serve(_ broker: MessageStream, _ redisPath: String, _ shared: Shared) {
    guard !shared.isBroken, let redis = MessageStream(connectedTo: redisPath) else { return }
    while let command = broker.readMessage(), admit(command, shared), redis.writeMessage(command),
      let reply = redis.readMessage(), !shared.isBroken, broker.writeMessage(reply)
    {}
  }

  /// Counts what writes: a function, or the end of something that waited.
  private static func admit(_ command: [UInt8], _ shared: Shared) -> Bool {
    guard isWrite(command) else { return true }
    return shared.state.withLock { state in
      state.isBroken = state.writesLeft <= 1
      if state.isBroken { state.breaks += 1 }
      guard state.writesLeft > 0 else { return false }
      state.writesLeft -= 1
      return true
    }
  }

  /// `*<count> $<length> <name> …`, a line each. The commands of a broker's set-up on each connection do not
  /// count as writes.
  private static func isWrite(_ command: [UInt8]) -> Bool {
    let lines = command.prefix(96).split(separator: UInt8(ascii: "\n"), maxSplits: 5)
    guard lines.count > 4 else { return false }
    if lines[2].elementsEqual("FCALL\r".utf8) { return !lines[4].starts(with: "belfry_begin_history".utf8) }
    return lines[2].elementsEqual("XDEL\r".utf8)
  }
}
