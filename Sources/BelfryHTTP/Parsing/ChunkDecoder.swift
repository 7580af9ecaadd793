/// Takes a chunked body apart (RFC 9112 section 7.1), as strictly as a head is read.
struct ChunkDecoder {
  enum Step {
    /// More bytes are needed.
    case incomplete
    /// So many bytes, from the first one on, belong to the body.
    case body(Int)
    /// So many bytes were framing.
    case framing(Int)
    /// The body has ended, after so many bytes of framing.
    case end(Int)
    /// A chunk is longer than any body may be.
    case tooLong
    case refused(HTTPRefusal)
  }

  private enum Phase {
    case size
    case data(left: Int)
    case dataEnd
    case trailer
  }

  private var phase = Phase.size
  /// The bytes of lines after the last chunk.
  private var trailerBytes = 0

  /// - Parameter bytes: the bytes that have arrived and were not consumed by an earlier step.
  mutating func next(_ bytes: ArraySlice<UInt8>) -> Step {
    switch phase {
    case .size: size(bytes)
    case .data(let left): data(bytes, left)
    case .dataEnd: dataEnd(bytes)
    case .trailer: trailer(bytes)
    }
  }

  private mutating func size(_ bytes: ArraySlice<UInt8>) -> Step {
    switch Self.line(bytes, limitBytes: HTTPLimits.chunkLineBytes) {
    case .incomplete: return .incomplete
    case .flawed: return Self.flawed("the length of a chunk must be a line of hexadecimal digits")
    case .complete(let line):
      let digits = line.prefix { $0 != UInt8(ascii: ";") }
      // If the line's end cuts off a quotation, a reader that honours quotations would see another end.
      let quotes = line.count { $0 == UInt8(ascii: "\"") }
      guard HeadSyntax.isValue(line.span), quotes.isMultiple(of: 2), !digits.isEmpty,
        digits.allSatisfy({ Self.digit($0) != nil })
      else {
        return Self.flawed("the length of a chunk is not hexadecimal")
      }
      var count = 0
      for value in digits.compactMap(Self.digit) {
        guard count <= Int.max >> 8 else { return .tooLong }
        count = count << 4 | value
      }
      phase = count == 0 ? .trailer : .data(left: count)
      return .framing(line.count + 2)
    }
  }

  private mutating func data(_ bytes: ArraySlice<UInt8>, _ left: Int) -> Step {
    if bytes.isEmpty { return .incomplete }
    let count = min(left, bytes.count)
    phase = count == left ? .dataEnd : .data(left: left - count)
    return .body(count)
  }

  private mutating func dataEnd(_ bytes: ArraySlice<UInt8>) -> Step {
    let end = bytes.prefix(2)
    guard end.elementsEqual(Self.lineEnd.prefix(end.count)) else {
      return Self.flawed("a chunk is longer than it says")
    }
    if end.count < 2 { return .incomplete }
    phase = .size
    return .framing(2)
  }

  /// The lines after the last chunk are checked and dropped: nobody needs them.
  private mutating func trailer(_ bytes: ArraySlice<UInt8>) -> Step {
    switch Self.line(bytes, limitBytes: HTTPLimits.trailerBytes - trailerBytes) {
    case .incomplete: return .incomplete
    case .flawed: return Self.flawed("a line after the last chunk does not end with CR LF, or is too long")
    case .complete(let line):
      if line.isEmpty { return .end(2) }
      let name = line.prefix { $0 != UInt8(ascii: ":") }
      guard HeadSyntax.isToken(name.span), name.count < line.count, HeadSyntax.isValue(line.span) else {
        return Self.flawed("a line after the last chunk is not a header field")
      }
      trailerBytes += line.count + 2
      return .framing(line.count + 2)
    }
  }

  private enum Line {
    case incomplete, flawed
    /// Without its end.
    case complete(ArraySlice<UInt8>)
  }

  private static func line(_ bytes: ArraySlice<UInt8>, limitBytes: Int) -> Line {
    guard let end = bytes.prefix(limitBytes).firstPosition(of: UInt8(ascii: "\n")) else {
      return bytes.count < limitBytes ? .incomplete : .flawed
    }
    let line = bytes[..<end]
    return line.last == UInt8(ascii: "\r") ? .complete(line.dropLast()) : .flawed
  }

  private static func flawed(_ detail: String) -> Step { .refused(.malformed(detail: detail)) }

  private static let lineEnd = Array("\r\n".utf8)

  private static func digit(_ byte: UInt8) -> Int? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(byte - UInt8(ascii: "0"))
    case UInt8(ascii: "a")...UInt8(ascii: "f"): Int(byte - UInt8(ascii: "a")) + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): Int(byte - UInt8(ascii: "A")) + 10
    default: nil
    }
  }
}
