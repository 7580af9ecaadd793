import BelfryBytes

/// A host, as `Host` names it (RFC 9110 section 7.2): a name or an address, and perhaps a port.
package struct HostName: Sendable, Hashable, CustomStringConvertible {
  /// In lower case. An IPv6 address keeps its brackets.
  let host: String
  let port: Int?

  /// Longer than any name in DNS together with a port.
  static let bytesMax = 262

  init?(_ text: Substring) {
    guard !text.utf8.isEmpty, text.utf8.count <= Self.bytesMax else { return nil }
    let bytes = text.utf8.map { Self.lowercased($0) }
    let isAddress = bytes.first == UInt8(ascii: "[")
    let end: Int
    if isAddress {
      guard let bracket = bytes.firstIndex(of: UInt8(ascii: "]")) else { return nil }
      end = bracket + 1
    } else {
      end = bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.count
    }
    let inside = isAddress ? bytes[1..<(end - 1)] : bytes[..<end]
    guard !inside.isEmpty, inside.allSatisfy(isAddress ? Self.isInAddress : Self.isInName) else { return nil }
    host = String(decoding: bytes[..<end], as: UTF8.self)
    guard end < bytes.count else {
      port = nil
      return
    }
    guard bytes[end] == UInt8(ascii: ":"), let port = Self.port(bytes[(end + 1)...]) else { return nil }
    self.port = port
  }

  private static func port(_ digits: ArraySlice<UInt8>) -> Int? {
    guard digits.count <= 5, digits.first != UInt8(ascii: "0"),
      digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
      let port = Int(String(decoding: digits, as: UTF8.self)), port <= 65_535
    else { return nil }
    return port
  }

  private static func lowercased(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
  }

  /// Letters, digits and `-._`: a name in another script is written in these, too (RFC 5891).
  private static func isInName(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
    default: byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_")
    }
  }

  private static func isInAddress(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
    default: byte == UInt8(ascii: ":") || byte == UInt8(ascii: ".")
    }
  }

  package var description: String { port.map { "\(host):\($0)" } ?? host }

  /// True if this name, from the configuration, matches the host that a request names. Without a port it
  /// matches all ports.
  func means(_ asked: HostName) -> Bool { host == asked.host && (port == nil || port == asked.port) }

  /// True if the name means this machine to every program on it, independent of DNS.
  var isLoopback: Bool {
    host == "localhost" || host == "[::1]" || Self.isLoopbackAddress(host)
  }

  /// True if the text is a loopback address, written without brackets.
  static func isLoopbackAddress(_ text: String) -> Bool {
    text.utf8.elementsEqual("::1".utf8)
      || text.utf8.starts(with: "127.".utf8) && text.utf8.allSatisfy(isInIPv4)
  }

  private static func isInIPv4(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: ".")
  }
}
