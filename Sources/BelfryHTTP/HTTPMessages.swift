package import BelfryBytes

/// The properties of a request that are known when its headers have arrived.
package struct HTTPRequestHead: Sendable {
  package let method: UTF8Text
  /// The path as sent, without the query.
  package let path: String
  /// The path's segments, each decoded: of `/v1/a%2Fb`, `v1` and `a/b`. A trailing slash is an empty segment.
  package let segments: [UTF8Text]
  /// The query's fields in their order, decoded.
  package let query: [(name: UTF8Text, value: UTF8Text)]
  package let headers: HTTPHeaders
  /// The announced length of the body; nil if it is chunked, 0 if there is none.
  package let contentLength: Int?
  package let client: ClientAddress
  private let targetAuthority: String?

  /// The host that the request is meant for, as `host[:port]`. The host in the target takes precedence over
  /// `Host` (RFC 9112 section 3.2.2).
  package var host: String? { targetAuthority ?? headers["Host"] }
  let isHTTP10: Bool

  init(_ request: RequestHead, target: RequestTarget?, client: ClientAddress) {
    method = request.method
    path = target?.path ?? ""
    segments = target?.segments ?? []
    query = target?.query ?? []
    targetAuthority = target?.authority
    headers = request.headers
    contentLength = request.contentLength
    isHTTP10 = request.isHTTP10
    self.client = client
  }
}

/// A whole request.
package struct HTTPRequest: Sendable {
  package let head: HTTPRequestHead
  package let body: [UInt8]
  /// Counts the body in a budget: keep it as long as the body.
  package let held: HeldBytes?

  package var headers: HTTPHeaders { head.headers }
}

/// An answer as a whole. `Content-Length`, `Date` and `Connection` are added when it is sent.
package struct HTTPResponse: Sendable {
  package var status: Int
  package var headers: [(name: String, value: String)]
  package var body: [UInt8]
  /// The body is held in any case, for all who ask for it, and counts in nobody's budget.
  package var isShared = false
  /// False for the answer to HEAD if GET would be answered with a stream.
  package var hasLength = true

  package init(status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }
}
