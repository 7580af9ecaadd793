import BelfryBytes
import CMicroHTTPD

extension HTTPDaemon {
  /// A request's headers are there: begins its exchange, which may be to refuse it.
  /// - Returns: whether to go on with the connection.
  func begin(
    _ connection: ClientConnection, method: UnsafePointer<CChar>, version: UnsafePointer<CChar>
  ) -> Bool {
    let headBytes = unsafe mhd_header_size(connection.handle)
    var reader = unsafe HeadReader(method: method, target: connection.targetPlace, version: version)
    unsafe reader.readFields(of: connection.handle)
    reader.finish(headBytes: headBytes)
    let isHTTP10 = unsafe UTF8Text(String(cString: version)) == Self.oldVersion
    let head = unsafe HTTPRequestHead(
      method: UTF8Text(String(cString: method)), target: connection.target, headers: reader.headers,
      contentLength: RequestFraming.contentLength(of: reader.headers), client: connection.client)
    guard hasRoomToAnswer(head, headerBytes: headBytes) else {
      let limitBytes = limits.connectionMemoryBytes - HTTPLimits.responseHeadBytes
      connection.cut(farewell: ResponseHead.render(handler.refuse(.headersTooLarge(limitBytes: limitBytes))))
      return false
    }
    let flaw =
      reader.flaw.map { .malformed(detail: $0) }
      ?? RequestFraming.refusal(of: head.headers, isHTTP10: isHTTP10, namesOnce: handler.fieldsGivenOnce)
    let routing = flaw.map { .refused(handler.refuse($0)) } ?? routing(of: head, connection.target)
    let exchange = HTTPExchange(head, isHTTP11: !isHTTP10, routing, on: connection, of: self)
    connection.exchange = exchange
    guard case .refused(let refusal) = routing else { return true }
    // Where a flawed request ends nobody knows, so nothing behind it is read.
    if flaw != nil { return exchange.refuseEarly(refusal, isLast: true) }
    // MHD closes a connection that is answered before its body. Worth it when the body would not end, or the
    // client waits to be asked for it.
    let length = head.contentLength ?? 0
    if length > limits.drainBytes || head.headers.contains("Expect") {
      return exchange.refuseEarly(refusal, isLast: false)
    }
    if length > HTTPLimits.awaitedBytes { return exchange.refuseWhileReceiving(refusal) }
    // Otherwise the answer comes after the body, and the connection lives.
    return true
  }

  private static let oldVersion: UTF8Text = "HTTP/1.0"

  private func routing(of head: HTTPRequestHead, _ target: RequestTarget?) -> HTTPRouting {
    guard target != nil else {
      return .refused(handler.refuse(.malformed(detail: "the target is no path")))
    }
    let routing = handler.route(head)
    guard case .routed(let request) = routing else { return routing }
    // Of what is done the result is told in any case, so nothing more is done for who takes no results.
    if let account = request.account, budgets.answers.isExhausted(by: account) {
      return .refused(handler.refuse(HTTPRefusal(.account)))
    }
    guard let length = head.contentLength, length > request.bodyMaxBytes else { return routing }
    return .refused(handler.refuse(.bodyTooLarge(limitBytes: request.bodyMaxBytes)))
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
}
