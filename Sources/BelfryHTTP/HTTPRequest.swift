package import BelfryBytes

/// What is known of a request when its headers have arrived.
package struct HTTPRequestHead: Sendable {
  package let method: UTF8Text
  /// The path as sent, without the query.
  package let path: String
  /// The path's segments, each decoded: of `/v1/a%2Fb`, `v1` and `a/b`. A trailing slash is an empty segment.
  package let segments: [UTF8Text]
  /// The query's fields in their order, decoded.
  package let query: [(name: UTF8Text, value: UTF8Text)]
  package let headers: HTTPHeaders
  /// The length the client announced; nil of a chunked body, 0 of none.
  package let contentLength: Int?
  package let client: ClientAddress

  init(
    method: UTF8Text, target: RequestTarget?, headers: HTTPHeaders, contentLength: Int?, client: ClientAddress
  ) {
    self.method = method
    path = target?.path ?? ""
    segments = target?.segments ?? []
    query = target?.query ?? []
    self.headers = headers
    self.contentLength = contentLength
    self.client = client
  }

  /// The value of the query's first field of this name.
  package func query(_ name: UTF8Text) -> String? {
    query.first { $0.name == name }?.value.string
  }
}

/// A whole request.
package struct HTTPRequest: Sendable {
  package let head: HTTPRequestHead
  package let body: [UInt8]
  /// Counts the body; to be kept for as long as that is.
  package let held: HeldBytes?

  package var method: UTF8Text { head.method }
  package var path: String { head.path }
  package var segments: [UTF8Text] { head.segments }
  package var headers: HTTPHeaders { head.headers }
  package var client: ClientAddress { head.client }
  package func query(_ name: UTF8Text) -> String? { head.query(name) }
}
