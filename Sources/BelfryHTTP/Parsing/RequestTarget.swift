import BelfryBytes

/// The target of a request by its parts (RFC 9112 section 3.2). The path is split before it is decoded, so an encoded
/// slash stays inside its segment.
struct RequestTarget: Sendable {
  /// The path as sent, without the query.
  let path: String
  let segments: [UTF8Text]
  let query: [(name: UTF8Text, value: UTF8Text)]
  /// `host[:port]`, if the target has it.
  let authority: String?

  /// Nil if an escape is cut short or not hexadecimal, if the decoded text is not UTF-8, or if the authority
  /// is not valid.
  init?(_ raw: String) {
    let raw = Substring(raw).utf8
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
    let authority = Self.authority(of: raw)
    // `Host` may be empty, but the host of a target may not.
    guard authority.map({ !$0.isEmpty && HeadSyntax.isHost($0.utf8) }) ?? true else { return nil }
    self.authority = authority.map { String($0) }
  }

  private static func authority(of raw: Substring.UTF8View) -> Substring? {
    guard raw.first != UInt8(ascii: "/"), let colon = raw.firstIndex(of: UInt8(ascii: ":")) else {
      return nil
    }
    let rest = raw[colon...].dropFirst(3)
    return Substring(
      rest[..<(rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? rest.endIndex)])
  }

  /// The path of `/path`, of `http://host/path`, which clients send to proxies, and of the `*` of OPTIONS.
  private static func path(of raw: Substring.UTF8View) -> Substring.UTF8View? {
    if raw.first == UInt8(ascii: "/") || raw.elementsEqual("*".utf8) { return raw }
    guard let colon = raw.firstIndex(of: UInt8(ascii: ":")), raw[colon...].starts(with: "://".utf8)
    else { return nil }
    let authority = raw[colon...].dropFirst(3)
    guard let slash = authority.firstIndex(of: UInt8(ascii: "/")) else { return "/"[...].utf8 }
    return authority[slash...]
  }
}
