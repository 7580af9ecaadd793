import BelfryBytes
import CMicroHTTPD

extension HTTPDaemon {
  /// Begins the exchange of a request whose headers are there, or refuses it.
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
    // It is not certain where a flawed request ends, so nothing after it is read.
    if flaw != nil { return exchange.refuseEarly(refusal, isLast: true) }
    // MHD closes a connection that is answered before its body has come. That is right when the body is too long, or
    // when the client waits for `100 Continue`.
    let length = head.contentLength ?? 0
    if length > limits.drainBytes || head.headers.contains("Expect") {
      return exchange.refuseEarly(refusal, isLast: false)
    }
    if length > HTTPLimits.awaitedBytes { return exchange.refuseWhileReceiving(refusal) }
    // Otherwise it is answered after the body, and the connection stays open.
    return true
  }

  private static let oldVersion: UTF8Text = "HTTP/1.0"

  private func routing(of head: HTTPRequestHead, _ target: RequestTarget?) -> HTTPRouting {
    guard target != nil else {
      return .refused(handler.refuse(.malformed(detail: "the target is no path")))
    }
    let routing = handler.route(head)
    guard case .routed(let request) = routing else { return routing }
    // Results of what is carried out are kept in any case, so nothing more is done for an account that takes none.
    if let account = request.account, budgets.answers.isExhausted(by: account) {
      return .refused(handler.refuse(HTTPRefusal(.account)))
    }
    guard let length = head.contentLength, length > request.bodyMaxBytes else { return routing }
    return .refused(handler.refuse(.bodyTooLarge(limitBytes: request.bodyMaxBytes)))
  }

  /// Whether the connection's memory, less what MHD has allocated for this head, has room for the answer's head.
  private func hasRoomToAnswer(_ head: HTTPRequestHead, headerBytes: Int) -> Bool {
    var fields = head.headers.count
    var bytes = headerBytes
    if let cookies = head.headers["Cookie"]?.utf8 {
      // MHD copies cookies to parse them.
      bytes += cookies.count
      fields += cookies.count { $0 == UInt8(ascii: ";") } + 1
    }
    bytes += fields * HTTPLimits.fieldBytes + HTTPLimits.responseHeadBytes
    return bytes <= limits.connectionMemoryBytes
  }
}
