import CCurl

/// The target of a request: an http or https URL. The library that will connect to it also takes it apart, so
/// no other reading of the URL matters.
@safe package struct OutboundURL: Sendable, Hashable, CustomStringConvertible {
  package static let lengthMaxBytes = 2_048
  /// The longest name in DNS (RFC 1035 §2.3.4), or address in brackets.
  static let hostLengthMaxBytes = 253
  package static let rule =
    "an http or https URL of at most \(lengthMaxBytes) bytes, without a password and without a fragment"

  package let text: String
  package let isEncrypted: Bool
  /// Lower case as in DNS, or an address in its standard form; one of IPv6 without brackets.
  package let host: String
  package let port: UInt16

  /// Identifies connections that are kept, and the counts per host: scheme, host and port.
  let authority: String

  package var description: String { text }

  /// The form of RFC 6454 §6.2: without the port if it is the scheme's.
  package var origin: String {
    let name = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
    let (scheme, standard) = isEncrypted ? ("https", 443 as UInt16) : ("http", 80)
    return port == standard ? "\(scheme)://\(name)" : "\(scheme)://\(name):\(port)"
  }

  /// True if nothing follows the host but this path.
  package func hasPathOnly(_ path: String) -> Bool {
    var slashes = 0
    let whole = text.utf8.drop { byte in
      if byte == UInt8(ascii: "/") { slashes += 1 }
      return slashes < 3
    }
    return whole.elementsEqual(path.utf8)
  }

  /// Nil unless it follows ``rule``.
  package init?(_ text: String) {
    guard (1...Self.lengthMaxBytes).contains(text.utf8.count),
      text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else { return nil }
    // SAFETY: the handle is freed before this returns, and each part is copied before it is freed.
    guard let handle = unsafe curl_url() else { return nil }
    defer { unsafe curl_url_cleanup(handle) }
    guard unsafe curl_url_set(handle, CURLUPART_URL, text, 0) == CURLUE_OK,
      let scheme = unsafe Self.part(handle, CURLUPART_SCHEME), ["http", "https"].contains(scheme),
      unsafe Self.part(handle, CURLUPART_USER) == nil, unsafe Self.part(handle, CURLUPART_PASSWORD) == nil,
      unsafe Self.part(handle, CURLUPART_FRAGMENT) == nil,
      var host = unsafe Self.part(handle, CURLUPART_HOST),
      (1...Self.hostLengthMaxBytes).contains(host.utf8.count),
      let portText = unsafe Self.part(handle, CURLUPART_PORT, UInt32(CURLU_DEFAULT_PORT)),
      let port = UInt16(portText), port > 0,
      // This may be longer than the given text, if a path was added. This form is stored and read again.
      let whole = unsafe Self.part(handle, CURLUPART_URL), whole.utf8.count <= Self.lengthMaxBytes
    else { return nil }
    if host.utf8.first == UInt8(ascii: "["), host.utf8.last == UInt8(ascii: "]") {
      host = String(host.dropFirst().dropLast())
    }
    self.text = whole
    isEncrypted = scheme == "https"
    self.host = host.lowercased()
    self.port = port
    authority = "\(scheme) \(self.host) \(port)"
  }

  // SAFETY: the caller's handle is good during the call.
  @unsafe private static func part(_ handle: OpaquePointer, _ part: CURLUPart, _ flags: UInt32 = 0)
    -> String?
  {
    var text: UnsafeMutablePointer<CChar>?
    guard unsafe curl_url_get(handle, part, &text, flags) == CURLUE_OK, let text = unsafe text else {
      return nil
    }
    defer { unsafe curl_free(text) }
    return unsafe String(cString: text)
  }
}
