import BelfryBytes
import BelfryHTTP
import BelfryInterface
import BelfryModel

extension Sending {
  /// The lines that are read and decided in one step, and sent to Redis together. This takes about three
  /// milliseconds, in which the loop serves nobody else. Then others have their turn.
  private static let linesAtOnce = 128
  /// A step with long lines has fewer of them: a megabyte takes as long to read as all the rest.
  private static let bytesAtOnce = 256 * 1_024

  /// Carries out many sends in one request: one a line, and one result a line in the same order. A bad line
  /// fails alone.
  ///
  /// If a record that a line was decided on has changed, the line is decided again after the others. So two
  /// lines for the same space may change places.
  static func batch(
    _ request: Request, _ services: LoopServices
  ) async throws(Refusal) -> HTTPResponse {
    let caller = try request.known()
    var lines = Lines.split(request.body, most: Limits.notificationsPerBatch + 1)[...]
    guard !lines.isEmpty else { throw .invalid("$", "is empty; give one notification per line") }
    guard lines.count <= Limits.notificationsPerBatch else {
      throw Refusal(
        .tooMany, "a batch must have at most \(Limits.notificationsPerBatch) notifications"
      )
    }
    let answer = BatchAnswer(to: lines.count)
    request.answerIfLate { answer.whenLate }
    // A send that has not begun when the answer is given is never done: the answer says that it was not done.
    while !lines.isEmpty, !request.isAnswered {
      let some = lines.prefix(Lines.count(atOnce: lines, linesMost: linesAtOnce, bytesMost: bytesAtOnce))
      lines = lines.dropFirst(some.count)
      // If all of the long lines are refused, nothing waits here. The pause still gives others their turn. The answer may be
      // given in it, which says that these lines are not sent.
      if some.count < linesAtOnce, !lines.isEmpty { try? await services.loop.sleep(for: .zero) }
      if request.isAnswered { break }
      let bodies = some.map { read($0, of: request.body, by: caller, services) }
      let receipts = await send(bodies, by: caller, request, services) { answer.underWay = $0 }
      answer.underWay = []
      for receipt in receipts { answer.add(receipt) }
    }
    return answer.response
  }

  private static func read(
    _ line: Range<Int>, of body: [UInt8], by caller: Caller, _ services: LoopServices
  ) -> Result<SendRequest, Refusal> {
    Result { () throws(Refusal) in
      try services.take(.send, of: caller)
      let bytesMost = RouteBody.Form.json.sizeMaxBytes
      guard line.count <= bytesMost else {
        throw Refusal(.tooLarge, "a line must have at most \(bytesMost) bytes; this one has \(line.count)")
      }
      let request = try SendRequest(ObjectFields(of: body, in: line))
      services.owe(Price.send.priceOfBody(names: 0, bytes: line.count), .sends, of: caller)
      return request
    }
  }

}

/// The lines of a batch's answer that are known so far.
private final class BatchAnswer {
  /// The sends that Redis has been asked for and that have no result yet.
  var underWay: [Sending.Prepared] = []
  private let count: Int
  private var known = 0
  private var output: [UInt8] = []

  init(to count: Int) { self.count = count }

  func add(_ result: Result<SendReceipt, Refusal>) {
    var text = JSONText()
    switch result {
    case .success(let receipt):
      text.field("status", receipt.status)
      receipt.write(to: &text)
    case .failure(let refusal):
      Problem(refusal).write(to: &text)
    }
    output += text.finish()
    output.append(UInt8(ascii: "\n"))
    known += 1
  }

  var response: HTTPResponse {
    HTTPResponse(status: 200, type: RouteBody.Form.lines.mediaType, body: output)
  }

  /// The answer for a batch that takes too long: the outcome of the sends under way is unknown, and the rest
  /// has not begun.
  var whenLate: HTTPResponse {
    for sends in underWay { add(.failure(sends.refusalOfLate)) }
    let notBegun = Refusal(
      .unavailable, "the lines before this one took too long, so this one was not sent; try again")
    while known < count { add(.failure(notBegun)) }
    return response
  }
}

/// The lines of a body.
enum Lines {
  /// The number of lines that go together: at least one, and no more than either limit allows.
  static func count(atOnce lines: ArraySlice<Range<Int>>, linesMost: Int, bytesMost: Int) -> Int {
    var (count, bytes) = (0, 0)
    for line in lines {
      bytes += line.count
      if count == linesMost || count > 0 && bytes > bytesMost { break }
      count += 1
    }
    return count
  }

  /// Splits a body into lines without their ends, which are LF or CR LF. An empty rest after the last line's
  /// end is no line.
  /// - Parameter most: the most lines that are looked for. A body that has only line ends would have
  ///   millions.
  static func split(_ bytes: [UInt8], most: Int) -> [Range<Int>] {
    var lines: [Range<Int>] = []
    var start = bytes.startIndex
    while start < bytes.endIndex, lines.count < most {
      let end = bytes[start...].firstPosition(of: UInt8(ascii: "\n")) ?? bytes.endIndex
      let hasReturn = end > start && bytes[end - 1] == UInt8(ascii: "\r")
      lines.append(start..<(hasReturn ? end - 1 : end))
      start = end + 1
    }
    return lines
  }
}
