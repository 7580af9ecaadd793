import Glibc

/// Redis's messages, commands and replies alike, as the bytes that they came in.
package final class MessageStream {
  private let descriptor: Int32
  private var buffer: [UInt8] = []

  package init(_ descriptor: Int32) { self.descriptor = descriptor }

  /// Nil when nobody is there.
  package convenience init?(connectedTo path: String) {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { return nil }
    self.init(descriptor)
    guard unsafe withAddress(path, { unsafe connect(descriptor, $0, $1) }) == 0 else { return nil }
  }

  deinit { close(descriptor) }

  /// Has both directions end, for those who wait on another thread.
  package func shutDown() { shutdown(descriptor, Int32(SHUT_RDWR)) }

  /// The next whole message; nil when the other side is gone.
  package func readMessage() -> [UInt8]? {
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
  package func writeMessage(_ message: [UInt8]) -> Bool {
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

package func openListener(at path: String) throws(FixtureError) -> Int32 {
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
