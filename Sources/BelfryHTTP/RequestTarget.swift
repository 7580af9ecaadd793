import BelfryBytes

/// Where a request goes, taken apart (RFC 9112 section 3.2). The path is split before it is decoded, so that
/// an encoded slash stays inside its segment.
struct RequestTarget: Sendable {
  /// The path as sent, without the query.
  let path: String
  let segments: [UTF8Text]
  let query: [(name: UTF8Text, value: UTF8Text)]

  /// Returns nil for what is no target: an escape that is cut short or not hexadecimal, or bytes that are no
  /// UTF-8 once decoded.
  init?(_ raw: String) {
    let raw = raw.utf8
    let question = raw.firstIndex(of: UInt8(ascii: "?"))
    guard let path = RequestTarget.path(of: raw[..<(question ?? raw.endIndex)]) else { return nil }

    var segments: [UTF8Text] = []
    if path.count > 1 {
      for segment in path.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
        guard let segment = percentDecoded(segment, plusIsSpace: false) else { return nil }
        segments.append(UTF8Text(segment))
      }
    }
    var query: [(name: UTF8Text, value: UTF8Text)] = []
    if let question {
      for field in raw[raw.index(after: question)...].split(separator: UInt8(ascii: "&")) {
        let equals = field.firstIndex(of: UInt8(ascii: "="))
        guard let name = percentDecoded(field[..<(equals ?? field.endIndex)], plusIsSpace: true),
          let value = percentDecoded(
            equals.map { field[field.index(after: $0)...] } ?? field[field.endIndex...], plusIsSpace: true)
        else { return nil }
        query.append((UTF8Text(name), UTF8Text(value)))
      }
    }
    self.path = String(Substring(path))
    self.segments = segments
    self.query = query
  }

  /// Of `/path`, of `http://host/path` as proxies are sent it, and of the `*` of OPTIONS.
  private static func path(of raw: Substring.UTF8View) -> Substring.UTF8View? {
    if raw.first == UInt8(ascii: "/") || raw.elementsEqual("*".utf8) { return raw }
    guard let colon = raw.firstIndex(of: UInt8(ascii: ":")), raw[colon...].starts(with: "://".utf8)
    else { return nil }
    let authority = raw[colon...].dropFirst(3)
    guard let slash = authority.firstIndex(of: UInt8(ascii: "/")) else { return "/"[...].utf8 }
    return authority[slash...]
  }
}

func percentDecoded(_ raw: Substring.UTF8View, plusIsSpace: Bool) -> String? {
  let hasEscape = raw.contains { $0 == UInt8(ascii: "%") || (plusIsSpace && $0 == UInt8(ascii: "+")) }
  // The whole target was valid UTF-8, and it was split at ASCII.
  guard hasEscape else { return String(Substring(raw)) }

  var decoded: [UInt8] = []
  decoded.reserveCapacity(raw.count)
  var bytes = raw.makeIterator()
  while let byte = bytes.next() {
    if byte == UInt8(ascii: "%") {
      guard let high = bytes.next().flatMap(hexadecimalDigit),
        let low = bytes.next().flatMap(hexadecimalDigit)
      else { return nil }
      decoded.append(high << 4 | low)
    } else {
      decoded.append(plusIsSpace && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
    }
  }
  return String(validating: decoded, as: UTF8.self)
}

private func hexadecimalDigit(_ byte: UInt8) -> UInt8? {
  switch byte {
  case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
  case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
  case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
  default: nil
  }
}
