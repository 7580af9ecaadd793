import Testing

@testable import BelfryHTTP

/// The parts that are plain functions of their input.
@Suite struct PartsTests {
  @Test func targetsAreTakenApart() throws {
    let target = try #require(RequestTarget("/v1/a%2fb//?x=%31+2&&=&y=a=b&z"))
    #expect(target.path == "/v1/a%2fb//")
    #expect(target.segments == ["v1", "a/b", "", ""])
    #expect(target.query.map(\.name) == ["x", "", "y", "z"])
    #expect(target.query.map(\.value) == ["1 2", "", "a=b", ""])
  }

  @Test func aPlusInThePathIsAPlus() {
    #expect(RequestTarget("/a+b")?.segments == ["a+b"])
  }

  @Test(arguments: [
    ("http://host:80/a?b", "/a"), ("http://host", "/"), ("*", "*"), ("/", "/"), ("/?a", "/"),
  ])
  func everyFormHasItsPath(_ raw: String, _ path: String) {
    #expect(RequestTarget(raw)?.path == path)
  }

  @Test(arguments: ["", "a", "?a", "**", "/%", "/%4", "/%g0", "/%c3", "/?%", "/?a=%ff", "host:80"])
  func whatIsNoTargetIsRefused(_ raw: String) {
    #expect(RequestTarget(raw) == nil)
  }

  @Test func headersAreFoundWhateverTheirCase() {
    let headers = HTTPHeaders([("Content-Type", "text/plain"), ("X", ""), ("x-y", "a:b"), ("X-Y", "c")])
    #expect(headers["content-type"] == "text/plain")
    #expect(headers["CONTENT-TYPE"] == "text/plain")
    #expect(headers["X"] == "")
    #expect(headers["X-y"] == "a:b")
    #expect(headers["Content"] == nil)
    #expect(headers["Type"] == nil)
    #expect(headers[""] == nil)
    #expect(headers.count(of: "x-Y") == 2)
    #expect(!headers.contains("y"))
    #expect(!HTTPHeaders().contains("y"))
  }

  @Test(
    arguments: [
      ([], false), (["a"], false), (["a", "b"], false), (["ab", "a", "b"], false), (["a", "b", "A"], true),
      (["x", "Content-Type", "content-type"], true), (["", ""], true), (["a", "aa", "aaa", "AA"], true),
    ] as [([String], Bool)])
  func aNameThatIsThereTwiceIsNoticed(_ names: [String], _ isRepeated: Bool) {
    // The values look like the names, and have different lengths.
    let headers = HTTPHeaders(names.enumerated().map { ($1, String(repeating: $1, count: $0)) })
    #expect(headers.hasRepeatedName == isRepeated)
  }

  @Test(arguments: [1, 9, 15, 16, 255, 4_096, 65_535])
  func chunksAreFramed(_ count: Int) {
    let buffer = ChunkBuffer(payloadBytes: 65_536)
    let payload = unsafe buffer.payload
    #expect(payload.count == 65_536)
    for index in 0..<count { unsafe payload[index] = UInt8(ascii: "p") }
    let text = String(repeating: "p", count: count)
    let chunked = unsafe String(decoding: buffer.framed(count, isChunked: true), as: UTF8.self)
    #expect(chunked == String(count, radix: 16) + "\r\n" + text + "\r\n")
    #expect(unsafe String(decoding: buffer.framed(count, isChunked: false), as: UTF8.self) == text)
  }

  @Test func headsAreRendered() {
    let head = ResponseHead.render(
      status: 200, headers: [("A", "b"), ("Evil", "x\r\nB: c"), ("Ev\nil", "x")], framing: .chunked,
      isLast: true, date: Array(HTTPDate.text(784_111_777).utf8))
    #expect(
      String(decoding: head, as: UTF8.self)
        == "HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nConnection: close\r\n"
        + "Transfer-Encoding: chunked\r\nA: b\r\n\r\n")
  }

  @Test func bodiesAreKeptUpToTheLimit() {
    var body = RequestBody(announcedBytes: 1 << 40, limitBytes: 10, held: nil)
    func append(_ count: Int) -> HTTPRefusal? { body.append([UInt8](repeating: 1, count: count)[...]) }
    #expect(append(10) == nil)
    #expect(append(1) == .bodyTooLarge(limitBytes: 10))
    #expect(body.missingBytes == 1 << 40 - 10)
    #expect(body.take().bytes.count == 10)
  }

  @Test(
    arguments: [
      ([("Content-Length", "1")], nil),
      ([("Transfer-Encoding", "Chunked")], nil),
      ([], nil),
      ([("Content-Length", "1"), ("content-length", "1")], 400),
      ([("Content-Length", "1"), ("Transfer-Encoding", "chunked")], 400),
      ([("Transfer-Encoding", "chunked"), ("Transfer-Encoding", "chunked")], 400),
      ([("Transfer-Encoding", "gzip, chunked")], 400),
      ([("Transfer-Encoding", "gzip")], 501),
      ([("Content-Length", "")], 400),
      ([("Content-Length", "+1")], 400),
      ([("Once", "1")], nil),
      ([("Once", "1"), ("ONCE", "1")], 400),
    ] as [([(name: String, value: String)], Int?)])
  func whatDecidesIsToldOnce(_ fields: [(name: String, value: String)], _ status: Int?) {
    let headers = HTTPHeaders([("Host", "t")] + fields)
    let refusal = RequestFraming.refusal(of: headers, isHTTP10: false, namesOnce: ["Once"])
    #expect(refusal?.status == status)
  }

  /// RFC 9110 section 5.6.2.
  @Test func tokensAreMadeOfTheseBytes() {
    let letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    func isToken(_ bytes: [UInt8]) -> Bool { HeadSyntax.isToken(bytes.span) }
    let allowed = Set("!#$%&'*+-.^_`|~0123456789\(letters)".utf8)
    for byte in UInt8.min ... .max {
      #expect(isToken([byte]) == allowed.contains(byte), "\(byte)")
    }
    #expect(!isToken([]))
  }
}
