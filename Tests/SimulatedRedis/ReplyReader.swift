/// Reads messages of RESP2, replies and commands alike, as their bytes come.
package struct ReplyReader: Sendable {
  private var buffer: Bytes = []
  private var place = 0

  package init() {}

  package mutating func append(_ bytes: some Sequence<UInt8>) { buffer += bytes }

  /// The next whole message; nil if not all of it is there.
  package mutating func readReply() -> SimulatedReply? {
    let start = place
    guard let message = read() else {
      place = start
      return nil
    }
    if place > 1 << 16 || place == buffer.count {
      buffer.removeFirst(place)
      place = 0
    }
    return message
  }

  /// The next command, an array of texts.
  package mutating func nextCommand() -> [Bytes]? {
    guard case .array(let words)? = readReply() else { return nil }
    return words.map { if case .bulk(let text) = $0 { text } else { [] } }
  }

  private mutating func read() -> SimulatedReply? {
    guard let line = readLine(), let mark = line.first else { return nil }
    let rest = Bytes(line.dropFirst())
    switch mark {
    case UInt8(ascii: "+"): return .status(rest)
    case UInt8(ascii: "-"): return .error(rest)
    case UInt8(ascii: ":"): return .integer(rest.integer ?? 0)
    case UInt8(ascii: "$"): return readText(Int(rest.integer ?? -1))
    default: return readArray(Int(rest.integer ?? -1))
    }
  }

  private mutating func readLine() -> Bytes? {
    guard let end = buffer[place...].firstIndex(of: UInt8(ascii: "\n")) else { return nil }
    defer { place = end + 1 }
    return Bytes(buffer[place..<(end - 1)])
  }

  private mutating func readText(_ count: Int) -> SimulatedReply? {
    guard count >= 0 else { return .null }
    guard place + count + 2 <= buffer.count else { return nil }
    defer { place += count + 2 }
    return .bulk(Bytes(buffer[place..<(place + count)]))
  }

  private mutating func readArray(_ count: Int) -> SimulatedReply? {
    guard count >= 0 else { return .nullArray }
    var elements: [SimulatedReply] = []
    for _ in 0..<count {
      guard let element = read() else { return nil }
      elements.append(element)
    }
    return .array(elements)
  }
}
