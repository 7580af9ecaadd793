import BelfryBytes
import BelfryHTTP
package import BelfryOutbound

/// The trusted proxies in front of a broker, which write the address that a request came from into a field.
/// The field is ignored on other connections, because any client can send it.
package struct TrustedProxies: Sendable, Hashable {
  /// The field with the address. Only one is read: a proxy that writes one field passes the other on as the
  /// client sent it.
  package enum Field: String, Sendable, Hashable, CaseIterable {
    case forwardedFor = "X-Forwarded-For"
    /// RFC 7239.
    case forwarded = "Forwarded"
  }

  /// The networks of the proxies. Empty: there are none.
  package var networks: [IPNetwork] = []
  package var field = Field.forwardedFor

  package init() {}

  /// The address that a request came from. Each proxy appends the address of its own peer, so the last
  /// address that does not belong to a trusted proxy is the client's.
  /// - Parameter peer: the other end of the connection.
  func client(of peer: ClientAddress, _ headers: HTTPHeaders) -> ClientAddress {
    guard !networks.isEmpty, isTrusted(peer.host) else { return peer }
    var nearest: String?
    for hop in hops(in: headers).reversed() {
      // The hop is hidden, unknown (RFC 7239 section 6), or no address. Nobody knows who was in front of the
      // proxy that wrote it.
      guard let address = Self.address(in: hop) else { break }
      nearest = address
      if !isTrusted(address) { break }
    }
    guard let nearest else { return peer }
    // A header cannot grant more than the connection itself: an address from it is loopback only if the peer
    // is.
    return ClientAddress(
      host: nearest, isLoopback: peer.isLoopback && HostName.isLoopbackAddress(nearest))
  }

  private func isTrusted(_ host: String) -> Bool {
    guard let address = IPAddress(host) else { return false }
    return networks.contains { $0.contains(address) }
  }

  private func hops(in headers: HTTPHeaders) -> [Substring.UTF8View] {
    let elements = headers.values(of: field.rawValue).flatMap {
      Substring($0).utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
    }
    switch field {
    case .forwardedFor: return elements
    case .forwarded: return elements.map(Self.forwardedFor)
    }
  }

  /// The `for` of one element; empty if it has none.
  private static func forwardedFor(_ element: Substring.UTF8View) -> Substring.UTF8View {
    for pair in element.split(separator: UInt8(ascii: ";")) {
      let pair = trimmed(pair)
      guard HTTPHeaders.isSame(pair.prefix(4), "for=") else { continue }
      let value = pair.dropFirst(4)
      let isQuoted = value.count >= 2 && value.first == quote && value.last == quote
      return isQuoted ? value.dropFirst().dropLast() : value
    }
    return ""[...].utf8
  }

  private static let quote = UInt8(ascii: "\"")

  private static func trimmed(_ bytes: Substring.UTF8View) -> Substring.UTF8View {
    let isSpace = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
    var bytes = bytes.drop(while: isSpace)
    while let last = bytes.last, isSpace(last) { bytes = bytes.dropLast() }
    return bytes
  }

  /// An address in its standard form, without the port that may follow; nil if it is none.
  private static func address(in hop: Substring.UTF8View) -> String? {
    let hop = trimmed(hop)
    let colon = UInt8(ascii: ":")
    var text = hop
    if hop.first == UInt8(ascii: "[") {
      text = hop.dropFirst().prefix { $0 != UInt8(ascii: "]") }
    } else if hop.count(where: { $0 == colon }) == 1 {
      text = hop.prefix { $0 != colon }
    }
    return IPAddress(String(Substring(text)))?.description
  }
}

extension LoopServices {
  /// The address that a request came from, as far as it is known.
  func client(of head: HTTPRequestHead) -> ClientAddress {
    broker.configuration.proxies.client(of: head.client, head.headers)
  }
}
