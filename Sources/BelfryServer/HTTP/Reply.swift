import BelfryModel

/// What a request is answered with.
struct Reply {
  var status: Int
  var contentType: String?
  var headers: [(name: String, value: String)] = []
  var body: [UInt8]

  init(status: Int, contentType: String?, body: [UInt8]) {
    self.status = status
    self.contentType = contentType
    self.body = body
  }

  static func json(_ text: consuming JSONText, status: Int = 200) -> Reply {
    Reply(status: status, contentType: "application/json", body: text.finish())
  }

  static func json(_ value: JSONValue, status: Int = 200) -> Reply {
    .json(rendered: JSONText.bytes(of: value), status: status)
  }

  /// - Parameter rendered: JSON already.
  static func json(rendered: [UInt8], status: Int = 200) -> Reply {
    Reply(status: status, contentType: "application/json", body: rendered)
  }

  /// Of every answer and stream. What is answered is for one account and for one moment: nobody in between is to
  /// keep it, and no browser is to take it for something else than it says it is.
  static let headersAlways: [(name: String, value: String)] = [
    ("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"),
  ]

  static let noContent = Reply(status: 204, contentType: nil, body: [])

  func located(at path: String) -> Reply {
    var reply = self
    reply.headers.append(("Location", path))
    return reply
  }
}
