import Glibc

/// A socket of libcurl's. Libcurl may close it at any time, and its number may then be another file's, so it is known by the
/// number that the kernel gives to the file as well.
struct ObservedSocket: Sendable {
  let descriptor: Int32
  private let file: UInt64?

  init(_ descriptor: Int32) {
    self.descriptor = descriptor
    file = Self.file(of: descriptor)
  }

  /// Whether it is open, and the one of several that were tried that has been connected.
  var isConnected: Bool {
    guard let file, Self.file(of: descriptor) == file else { return false }
    var address = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    // SAFETY: the address is as long as is said, and is not used after the call.
    return unsafe withUnsafeMutablePointer(to: &address) { address in
      unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        unsafe getpeername(descriptor, address, &length) == 0
      }
    }
  }

  /// Whether all that was sent has been read, and no more will come. Takes nothing.
  static func isAtEnd(_ descriptor: Int32) -> Bool {
    var byte: UInt8 = 0
    // SAFETY: there is room for the one byte that is asked for.
    return unsafe recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) == 0
  }

  private static func file(of descriptor: Int32) -> UInt64? {
    var status = stat()
    // SAFETY: `status` is written during the call only.
    guard unsafe fstat(descriptor, &status) == 0 else { return nil }
    return UInt64(status.st_ino)
  }
}
