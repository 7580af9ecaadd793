import BelfryBytes
import BelfryHTTP
import BelfryModel

/// A document that is the same for everybody while the broker runs. It is rendered once, and a client that
/// already has it does not receive it again.
struct StaticDocument: Sendable {
  private let whole: HTTPResponse
  private let tag: String

  init(_ value: JSONValue) {
    var whole = HTTPResponse.json(value)
    tag = "\"\(Base64URL.encode(Hashing.sha256(whole.body).prefix(12)))\""
    whole.headers += [("ETag", tag)]
    whole.isShared = true
    self.whole = whole
  }

  /// - Parameter known: `If-None-Match` (RFC 9110 section 13.1.2): a list of tags, or `*`.
  func answer(unless known: String?) -> HTTPResponse {
    guard let known, matches(known) else { return whole }
    var answer = HTTPResponse(status: 304, headers: [("ETag", tag)])
    answer.isShared = true
    return answer
  }

  private func matches(_ known: String) -> Bool {
    known.utf8.split(separator: UInt8(ascii: ",")).contains { part in
      var part = part.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
      while let last = part.last, last == UInt8(ascii: " ") || last == UInt8(ascii: "\t") {
        part.removeLast()
      }
      // A proxy that compresses makes a weak tag from the tag. It stands for the same document.
      if part.starts(with: "W/".utf8) { part = part.dropFirst(2) }
      return part.elementsEqual(tag.utf8) || part.elementsEqual("*".utf8)
    }
  }
}
