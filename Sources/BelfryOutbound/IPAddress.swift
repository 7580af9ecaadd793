import Glibc

/// An address of IPv4 or IPv6. An IPv4 address written as one of IPv6 (`::ffff:10.0.0.1`) is the IPv4 address.
@safe package struct IPAddress: Sendable, Hashable, CustomStringConvertible {
  /// 4 or 16, in the order of the network.
  let bytes: [UInt8]

  private init(_ bytes: [UInt8]) {
    let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]
    self.bytes = bytes.count == 16 && bytes.starts(with: mapped) ? Array(bytes.suffix(4)) : bytes
  }

  package init?(_ text: String) {
    var four = in_addr()
    var sixteen = in6_addr()
    // SAFETY: inet_pton writes as many bytes as an address of the family has.
    if unsafe inet_pton(AF_INET, text, &four) == 1 {
      self.init(unsafe withUnsafeBytes(of: four) { unsafe Array($0) })
    } else if unsafe inet_pton(AF_INET6, text, &sixteen) == 1 {
      self.init(unsafe withUnsafeBytes(of: sixteen) { unsafe Array($0) })
    } else {
      return nil
    }
  }

  /// In its standard form (RFC 5952).
  package var description: String {
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    let family = bytes.count == 4 ? AF_INET : AF_INET6
    // SAFETY: there are as many bytes as an address of the family has, and room for the longest text.
    unsafe inet_ntop(family, bytes, &text, socklen_t(text.count))
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Nil for an address of another family.
  // SAFETY: `address` has so many bytes.
  @unsafe init?(_ address: UnsafePointer<sockaddr>, length: Int) {
    let bytes = unsafe UnsafeRawBufferPointer(start: address, count: length)
    switch unsafe Int32(address.pointee.sa_family) {
    case AF_INET where length >= MemoryLayout<sockaddr_in>.size: self.init(unsafe Array(bytes[4..<8]))
    case AF_INET6 where length >= MemoryLayout<sockaddr_in6>.size: self.init(unsafe Array(bytes[8..<24]))
    default: return nil
    }
  }
}

/// The addresses that begin with the same bits, written as `10.0.0.0/8`, or one address.
package struct IPNetwork: Sendable, Hashable, CustomStringConvertible {
  private let bytes: [UInt8]
  private let bits: Int
  package let description: String

  package init?(_ text: String) {
    let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), let address = IPAddress(String(Substring(parts[0]))) else {
      return nil
    }
    let all = address.bytes.count * 8
    bytes = address.bytes
    description = text
    guard parts.count == 2 else {
      bits = all
      return
    }
    guard let bits = Int(String(Substring(parts[1]))), (0...all).contains(bits) else { return nil }
    self.bits = bits
  }

  package func contains(_ address: IPAddress) -> Bool {
    guard address.bytes.count == bytes.count else { return false }
    let (whole, rest) = bits.quotientAndRemainder(dividingBy: 8)
    guard address.bytes[..<whole] == bytes[..<whole] else { return false }
    guard rest > 0 else { return true }
    return (address.bytes[whole] ^ bytes[whole]) >> (8 - rest) == 0
  }
}
