/// What is known of a request when its headers have arrived.
package struct HTTPRequestHead: Sendable {
  package let method: String
  /// The path as sent, without the query.
  package let path: String
  /// The path's segments, each decoded: of `/v1/a%2Fb`, `v1` and `a/b`. A trailing slash is an empty segment.
  package let segments: [String]
  /// The query's fields in their order, decoded.
  package let query: [(name: String, value: String)]
  package let headers: HTTPHeaders
  /// The length the client announced; nil of a chunked body, 0 of none.
  package let contentLength: Int?
  package let client: ClientAddress

  /// The value of the query's first field of this name.
  package func query(_ name: String) -> String? {
    query.first { $0.name == name }?.value
  }
}

/// A whole request.
package struct HTTPRequest: Sendable {
  package let head: HTTPRequestHead
  package let body: [UInt8]

  package var method: String { head.method }
  package var path: String { head.path }
  package var segments: [String] { head.segments }
  package var headers: HTTPHeaders { head.headers }
  package var client: ClientAddress { head.client }
  package func query(_ name: String) -> String? { head.query(name) }
}
