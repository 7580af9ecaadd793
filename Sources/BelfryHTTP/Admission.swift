import BelfryBytes
import CMicroHTTPD

extension HTTPDaemon {
  /// A request's headers are there: begins its exchange, which may be to refuse it.
  /// - Returns: whether to go on with the connection.
  func admit(_ connection: ClientConnection, method: UTF8Text, version: UTF8Text) -> Bool {
    let headers = unsafe headers(of: connection.handle)
    let announced = headers["Content-Length"].flatMap { Int($0) }
    let isChunked = headers.contains("Transfer-Encoding")
    let target = connection.target
    let head = HTTPRequestHead(
      method: method, path: target?.path ?? "", segments: target?.segments ?? [],
      query: target?.query ?? [], headers: headers, contentLength: isChunked ? nil : announced ?? 0,
      client: connection.client)
    guard unsafe hasRoomToAnswer(head, headerBytes: mhd_header_size(connection.handle)) else {
      let limitBytes = limits.connectionMemoryBytes - HTTPLimits.responseHeadBytes
      connection.cut(farewell: ResponseHead.render(handler.refuse(.headersTooLarge(limitBytes: limitBytes))))
      return false
    }
    let (admission, isFinal) = admission(of: head, hasTarget: target != nil)
    let exchange = HTTPExchange(
      head, isHTTP11: version != Self.oldVersion, admission, on: connection, of: self)
    connection.exchange = exchange
    // MHD closes a connection that is answered before its body. Worth it when the body would not end, or the
    // client waits to be asked for it; otherwise the answer comes after the body, and the connection lives.
    guard case .refused(let refusal) = admission,
      isFinal || isUnbounded(head) || headers.contains("Expect")
    else { return true }
    return exchange.refuseEarly(refusal)
  }

  private static let oldVersion: UTF8Text = "HTTP/1.0"

  /// And whether the connection ends with it.
  private func admission(
    of head: HTTPRequestHead, hasTarget: Bool
  ) -> (admission: HTTPAdmission, isFinal: Bool) {
    if let refusal = framingRefusal(of: head.headers) { return (.refused(handler.refuse(refusal)), true) }
    if !hasTarget {
      return (.refused(handler.refuse(.malformed(detail: "the target is no path"))), false)
    }
    if let length = head.contentLength, length > limits.bodyBytes {
      return (.refused(handler.refuse(.bodyTooLarge(limitBytes: limits.bodyBytes))), false)
    }
    return (handler.admit(head), false)
  }

  /// Adds up what MHD has allocated of the connection's memory.
  private func hasRoomToAnswer(_ head: HTTPRequestHead, headerBytes: Int) -> Bool {
    var fields = head.headers.count
    var bytes = headerBytes
    if let cookies = head.headers["Cookie"]?.utf8 {
      // It copies them to take them apart.
      bytes += cookies.count
      fields += cookies.count { $0 == UInt8(ascii: ";") } + 1
    }
    bytes += fields * HTTPLimits.fieldBytes + HTTPLimits.responseHeadBytes
    return bytes <= limits.connectionMemoryBytes
  }

  private func isUnbounded(_ head: HTTPRequestHead) -> Bool {
    head.contentLength.map { $0 > limits.drainBytes } ?? false
  }
}

/// Whether the length of the body is told in two ways, or in one that we do not know. MHD takes either; a
/// proxy before us may take the other, and where one request ends for it, the next would begin for us.
func framingRefusal(of headers: HTTPHeaders) -> HTTPRefusal? {
  let encodings = headers.count(of: "Transfer-Encoding")
  let lengths = headers.count(of: "Content-Length")
  if encodings + lengths > 1 { return .malformed(detail: "the body's length is told more than once") }
  if encodings == 1, !HTTPHeaders.isSame(headers["Transfer-Encoding"]?.utf8 ?? "".utf8, "chunked") {
    return .unsupportedEncoding
  }
  return nil
}

private func headers(of connection: OpaquePointer) -> HTTPHeaders {
  var headers = HTTPHeaders()
  unsafe withUnsafeMutablePointer(to: &headers) {
    _ = unsafe MHD_get_connection_values_n(connection, .HEADER_KIND, appendHeader, $0)
  }
  return headers
}

// SAFETY: the context is the pointer above, whose function is still running.
private nonisolated func appendHeader(
  _ context: UnsafeMutableRawPointer?, _ kind: MHD_ValueKind, _ name: UnsafePointer<CChar>?, _ nameSize: Int,
  _ value: UnsafePointer<CChar>?, _ valueSize: Int
) -> MHD_Result {
  guard let headers = unsafe context?.assumingMemoryBound(to: HTTPHeaders.self), let name = unsafe name else {
    return .NO
  }
  unsafe headers.pointee.append(bytes(name, nameSize), bytes(value, valueSize))
  return .YES
}

private func bytes(_ text: UnsafePointer<CChar>?, _ count: Int) -> UnsafeBufferPointer<UInt8> {
  unsafe UnsafeBufferPointer(
    start: UnsafeRawPointer(text)?.assumingMemoryBound(to: UInt8.self), count: text == nil ? 0 : count)
}
