import Glibc

/// The address at the other end of a connection. Behind a proxy it is the proxy's.
package struct ClientAddress: Sendable, Hashable, CustomStringConvertible {
  /// As `192.0.2.1` or `2001:db8::1`; empty for a kind of socket that has none.
  package let host: String
  package let isLoopback: Bool

  package var description: String { host }

  package init(host: String, isLoopback: Bool) {
    self.host = host
    self.isLoopback = isLoopback
  }

  // SAFETY: the kernel made the address, as large as its family says.
  init(_ address: UnsafePointer<sockaddr>?) {
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    var isLoopback = false
    switch unsafe address.map({ unsafe Int32($0.pointee.sa_family) }) {
    case AF_INET:
      var address =
        unsafe UnsafeRawPointer(address)?.loadUnaligned(as: sockaddr_in.self).sin_addr ?? in_addr()
      isLoopback = UInt32(bigEndian: address.s_addr) >> 24 == 127
      unsafe inet_ntop(AF_INET, &address, &text, socklen_t(text.count))
    case AF_INET6:
      var address =
        unsafe UnsafeRawPointer(address)?.loadUnaligned(as: sockaddr_in6.self).sin6_addr ?? in6_addr()
      unsafe inet_ntop(AF_INET6, &address, &text, socklen_t(text.count))
    default:
      break
    }
    let end = text.firstIndex(of: 0) ?? text.endIndex
    var host = String(decoding: text[..<end].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    // An IPv4 client of a socket that listens on IPv6.
    if host.hasPrefix("::ffff:"), host.contains(".") {  // own text
      host.removeFirst("::ffff:".count)
      isLoopback = host.hasPrefix("127.")  // own text
    }
    self.host = host
    self.isLoopback = isLoopback || host == "::1"  // own text
  }
}
