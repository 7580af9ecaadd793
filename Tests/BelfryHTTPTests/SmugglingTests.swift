import BelfryHTTP
import Glibc
import TestKit
import Testing

/// Requests that two readers can understand in two ways. Each is sent with another request behind it, which
/// must not be answered: there is one answer, it refuses, and the connection ends.
@Suite struct SmugglingTests {
  struct Case: CustomTestStringConvertible, Sendable {
    let name: String
    let request: String
    init(_ name: String, _ request: String) { (self.name, self.request) = (name, request) }
    var testDescription: String { name }
  }

  private static func get(_ name: String, _ fields: String) -> Case {
    Case(name, "GET /echo HTTP/1.1\r\nHost: t\r\n\(fields)\r\n\r\n")
  }

  /// The body looks like a request to a reader that ignores the body.
  private static func post(_ name: String, _ fields: String) -> Case {
    Case(name, "POST /echo HTTP/1.1\r\nHost: t\r\n\(fields)\r\n\r\n")
  }

  private static let lengths = [
    post("a space before the colon", "Content-Length : 5"),
    post("a tab before the colon", "Content-Length\t: 5"),
    post("a space before the colon of the encoding", "Transfer-Encoding : chunked"),
    post("the same beside a length", "Content-Length: 5\r\nTransfer-Encoding : chunked"),
    post("a folded length", "Content-Length:\r\n 5"),
    post("a folded encoding", "Transfer-Encoding:\r\n chunked"),
    post("an encoding folded with a tab", "Transfer-Encoding:\r\n\tchunked"),
    post("a length folded in its middle", "Content-Length: 5\r\n 0"),
    post("two lengths", "Content-Length: 5\r\nContent-Length: 6"),
    post("one length twice", "Content-Length: 5\r\nContent-Length: 5"),
    post("a length in another case beside it", "Content-Length: 5\r\ncontent-length: 50"),
    post("a length and an encoding", "Content-Length: 5\r\nTransfer-Encoding: chunked"),
    post("an encoding and a length", "Transfer-Encoding: chunked\r\nContent-Length: 5"),
    post("two encodings", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked"),
    post("an encoding and another", "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity"),
    post("a list of encodings", "Transfer-Encoding: gzip, chunked"),
    post("chunked twice in a list", "Transfer-Encoding: chunked, chunked"),
    post("chunked before another", "Transfer-Encoding: chunked, identity"),
    post("an empty encoding", "Transfer-Encoding:"),
    post("chunked with a parameter", "Transfer-Encoding: chunked;q=1"),
    post("chunked in quotes", "Transfer-Encoding: \"chunked\""),
    post("chunked behind a comma", "Transfer-Encoding: ,chunked"),
    post("chunked behind a vertical tab", "Transfer-Encoding: \u{0B}chunked"),
    post("chunked before a form feed", "Transfer-Encoding: chunked\u{0C}"),
    post("chunked before NUL", "Transfer-Encoding: chunked\0"),
    post("chunked before NUL and more", "Transfer-Encoding: chunked\0x"),
    post("a length before NUL", "Content-Length: 5\0"),
    post("a length before NUL and digits", "Content-Length: 5\0 5"),
    post("a bare CR before a hidden length", "X: y\rContent-Length: 5"),
    post("a bare LF before a hidden length", "X: y\nContent-Length: 5"),
    Case(
      "an encoding in HTTP/1.0",
      "POST /echo HTTP/1.0\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
  ]

  private static let names = [
    Case("an indented first line", "POST /echo HTTP/1.1\r\n Content-Length: 5\r\nHost: t\r\n\r\n"),
    Case("a first line indented by a tab", "POST /echo HTTP/1.1\r\n\tHost: t\r\n\r\n"),
    Case("an indented only line", "GET /echo HTTP/1.1\r\n Host: t\r\n\r\n"),
    get("an empty name", ": value"),
    get("a space inside", "X Y: z"),
    get("a parenthesis", "X(: y"),
    get("a comma", "X,Y: z"),
    get("a slash", "X/Y: z"),
    get("a quote", "X\"Y: z"),
    get("an at", "X@Y: z"),
    get("brackets", "X[0]: z"),
    get("braces", "{X}: z"),
    get("a backslash", "X\\: z"),
    get("an equals sign", "X=Y: z"),
    get("a question mark", "X?: z"),
    get("a control", "X\u{01}: z"),
    get("DEL", "X\u{7F}: z"),
    get("a letter beyond ASCII", "X\u{E9}: z"),
    get("a bare CR", "X\r: z"),
    get("a bare CR first", "\rX: z"),
    get("a fold after a value", "X: y\r\n z"),
    get("a fold of nothing but space", "X: y\r\n  "),
    get("a fold after a list of fields", "A: b\r\nC: d\r\n\te\r\nF: g"),
    get("a fold whose rest is a field", "X: y\r\n Content-Length: 5"),
  ]

  private static let values = [
    get("NUL", "X: a\0b"),
    get("NUL at the end", "X: a\0"),
    get("NUL alone", "X: \0"),
    get("NUL at the end of the last but one", "X: a\0\r\nY: b"),
    get("a line that begins with NUL", "\0X: a"),
    get("a bare CR", "X: a\rb"),
    get("a bare CR at the end", "X: a\r"),
    get("a bell", "X: \u{07}"),
    get("an escape", "X: \u{1B}[0m"),
    get("DEL", "X: a\u{7F}"),
    get("NUL in a token", "Authorization: Bearer a\0b"),
    get("a control in a token", "Authorization: Bearer a\u{01}b"),
  ]

  private static let lines = [
    Case("LF ends the first line", "GET /echo HTTP/1.1\nHost: t\r\n\r\n"),
    Case("LF ends a field", "GET /echo HTTP/1.1\r\nHost: t\nX: y\r\n\r\n"),
    Case("LF ends the last field", "GET /echo HTTP/1.1\r\nHost: t\n\r\n"),
    Case("LF ends the head", "GET /echo HTTP/1.1\r\nHost: t\r\n\n"),
    Case("LF ends all", "GET /echo HTTP/1.1\nHost: t\n\n"),
    Case("CR CR LF", "GET /echo HTTP/1.1\r\nHost: t\r\r\n\r\n"),
    Case("two spaces before the target", "GET  /echo HTTP/1.1\r\nHost: t\r\n\r\n"),
    Case("two spaces before the version", "GET /echo  HTTP/1.1\r\nHost: t\r\n\r\n"),
    Case("a space in the target", "GET /echo x HTTP/1.1\r\nHost: t\r\n\r\n"),
    Case("a version inside the target", "GET /echo HTTP/1.1 HTTP/1.1\r\nHost: t\r\n\r\n"),
    Case("a tab in the target", "GET /ec\tho HTTP/1.1\r\nHost: t\r\n\r\n"),
    Case("NUL in the target", "GET /ec\0ho HTTP/1.1\r\nHost: t\r\n\r\n"),
    Case("NUL at the target's end", "GET /echo\0 HTTP/1.1\r\nHost: t\r\n\r\n"),
    Case("NUL in the query", "GET /echo?a\0=b HTTP/1.1\r\nHost: t\r\n\r\n"),
    Case("NUL before the query", "GET /echo\0?a=b HTTP/1.1\r\nHost: t\r\n\r\n"),
    Case("CR in the target", "GET /ec\rho HTTP/1.1\r\nHost: t\r\n\r\n"),
    Case("DEL in the target", "GET /echo\u{7F} HTTP/1.1\r\nHost: t\r\n\r\n"),
    Case("NUL in the method", "GE\0T /echo HTTP/1.1\r\nHost: t\r\n\r\n"),
    Case("NUL behind the method", "GET\0 /echo HTTP/1.1\r\nHost: t\r\n\r\n"),
    Case("a method that is no token", "GE(T /echo HTTP/1.1\r\nHost: t\r\n\r\n"),
    Case("a method beyond ASCII", "G\u{C9}T /echo HTTP/1.1\r\nHost: t\r\n\r\n"),
    Case("a control in the method", "G\u{01}T /echo HTTP/1.1\r\nHost: t\r\n\r\n"),
  ]

  private static let hosts = [
    Case("no Host", "GET /echo HTTP/1.1\r\n\r\n"),
    Case("no Host but others", "GET /echo HTTP/1.1\r\nX: y\r\n\r\n"),
    Case("no Host beside a whole URL", "GET http://t/echo HTTP/1.1\r\nX: y\r\n\r\n"),
    get("two Hosts", "Host: u"),
    get("one Host twice", "Host: t"),
    get("Hosts of two cases", "hOST: u"),
    Case("two Hosts in HTTP/1.0", "GET /echo HTTP/1.0\r\nHost: t\r\nHost: u\r\n\r\n"),
    Case("a Host with a space", "GET /echo HTTP/1.1\r\nHost: t u\r\n\r\n"),
    Case("a Host with a path", "GET /echo HTTP/1.1\r\nHost: t/u\r\n\r\n"),
    Case("a Host with a user", "GET /echo HTTP/1.1\r\nHost: u@t\r\n\r\n"),
    Case("two Hosts in one", "GET /echo HTTP/1.1\r\nHost: t, u\r\n\r\n"),
    get("two tokens", "Authorization: Bearer a\r\nAuthorization: Bearer b"),
    get("one token twice", "Authorization: Bearer a\r\nauthorization: Bearer a"),
  ]

  static let all = lengths + names + values + lines + hosts + more

  private static let behind = "GET /smuggled HTTP/1.1\r\nHost: t\r\n\r\n"

  private func answers(_ request: String, of server: TestServer) throws -> String {
    let client = try RawConnection(port: server.port)
    client.send(request + Self.behind)
    return client.readToEnd()
  }

  @Test(arguments: all) func itIsRefusedAndNothingBehindItIsRead(_ one: Case) throws {
    let server = try TestServer()
    let answer = try answers(one.request, of: server)
    #expect(answer.hasPrefix("HTTP/1.1 400 "), "\(answer)")
    #expect(answer.contains("\r\nContent-Type: application/problem+json\r\n"))
    #expect(answer.hasSuffix(#"{"status":400}"#))
    #expect(answer.components(of: "HTTP/1.1 ") == 1)
    #expect(server.notes == ["refuse 400"])
  }

  /// The size of the pieces must not matter.
  @Test func itIsRefusedAlsoByteByByte() throws {
    let server = try TestServer()
    for one in Self.all.filter({ $0.request.utf8.count < 70 }) {
      let client = try RawConnection(port: server.port)
      var noDelay: Int32 = 1
      unsafe setsockopt(client.descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &noDelay, 4)
      for byte in Array(one.request.utf8) {
        guard client.send([byte]) else { break }
        usleep(100)
      }
      #expect(client.readToEnd().hasPrefix("HTTP/1.1 400 "), "\(one.name)")
    }
  }

  private static let more = [
    post("a length with a sign", "Content-Length: +5"),
    post("a negative length", "Content-Length: -5"),
    post("a length in hexadecimal", "Content-Length: 0x5"),
    post("a length with a fraction", "Content-Length: 5.0"),
    post("a length of words", "Content-Length: five"),
    post("an empty length", "Content-Length:"),
    post("a list of lengths", "Content-Length: 5, 5"),
    post("a length with a space inside", "Content-Length: 5 0"),
    post("a length with a vertical tab", "Content-Length: \u{0B}5"),
    post("a length with a line break inside", "Content-Length: 5\r0"),
    get("a line without a colon", "X"),
    get("NUL in a name", "X\0Y: z"),
    Case("a space behind the version", "GET /echo HTTP/1.1 \r\nHost: t\r\n\r\n"),
    Case("a tab for a space", "GET\t/echo HTTP/1.1\r\nHost: t\r\n\r\n"),
    Case("no version", "GET /echo\r\nHost: t\r\n\r\n"),
    Case("a version in lower case", "GET /echo http/1.1\r\nHost: t\r\n\r\n"),
    Case("a version of two digits", "GET /echo HTTP/1.10\r\nHost: t\r\n\r\n"),
    Case("a version of one number", "GET /echo HTTP/1\r\nHost: t\r\n\r\n"),
    Case("another protocol", "GET /echo HTTQ/1.1\r\nHost: t\r\n\r\n"),
    Case("two empty lines first", "\r\n\r\nGET /echo HTTP/1.1\r\nHost: t\r\n\r\n"),
    Case("a target that is no UTF-8", "GET /echo\u{0} HTTP/1.1\r\nHost: t\r\n\r\n"),
  ]

  private static let chunks = [
    post("a chunk's length with a sign", "Transfer-Encoding: chunked\r\n\r\n+5\r\nhello\r\n0"),
    post("a chunk's length in 0x", "Transfer-Encoding: chunked\r\n\r\n0x5\r\nhello\r\n0"),
    post("a chunk's length with a space", "Transfer-Encoding: chunked\r\n\r\n5 \r\nhello\r\n0"),
    post("a chunk longer than it says", "Transfer-Encoding: chunked\r\n\r\n4\r\nhello\r\n0"),
    post("an empty chunk's length", "Transfer-Encoding: chunked\r\n\r\n\r\nhello\r\n0"),
    post("a chunk's length before LF", "Transfer-Encoding: chunked\r\n\r\n5\nhello\r\n0"),
    post("a chunk that ends with LF", "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\n0"),
    post("a chunk without an end", "Transfer-Encoding: chunked\r\n\r\n5\r\nhello0"),
    post("a control in an extension", "Transfer-Encoding: chunked\r\n\r\n5;\u{01}\r\nhello\r\n0"),
    post("a bare CR in an extension", "Transfer-Encoding: chunked\r\n\r\n5;a\rb\r\nhello\r\n0"),
    post("a bare LF in an extension", "Transfer-Encoding: chunked\r\n\r\n5;a\nb\r\nhello\r\n0"),
    post("a quotation without an end", "Transfer-Encoding: chunked\r\n\r\n5;a=\"\r\nhello\r\n0"),
    post(
      "an extension without an end",
      "Transfer-Encoding: chunked\r\n\r\n5;" + String(repeating: "a", count: 300)),
    post("a trailer without a colon", "Transfer-Encoding: chunked\r\n\r\n0\r\nX"),
    post("a folded trailer", "Transfer-Encoding: chunked\r\n\r\n0\r\nX: y\r\n z"),
    post("a trailer before LF", "Transfer-Encoding: chunked\r\n\r\n0\r\nX: y\nY: z"),
    post("a trailer with a space before its colon", "Transfer-Encoding: chunked\r\n\r\n0\r\nX : y"),
    post(
      "trailers without an end",
      "Transfer-Encoding: chunked\r\n\r\n0\r\n" + String(repeating: "X: y\r\n", count: 1_000)),
  ]

  private static let tooLong = [
    post("a length beyond all integers", "Content-Length: 99999999999999999999"),
    post("a chunk beyond all integers", "Transfer-Encoding: chunked\r\n\r\n10000000000000000\r\nx\r\n0"),
    post(
      "a chunk of 100 digits", "Transfer-Encoding: chunked\r\n\r\n\(String(repeating: "f", count: 100))\r\nx"),
  ]

  private static let versions = [
    Case("another version", "GET /echo HTTP/2.0\r\nHost: t\r\n\r\n"),
    Case("the first version", "GET /echo HTTP/0.9\r\nHost: t\r\n\r\n"),
  ]

  /// Mistakes in a body, and mistakes with another status than 400.
  @Test(arguments: [(400, chunks), (413, tooLong), (505, versions)])
  func whatIsWrongOtherwiseEndsTheConnectionToo(_ status: Int, _ cases: [Case]) throws {
    let server = try TestServer()
    for one in cases {
      let answer = try answers(one.request, of: server)
      #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(one.name): \(answer)")
      #expect(answer.hasSuffix(#"{"status":\#(status)}"#), "\(one.name): \(answer)")
      #expect(answer.components(of: "HTTP/1.1 ") == 1, "\(one.name): \(answer)")
      #expect(!server.notes.contains { $0.contains("smuggled") || $0.contains("handle") }, "\(one.name)")
    }
  }

  @Test func anEncodingWeDoNotKnowEndsTheConnectionToo() throws {
    let server = try TestServer()
    for encoding in ["gzip", "identity", "xchunked", "chunkedx"] {
      let answer = try answers(
        "POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: \(encoding)\r\n\r\n", of: server)
      #expect(answer.hasPrefix("HTTP/1.1 501 "))
      #expect(answer.components(of: "HTTP/1.1 ") == 1)
    }
  }

  private static let sound = [
    get("no space behind the colon", "X:y"),
    get("much space behind the colon", "X: \t  y"),
    get("space behind the value", "X: y \t"),
    get("an empty value", "X:"),
    get("an empty value before another", "X: \r\nY: z"),
    get("all that a name may hold", "!#$%&'*+-.^_`|~09azAZ: y"),
    get("a value beyond ASCII", "X: \u{E9}\u{1F514}"),
    post("an encoding in capitals", "Transfer-Encoding: CHUNKED\r\n\r\n0"),
    post("a length with zeros before it", "Content-Length: 000"),
    Case("an empty line first", "\r\nGET /echo HTTP/1.1\r\nHost: t\r\n\r\n"),
    Case("an empty Host", "GET /echo HTTP/1.1\r\nHost:\r\n\r\n"),
    Case("a Host of IPv6", "GET /echo HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n"),
    Case("a whole URL", "GET http://t/echo HTTP/1.1\r\nHost: t\r\n\r\n"),
    Case("a target beyond ASCII", "GET /echo?\u{E9} HTTP/1.1\r\nHost: t\r\n\r\n"),
    Case("a later minor version", "GET /echo HTTP/1.2\r\nHost: t\r\n\r\n"),
  ]

  /// These requests are unusual, but valid.
  @Test(arguments: sound)
  func whatIsSoundIsTaken(_ one: Case) throws {
    let server = try TestServer()
    let client = try RawConnection(port: server.port)
    client.send(one.request + "GET /echo/behind HTTP/1.1\r\nHost: t\r\n\r\n")
    #expect(try client.readResponse().status == 200)
    #expect(try client.readResponse().body == "GET echo|behind  ")
  }

  @Test func anOldClientNeedsNoHost() throws {
    let server = try TestServer()
    let client = try RawConnection(port: server.port)
    client.send("GET /echo HTTP/1.0\r\n\r\n")
    #expect(client.readToEnd().hasPrefix("HTTP/1.1 200 "))
  }

  @Test func largeHeadsInPiecesAreTaken() throws {
    var limits = HTTPLimits.patient
    limits.headMaxBytes = 24 * 1024
    let server = try TestServer(limits: limits)
    let client = try RawConnection(port: server.port)
    for size in [1, 7, 100, 1_000, 4_000, 16_000] {
      let fields = (0..<20).map { "Field-\($0): \(String(repeating: "v", count: size / 20))\r\n" }.joined()
      let request = Array("GET /echo/\(size)?x=\(size) HTTP/1.1\r\nHost: t\r\n\(fields)\r\n".utf8)
      for start in stride(from: 0, to: request.count, by: 97) {
        client.send(Array(request[start..<min(start + 97, request.count)]))
        if start % 5 == 0 { usleep(200) }
      }
      #expect(try client.readResponse().body == "GET echo|\(size) x=\(size) ")
    }
  }
}

extension String {
  fileprivate func components(of text: String) -> Int { ranges(of: text).count }
}
