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
  package init(to server: RedisServer) throws(FixtureError) {
    socketPath = server.folder + "/frail.sock"
    listener = try listen(at: socketPath)
    shared = Shared()
    let (listener, redisPath, shared) = (listener, server.socketPath, shared)
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
    while let command = broker.next(), admit(command, shared), redis.write(command),
      let reply = redis.next(), !shared.isBroken, broker.write(reply)
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

// MARK: - Messages

/// Redis's messages, commands and replies alike, as the bytes that they came in.
private final class MessageStream {
  private let descriptor: Int32
  private var buffer: [UInt8] = []

  init(_ descriptor: Int32) { self.descriptor = descriptor }

  /// Nil when nobody is there.
  convenience init?(connectedTo path: String) {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { return nil }
    self.init(descriptor)
    guard unsafe withAddress(path, { unsafe connect(descriptor, $0, $1) }) == 0 else { return nil }
  }

  deinit { close(descriptor) }

  /// The next whole message; nil when the other side is gone.
  func next() -> [UInt8]? {
    while true {
      if let end = Self.end(of: buffer, from: 0) {
        defer { buffer.removeFirst(end) }
        return Array(buffer[..<end])
      }
      // SAFETY: recv writes at most as many bytes as there is room for, and says how many it wrote.
      let more = unsafe [UInt8](unsafeUninitializedCapacity: 65_536) { bytes, count in
        unsafe count = max(0, recv(descriptor, bytes.baseAddress, bytes.count, 0))
      }
      guard !more.isEmpty else { return nil }
      buffer += more
    }
  }

  /// False when the other side is gone.
  func write(_ message: [UInt8]) -> Bool {
    var rest = message[...]
    while !rest.isEmpty {
      // SAFETY: send reads the bytes during the call only.
      let sent = unsafe rest.withUnsafeBytes {
        unsafe send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard sent > 0 else { return false }
      rest = rest.dropFirst(sent)
    }
    return true
  }

  /// The end of the message that begins at `start`; nil if not all of it is there. A line says how long a
  /// string is, or how many messages an array is made of; anything else is a line.
  private static func end(of bytes: [UInt8], from start: Int) -> Int? {
    guard let lineEnd = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) else { return nil }
    let number = Int(String(decoding: bytes[(start + 1)..<(lineEnd - 1)], as: UTF8.self)) ?? 0
    var end = lineEnd + 1
    switch bytes[start] {
    case UInt8(ascii: "$") where number >= 0:
      end += number + 2
    case UInt8(ascii: "*") where number > 0:
      for _ in 0..<number {
        guard let next = Self.end(of: bytes, from: end) else { return nil }
        end = next
      }
    default: break
    }
    return end <= bytes.count ? end : nil
  }
}

// MARK: - Sockets

private func listen(at path: String) throws(FixtureError) -> Int32 {
  let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
  guard descriptor >= 0, unsafe withAddress(path, { unsafe bind(descriptor, $0, $1) }) == 0,
    Glibc.listen(descriptor, 16) == 0
  else { throw FixtureError("no socket at \(path)") }
  return descriptor
}

private func withAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
  var address = sockaddr_un()
  address.sun_family = sa_family_t(AF_UNIX)
  // SAFETY: the path is cut to the room that there is, with a zero left at its end. The function that is
  // given the address reads it during the call only.
  unsafe withUnsafeMutableBytes(of: &address.sun_path) { room in
    unsafe room.copyBytes(from: path.utf8.prefix(room.count - 1))
  }
  return unsafe withUnsafePointer(to: &address) { pointer in
    unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      unsafe body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
    }
  }
}
