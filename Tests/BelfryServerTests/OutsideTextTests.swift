import BelfryBytes
import BelfryModel
import CallCounts
import Testing

@testable import BelfryHTTP
@testable import BelfryInterface
@testable import BelfryServer
@testable import BelfryStore

/// Text from outside is handled as bytes. With combining marks, `String` takes time that grows with the
/// square of their number, and it sorts them in newly requested memory each time. So the number of requests
/// for memory reveals it: as bytes, a text four times as long is read with the same number of requests.
@Suite struct OutsideTextTests {
  /// Pairs of marks in the wrong order.
  private static let marks = "\u{301}\u{316}"
  /// Letters of as many bytes, which keep their order.
  private static let letters = "\u{436}\u{444}"

  /// A reader of text from outside.
  struct Decoder: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var read: @Sendable (String) -> Void

    init(_ name: String, _ read: @escaping @Sendable (String) -> Void) {
      testDescription = name
      self.read = read
    }
  }

  /// Made once. To make it takes some 6,000 requests for memory, a few hundred more or less, and hides those of a match.
  private static let router = Router()

  static let decoders: [Decoder] =
    [
      Decoder("field name of a send") { send(#"{"toAccids":["a"],"body\#($0)":"x"}"#) },
      Decoder("text of a send") { send(#"{"toAccids":["a"],"body":"\#($0)","type":"\#($0)"}"#) },
      Decoder("name in an attachment") { send(#"{"toAccids":["a"],"attach":{"a\#($0)":1,"a\#($0)b":2}}"#) },
      Decoder("one of many names") { text in
        let few = (0..<20).map { "\"\($0)\":1," }.joined()
        send("{\"toAccids\":[\"a\"],\(few)\"x\(text)\":1}")
      },
      Decoder("limits of an attachment") { text in
        try? NotificationContent.check(["a\(text)": 1], "attach", jsonBytes: Limits.attachBytes)
      },
      Decoder("what a log holds") { text in
        var content = NotificationContent(type: 100, toType: .accounts)
        content.attach = ["a\(text)": 1, "a\(text)b": 2]
        _ = NotificationContent(json: content.text.bytes[...])?.text
      },
      Decoder("declared field") { text in
        var parts = RequestParts(
          path: ["serverId": "7"], body: Array(#"{"name":"\#(text)","nam\#(text)":1}"#.utf8))
        _ = try? ServerRoutes.update.read(&parts)
      },
      Decoder("attributes") { text in
        let value = JSONValue.object(["a\(text)": "1", "a\(text)b": "2"])
        _ = try? Kind<[UTF8Text: String]>.texts.read(value, "attributes")
      },
      Decoder("word") { text in
        _ = try? Kind<ChannelRecord.Kind>.choice.read(.string("public\(text)"), "type")
      },
      Decoder("flag and number") { text in
        _ = Shape.flag.value(ofText: UTF8Text("true\(text)"))
        _ = Shape.count.value(ofText: UTF8Text("1\(text)"))
      },
      Decoder("method") { text in _ = try? router.match(method: UTF8Text("GET\(text)"), path: ["healthz"]) },
      Decoder("segment") { text in
        _ = try? router.match(method: "GET", path: ["v1", UTF8Text("servers\(text)")])
        _ = PathPattern("/v1/{serverId}").match(["v1", UTF8Text(text)])
      },
      Decoder("target") { text in _ = RequestTarget("/v1/\(text)?a\(text)=\(text)") },
      Decoder("absolute target") { text in _ = RequestTarget("http\(text)://\(text)/\(text)") },
      Decoder("parameter") { text in
        let query = FieldList(SharedFields.limit)
        _ = try? query.read(query: [("limit", UTF8Text(text)), (UTF8Text("limit\(text)"), "1")])
      },
      Decoder("page cursor") { text in
        _ = ScanPlace(text: "0123\(text).1~2.3.\(text)")
        _ = TableScan(text: "1~2.3.\(text)")?.rest(of: [("alice", "")], next: 2)
        _ = DirectoryPlace(text: "\(text):\(text)")
        _ = try? Kind<PageCursor>.cursor.read(.string(text), "cursor")
      },
      Decoder("feed cursor") { text in
        _ = FeedCursor(text: "2\(text).1_2~server:1*3")
        _ = FeedCursor(text: "2.1_2~server:\(text)*\(text)")
      },
      Decoder("header") { text in
        let headers = HTTPHeaders([
          ("Host", "t"), ("Accept\(text)", text), ("Transfer-Encoding", "chunked\(text)"),
        ])
        _ = RequestFraming.refusal(of: headers, isHTTP10: false, namesOnce: ["Authorization"])
        _ = headers["Accept"]
      },
      Decoder("content type") { _ = RouteBody.Form.json.accepts("application/json\($0)") },
      Decoder("bearer") { text in
        _ = try? Caller.bearer("Bearer\(text) x")
        _ = try? Caller.bearer("Bearer \(text)")
      },
      Decoder("token") { text in
        let cache = TokenCache(TokenKeys(TokenSigner(secret: Array(repeating: 7, count: 32))))
        _ = try? cache.verify(UTF8Text("a.b.\(text)"), nowSeconds: 0)
        let header = Base64URL.encode(Array(#"{"alg":"HS256","kid":"\(text)","\(text)":1}"#.utf8))
        _ = try? cache.verify(UTF8Text("\(header).e30.e30"), nowSeconds: 0)
      },
      Decoder("claims") { text in
        let claims: JSONValue = ["exp": 5, "sub": .string("a\(text)"), "role": .string("user\(text)")]
        _ = try? TokenClaims(payload: claims, nowSeconds: 0)
      },
      Decoder("account") { text in _ = AccountID("a\(text)") },
      Decoder("configuration") { text in
        _ = try? ConfigurationFile.parse(Array(#"{"loops\#(text)":1}"#.utf8), path: "belfry.json")
        _ = try? ConfigurationFile.parse(Array(#"{"listen":"\#(text)"}"#.utf8), path: "belfry.json")
      },
    ]

  private static func send(_ body: String) {
    guard var request = try? SendRequest(ObjectFields(of: Array(body.utf8))) else { return }
    request.content.messageClientId = "m"
    _ = try? request.content.checkLimits()
    _ = request.content.text
  }

  @Test(.enabled(if: allocations_are_counted()), arguments: decoders)
  func isReadInLinearWork(decoder: Decoder) {
    // Longer texts than the bounds are refused earlier, so that some lengths are below the bounds and some
    // above.
    for length in [30, 2_000] {
      let texts = [length, 2 * length, 4 * length].map { String(repeating: Self.marks, count: $0) }
      let (once, twice, fourTimes) = (
        work(decoder, texts[0]), work(decoder, texts[1]), work(decoder, texts[2])
      )
      let most = Self.most(once.requests)
      // An array that doubles takes all that the allocator gives it. So it grows once more or less, and twice as many bytes are no
      // sign of more work. Quadratic work would be sixteen times as many.
      #expect(fourTimes.requests <= most, "\(once.requests) become \(fourTimes.requests)")
      #expect(
        fourTimes.bytes <= 2 * 4 * once.bytes + Self.fixedBytes,
        "\(once.bytes), \(twice.bytes), \(fourTimes.bytes)")
    }
  }

  /// As bytes, marks are read with as many requests as letters. Suggestions for mistyped names compare characters, so the
  /// texts here are longer than any name for which there is one.
  @Test(.enabled(if: allocations_are_counted()), arguments: decoders)
  func marksAreReadAsLettersAre(decoder: Decoder) {
    for length in [40, 2_000] {
      let letters = work(decoder, String(repeating: Self.letters, count: length)).requests
      let marks = work(decoder, String(repeating: Self.marks, count: length)).requests
      #expect(marks <= Self.most(letters), "\(letters) for letters, \(marks) for marks")
    }
  }

  /// The greatest number of requests for a text, if a text like it takes so many. An array or a buffer that doubles makes a
  /// few more. And names come out of a dictionary in another order for each text, and are compared more or less often until
  /// they are sorted.
  private static func most(_ requests: UInt64) -> UInt64 { requests + doublings + requests / 100 }

  private static let doublings: UInt64 = 2
  private static let fixedBytes: UInt64 = 4_096

  private func work(_ decoder: Decoder, _ text: String) -> (requests: UInt64, bytes: UInt64) {
    // Values that are made once for all are made now. The runtime's own tables may still grow in any later
    // reading. So the least of several readings counts: the work that the text causes is in all of them.
    decoder.read(text)
    var least = (requests: UInt64.max, bytes: UInt64.max)
    for _ in 0..<4 {
      let (requests, bytes) = (count_of_allocations(), count_of_allocated_bytes())
      decoder.read(text)
      least.requests = min(least.requests, count_of_allocations() - requests)
      least.bytes = min(least.bytes, count_of_allocated_bytes() - bytes)
    }
    return least
  }

  /// Shows that the measure would find it.
  @Test(.enabled(if: allocations_are_counted()))
  func stringsWouldShow() {
    for length in [30, 2_000] {
      let asked = [Self.letters, Self.marks].map { text in
        work(Decoder("string") { _ = $0.hashValue }, String(repeating: text, count: length)).requests
      }
      #expect(asked[1] > Self.most(asked[0]), "\(asked)")
    }
  }

  /// The two texts are one name to Unicode, and two in bytes.
  @Test func namesAreTheSameIfTheirBytesAre() throws {
    let (short, long) = ("\u{e9}", "e\u{301}")
    #expect(short == long && UTF8Text(short) != UTF8Text(long) && UTF8Text(long) < UTF8Text(short))
    let value = try JSONParser.value(of: Array(#"{"\#(short)":1,"\#(long)":2}"#.utf8))
    #expect(value == .object([long: 2, short: 1]))
    #expect(JSONText.bytes(of: value) == Array(#"{"\#(long)":2,"\#(short)":1}"#.utf8))
    #expect(JSONValue.string(short) != .string(long))
    #expect(try Kind<[UTF8Text: String]>.texts.read([short: "a", long: "b"], "attributes").count == 2)
    #expect(PathPattern("/\(short)").match([UTF8Text(long)]) == nil)
    let fields = FieldList(Field(short, .flag, "a field"))
    #expect(throws: Refusal.self) { try fields.read(.object([long: true]), at: "") }
    #expect(throws: Refusal.self) { try fields.read(query: [(UTF8Text(long), "true")]) }
  }

  @Test func segmentsBeyondTheirBoundAreNowhere() {
    let segment = UTF8Text(String(repeating: "9", count: Router.segmentBytesMax + 1))
    let problem = #expect(throws: Problem.self) {
      try Router().match(method: "GET", path: ["v1", "servers", segment])
    }
    #expect(problem?.status == 404)
  }

  @Test func fewLongLinesGoTogether() {
    let lines = [0..<90, 90..<180, 180..<190, 190..<200][...]
    func count(_ linesMost: Int, _ bytesMost: Int) -> Int {
      Lines.count(atOnce: lines, linesMost: linesMost, bytesMost: bytesMost)
    }
    #expect(
      [count(3, 1_000), count(9, 1_000), count(9, 190), count(9, 100), count(9, 10)] == [3, 4, 3, 1, 1])
  }

  @Test func aNameIsCutBetweenScalars() {
    #expect(UTF8Text("\u{e9}\u{e9}\u{e9}").beginning(bytes: 5) == "\u{e9}\u{e9}")
    #expect(UTF8Text("abc").beginning(bytes: 3) == "abc")
  }
}
