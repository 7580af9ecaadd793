import BelfryBytes

/// Checks the header fields that give the end of a request and its host. If one occurs twice, or if two
/// contradict each other, the request is refused: a proxy in front may decide differently.
enum RequestFraming {
  /// - Parameter namesOnce: other fields that may occur only once.
  /// - Returns: the reason for the refusal; nil if the request is not refused.
  static func refusal(
    of headers: HTTPHeaders, isHTTP10: Bool, namesOnce: [String]
  ) -> HTTPRefusal? {
    if let refusal = refusalOfHost(headers, isHTTP10: isHTTP10) { return refusal }
    if let refusal = refusalOfLength(headers, isHTTP10: isHTTP10) { return refusal }
    if !headers.hasRepeatedName { return nil }
    for name in namesOnce where headers.count(of: name) > 1 {
      return .malformed(detail: "\(name) occurs more than once")
    }
    return nil
  }

  /// RFC 9112 section 3.2.
  private static func refusalOfHost(_ headers: HTTPHeaders, isHTTP10: Bool) -> HTTPRefusal? {
    switch headers.count(of: "Host") {
    case 0: return isHTTP10 ? nil : .malformed(detail: "Host is missing")
    case 1: break
    default: return .malformed(detail: "Host occurs more than once")
    }
    guard let host = headers["Host"], HeadSyntax.isHost(Substring(host).utf8) else {
      return .malformed(detail: "Host is not a valid host")
    }
    return nil
  }

  /// RFC 9112 sections 6.1 to 6.3.
  private static func refusalOfLength(_ headers: HTTPHeaders, isHTTP10: Bool) -> HTTPRefusal? {
    let encodings = headers.count(of: "Transfer-Encoding")
    guard encodings + headers.count(of: "Content-Length") <= 1 else {
      return .malformed(detail: "the length of the body is given more than once")
    }
    guard encodings == 1 else { return refusalOfDigits(headers) }
    if isHTTP10 { return .malformed(detail: "HTTP/1.0 has no Transfer-Encoding") }
    let encoding = headers["Transfer-Encoding"] ?? ""
    if HTTPHeaders.isSame(Substring(encoding).utf8, "chunked") { return nil }
    return HeadSyntax.isToken(encoding.utf8.span)
      ? .unsupportedEncoding : .malformed(detail: "Transfer-Encoding must be chunked")
  }

  private static func refusalOfDigits(_ headers: HTTPHeaders) -> HTTPRefusal? {
    guard let length = headers["Content-Length"] else { return nil }
    let isNumber =
      !length.utf8.isEmpty
      && length.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    return isNumber ? nil : .malformed(detail: "Content-Length is not a number")
  }

  /// The announced length of the body; nil if it is chunked.
  static func contentLength(of headers: HTTPHeaders) -> Int? {
    if headers.contains("Transfer-Encoding") { return nil }
    // A number that overflows is longer than any body may be.
    return headers["Content-Length"].map { Int($0) ?? .max } ?? 0
  }
}
