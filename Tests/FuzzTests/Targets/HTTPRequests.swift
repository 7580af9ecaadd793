import BelfryBytes
import ModelSamples
import TestKit

@testable import BelfryHTTP

/// The requests that are read from a connection's bytes, which arrive in pieces.
struct ReadRequests: Equatable {
  private(set) var requests: [String] = []
  private(set) var refusal: HTTPRefusal?
  private(set) var isTooLong = false

  var isSound: Bool { refusal == nil && !isTooLong }

  init(_ bytes: [UInt8], inPiecesOf size: Int) {
    var reader = RequestReader(HeadLimits(bytesMax: 1_000), namesOnce: ["Authorization"])
    var input: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: max(size, 1)) where isSound {
      input += bytes[start..<min(start + size, bytes.count)]
      var consumed = 0
      while isSound {
        let (step, count) = reader.next(input[consumed...])
        consumed += count
        if case .incomplete = step { break }
        note(step, input)
      }
      input.removeFirst(consumed)
    }
  }

  private mutating func note(_ step: RequestReader.Step, _ input: [UInt8]) {
    switch step {
    case .incomplete: break
    case .head(let head): requests.append("\(head.method) \(head.target) \(head.contentLength ?? -1) ")
    case .body(let range):
      requests[requests.count - 1] += String(decoding: input[range].map { $0 & 0x7F }, as: UTF8.self)
    case .end: requests[requests.count - 1] += " end"
    case .tooLong: isTooLong = true
    case .refused(let refusal): self.refusal = refusal
    }
  }
}

extension SeededGenerator {
  /// One to three requests, one after the other.
  mutating func httpRequests() -> [UInt8] {
    var text = ""
    for _ in 0...below(3) { text += httpRequest() }
    return Array(text.utf8)
  }

  private mutating func httpRequest() -> String {
    let target = pick(["/", "/v1/notifications?limit=5", "/a%2Fb", "*", "http://t/x"])
    var text =
      pick(["", "", "\r\n"]) + "\(pick(["GET", "POST", "BREW"])) \(target) HTTP/1.\(below(2))\r\nHost: t\r\n"
    for _ in 0..<below(3) {
      text += pick(["X:y", "Cookie: a=b; c=d", "Accept: \t */*  ", "Via: é"]) + "\r\n"
    }
    let body = String(repeating: pick(["x", "\r\n", "0"]), count: below(20))
    switch below(3) {
    case 0: return text + "\r\n"
    case 1: return text + "Content-Length: \(body.utf8.count)\r\n\r\n" + body
    default:
      let isHTTP10 =
        text.utf8.split(separator: UInt8(ascii: "\r")).first.map { $0.last == UInt8(ascii: "0") } ?? true
      if isHTTP10 { return text + "\r\n" }
      let chunk =
        body.isEmpty ? "" : String(body.utf8.count, radix: 16) + pick([";a=b", ""]) + "\r\n\(body)\r\n"
      return text + "Transfer-Encoding: chunked\r\n\r\n\(chunk)0\r\n\(pick(["", "T: u\r\n"]))\r\n"
    }
  }
}
