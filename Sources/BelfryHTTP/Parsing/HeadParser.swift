import BelfryBytes

/// Reads the head of a request as it arrives: a first line, fields, and an empty line (RFC 9112 sections 2 to
/// 5).
///
/// It is strict, because a proxy in front may read a sloppy line differently, and then see another end of the
/// request. The following bytes could become a request that the proxy never checked (request smuggling). Each
/// line ends with CR LF, no line is folded, nothing stands between a name and its colon, and there are no
/// control characters. A mistake is reported as soon as its line has ended, without waiting for more.
struct HeadParser {
  enum Progress {
    /// More bytes are needed.
    case incomplete
    /// The head ends after this number of bytes.
    case complete(bytes: Int)
    case refused(HTTPRefusal)
  }

  private let limits: HeadLimits
  /// The beginning of the line that is being read.
  private var lineStart = 0
  /// The position up to which that line has no end.
  private var searched = 0
  private(set) var first: FirstLine?
  private(set) var fields: [HTTPHeaders.Field] = []

  init(_ limits: HeadLimits) { self.limits = limits }

  /// True if anything of the request is there.
  var hasBegun: Bool { first != nil || searched > 0 }

  /// Reads on.
  /// - Parameter bytes: all bytes of the head that have arrived, from its first byte on, perhaps with
  ///   following bytes.
  mutating func advance(over bytes: Span<UInt8>) -> Progress {
    while let end = bytes.firstPosition(of: UInt8(ascii: "\n"), from: searched) {
      guard end < limits.bytesMax else { return .refused(tooLong) }
      let start = lineStart
      guard end > start, bytes[end - 1] == UInt8(ascii: "\r") else {
        return .refused(.malformed(detail: Self.linesFlaw))
      }
      (lineStart, searched) = (end + 1, end + 1)
      do throws(HTTPRefusal) {
        try take(start..<(end - 1), of: bytes)
      } catch {
        return .refused(error)
      }
      if isAtEnd { return .complete(bytes: lineStart) }
    }
    searched = bytes.count
    return searched < limits.bytesMax ? .incomplete : .refused(tooLong)
  }

  /// An empty line has ended it.
  private var isAtEnd = false
  /// One empty line before the head is passed over (RFC 9112 section 2.2): old clients end a body with one.
  private var hasPassedEmptyLine = false

  private mutating func take(_ line: Range<Int>, of bytes: Span<UInt8>) throws(HTTPRefusal) {
    if first == nil {
      guard line.isEmpty, !hasPassedEmptyLine else {
        first = try FirstLine(bytes.extracting(line))
        return
      }
      hasPassedEmptyLine = true
    } else if line.isEmpty {
      isAtEnd = true
    } else {
      guard fields.count < limits.fieldsMax else { throw .headersTooLarge(limitBytes: limits.bytesMax) }
      if fields.isEmpty { fields.reserveCapacity(Self.usualFields) }
      fields.append(try HTTPHeaders.Field(line, of: bytes))
    }
  }

  private static let usualFields = 12

  private var tooLong: HTTPRefusal {
    first == nil
      ? .targetTooLong(limitBytes: limits.bytesMax) : .headersTooLarge(limitBytes: limits.bytesMax)
  }

  static let linesFlaw = "each line must end with CR LF; none may be folded or contain NUL"
}

/// The limits of a head.
struct HeadLimits: Sendable {
  /// The limit of the whole head.
  var bytesMax: Int
  var fieldsMax = HTTPLimits.fieldsMax
}

/// `GET /v1/notifications HTTP/1.1`
struct FirstLine {
  let method: UTF8Text
  /// As sent.
  let target: UTF8Text
  let isHTTP10: Bool

  init(_ line: Span<UInt8>) throws(HTTPRefusal) {
    guard let methodEnd = line.firstPosition(of: UInt8(ascii: " ")),
      let targetEnd = line.firstPosition(of: UInt8(ascii: " "), from: methodEnd + 1)
    else {
      throw .malformed(
        detail: "the first line must be a method, a target and a version with one space between them")
    }
    let method = line.extracting(..<methodEnd)
    guard HeadSyntax.isToken(method) else { throw .malformed(detail: "the method is not a token") }
    let target = line.extracting((methodEnd + 1)..<targetEnd)
    guard HeadSyntax.isTarget(target), let target = target.text else {
      throw .malformed(detail: "the target is empty, contains a control character, or is not UTF-8")
    }
    isHTTP10 = try Self.isHTTP10(line.extracting((targetEnd + 1)...))
    self.method = UTF8Text(method.text ?? "")
    self.target = UTF8Text(target)
  }

  /// A later minor version is read as 1.1 (RFC 9110 section 2.5).
  private static func isHTTP10(_ version: Span<UInt8>) throws(HTTPRefusal) -> Bool {
    guard version.count == pattern.count else { throw .malformed(detail: versionRule) }
    for index in pattern.indices {
      let (byte, expected) = (version[index], pattern[index])
      guard expected == UInt8(ascii: "0") ? isDigit(byte) : byte == expected else {
        throw .malformed(detail: versionRule)
      }
    }
    guard version[majorPlace] == UInt8(ascii: "1") else { throw .unsupportedVersion }
    return version[minorPlace] == UInt8(ascii: "0")
  }

  /// A zero stands for any digit.
  private static let pattern = Array("HTTP/0.0".utf8)
  private static let majorPlace = 5
  private static let minorPlace = 7
  private static let versionRule = "the version must be HTTP/1.1 or HTTP/1.0"

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }
}

extension HTTPHeaders.Field {
  /// - Parameter line: the range of the line in the head, without its end. It is not empty.
  fileprivate init(_ line: Range<Int>, of bytes: Span<UInt8>) throws(HTTPRefusal) {
    guard !HeadSyntax.isSpace(bytes[line.lowerBound]) else {
      throw .malformed(detail: HeadParser.linesFlaw)
    }
    guard let colon = bytes.firstPosition(of: UInt8(ascii: ":"), from: line.lowerBound),
      colon < line.upperBound
    else { throw .malformed(detail: "a line of the headers has no colon") }
    guard HeadSyntax.isToken(bytes.extracting(line.lowerBound..<colon)) else {
      throw .malformed(detail: "the name of a header is not a token")
    }
    var (start, end) = (colon + 1, line.upperBound)
    while start < end, HeadSyntax.isSpace(bytes[start]) { start += 1 }
    while start < end, HeadSyntax.isSpace(bytes[end - 1]) { end -= 1 }
    guard HeadSyntax.isValue(bytes.extracting(start..<end)) else {
      throw .malformed(detail: "the value of a header contains a control character")
    }
    self.init(name: line.lowerBound..<colon, value: start..<end)
  }
}
