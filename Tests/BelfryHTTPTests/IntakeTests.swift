import TestKit
import Testing

@testable import BelfryHTTP

/// The steps of requests as they arrive, from the pure part alone.
@Suite struct IntakeTests {
  /// All actions for these bytes, in words.
  private func actions(
    _ text: String, inPiecesOf size: Int = .max, bodyMaxBytes: Int = 100, refuse: Bool = false
  ) -> [String] {
    var intake = RequestIntake(RequestReader(HeadLimits(bytesMax: 1_000), namesOnce: []))
    var actions: [String] = []
    var rest = Array(text.utf8)[...]
    var input: [UInt8] = []
    func note(_ action: RequestIntake.Action) -> Bool {
      switch action {
      case .wait, .route: return true
      case .handle(let body, _): actions.append("handle \(body.count)")
      case .answer(let refusal, let isLast):
        let status =
          switch refusal {
          case .byProtocol(let refusal): refusal.status
          case .byHandler(let response): response.status
          }
        actions.append("\(status)\(isLast ? " last" : "")")
        return !isLast
      }
      return true
    }
    while !rest.isEmpty {
      let piece = rest.prefix(size)
      rest = rest.dropFirst(piece.count)
      input += piece
      var consumed = 0
      while true {
        let (action, count) = intake.next(input[consumed...])
        consumed += count
        guard note(action) else { return actions }
        if case .wait = action { break }
        guard case .route(let head) = action else { continue }
        let length = head.contentLength ?? 0
        if refuse || length > bodyMaxBytes {
          let refusal = IntakeRefusal.byHandler(HTTPResponse(status: refuse ? 403 : 413))
          if let action = intake.refuse(head, refusal), !note(action) { return actions }
        } else {
          intake.accept(head, bodyMaxBytes: bodyMaxBytes, held: nil)
        }
      }
      input.removeFirst(consumed)
    }
    return actions
  }

  private func post(_ bytes: Int, _ fields: String = "") -> String {
    "POST / HTTP/1.1\r\nHost: t\r\n\(fields)Content-Length: \(bytes)\r\n\r\n"
      + String(repeating: "x", count: bytes)
  }

  @Test(arguments: [1, 3, 50, .max]) func requestsFollowOneAnother(_ size: Int) {
    let all = post(5) + "GET / HTTP/1.1\r\nHost: t\r\n\r\n" + post(100)
    #expect(actions(all, inPiecesOf: size) == ["handle 5", "handle 0", "handle 100"])
  }

  @Test(arguments: [1, 3, 50, .max]) func aShortBodyIsReadBeforeItsRefusal(_ size: Int) {
    #expect(actions(post(101) + post(5), inPiecesOf: size) == ["413", "handle 5"])
    #expect(actions(post(5) + post(5), inPiecesOf: size, refuse: true) == ["403", "403"])
  }

  @Test func aLongBodyIsNotWaitedFor() {
    #expect(actions(post(HTTPLimits.awaitedBytes)) == ["413"])
    #expect(actions(post(HTTPLimits.awaitedBytes + 1)) == ["413 last"])
    #expect(actions(post(5, "Expect: 100-Continue\r\n"), refuse: true) == ["403 last"])
  }

  @Test func whatIsChunkedIsReadUntilItIsTooMuch() {
    let head = "POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n"
    let chunk = "64\r\n" + String(repeating: "x", count: 100) + "\r\n"
    #expect(actions(head + chunk + "0\r\n\r\n" + post(1)) == ["handle 100", "handle 1"])
    #expect(actions(head + chunk + chunk + "0\r\n\r\n" + post(1)) == ["413", "handle 1"])
    #expect(actions(head + "fffffffffffffffff\r\n") == ["413 last"])
  }

  /// The refusal is sent at once if the body is longer than the broker waits for. This holds even if the
  /// client then sends no more, and for every reason of a refusal.
  @Test(arguments: [1_000, .max]) func aLongChunkedBodyIsNotWaitedFor(_ size: Int) {
    let head = "POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n"
    func chunks(_ bytes: Int) -> String {
      head + String(bytes, radix: 16) + "\r\n" + String(repeating: "x", count: bytes)
    }
    let (most, end) = (HTTPLimits.awaitedBytes, "\r\n0\r\n\r\n")
    #expect(actions(chunks(most) + end + post(1), inPiecesOf: size) == ["413", "handle 1"])
    #expect(actions(chunks(most) + end + post(1), inPiecesOf: size, refuse: true) == ["403", "403"])
    #expect(actions(chunks(most + 1), inPiecesOf: size) == ["413 last"])
    #expect(actions(chunks(most + 1), inPiecesOf: size, refuse: true) == ["403 last"])
    #expect(actions(chunks(2 * most), inPiecesOf: size, bodyMaxBytes: 2 * most) == [])
    #expect(actions(chunks(2 * most + 1), inPiecesOf: size, bodyMaxBytes: 2 * most) == ["413 last"])
  }

  @Test func nothingBehindAFlawIsRead() {
    #expect(actions(post(5) + "GET / HTTP/1.1\n\n" + post(5)) == ["handle 5", "400 last"])
  }
}
