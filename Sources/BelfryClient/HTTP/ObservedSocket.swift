import Glibc

/// A socket of libcurl's. Libcurl may close it at any time, and the kernel may then give its descriptor to another file. So it
/// is recognized by the inode number as well.
struct ObservedSocket: Sendable {
  let descriptor: Int32
  private let file: UInt64?

  init(_ descriptor: Int32) {
    self.descriptor = descriptor
    file = Self.file(of: descriptor)
  }

  /// True if the socket is open and connected. Libcurl may try several sockets and connect one.
  var isConnected: Bool {
    guard let file, Self.file(of: descriptor) == file else { return false }
    var address = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    // SAFETY: the address has the length that is given, and is not used after the call.
    return unsafe withUnsafeMutablePointer(to: &address) { address in
      unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        unsafe getpeername(descriptor, address, &length) == 0
      }
    }
  }

  /// True if everything that was sent has been read and no more will come. It takes no bytes.
  static func isAtEnd(_ descriptor: Int32) -> Bool {
    var byte: UInt8 = 0
    // SAFETY: there is room for the one byte that is read.
    return unsafe recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) == 0
  }

  private static func file(of descriptor: Int32) -> UInt64? {
    var status = stat()
    // SAFETY: `status` is written during the call only.
    guard unsafe fstat(descriptor, &status) == 0 else { return nil }
    return UInt64(status.st_ino)
  }
}
