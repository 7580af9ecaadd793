import BelfryLoop
import BelfryModel

extension Sending {
  /// Many sends in one request: one a line, and one result a line in the same order. A bad line fails alone.
  ///
  /// The sends go side by side, so their results come sooner than one after the other; two lines for the
  /// same space may change places on the way.
  static func batch(_ request: Request, _ services: LoopServices) async throws(Refusal) -> Reply {
    let caller = try request.known()
    let lines = Lines.split(request.body)
    guard !lines.isEmpty else { throw .invalid("$", "must have one notification a line, has none") }
    guard lines.count <= Limits.notificationsPerBatch else {
      throw Refusal(
        .tooMany, "a batch has at most \(Limits.notificationsPerBatch) notifications, this one \(lines.count)"
      )
    }
    let batch = Batch(request.body, lines, by: caller, services)
    await batch.run()
    return Reply(status: 200, contentType: "application/x-ndjson", body: batch.output())
  }
}

/// The lines of a body.
enum Lines {
  /// Each without its end, which is LF or CR LF. What follows the last line's end is no line if it is empty.
  static func split(_ bytes: [UInt8]) -> [Range<Int>] {
    var lines: [Range<Int>] = []
    var start = bytes.startIndex
    while start < bytes.endIndex {
      let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.endIndex
      let hasReturn = end > start && bytes[end - 1] == UInt8(ascii: "\r")
      lines.append(start..<(hasReturn ? end - 1 : end))
      start = end + 1
    }
    return lines
  }
}

/// One batch on its way. It lives on its loop's thread.
private final class Batch {
  /// So many sends at a time keep the pipeline to Redis full, and leave room for other requests.
  static let sendsAtOnce = 64

  private let body: [UInt8]
  private let lines: [Range<Int>]
  private let caller: Caller
  private let services: LoopServices
  private var results: [[UInt8]]
  private var next = 0
  private var workers = 0
  private var waiter: CheckedContinuation<Void, Never>?

  init(_ body: [UInt8], _ lines: [Range<Int>], by caller: Caller, _ services: LoopServices) {
    self.body = body
    self.lines = lines
    self.caller = caller
    self.services = services
    results = Array(repeating: [], count: lines.count)
  }

  func run() async {
    for _ in 0..<min(Self.sendsAtOnce, lines.count) where services.scope.start({ await self.work() }) {
      workers += 1
    }
    // A scope that is closing starts nothing; then this request does the work itself.
    if workers == 0 { return await sendRest() }
    await withCheckedContinuation { continuation in
      // Looked at in here: between an outer look and this closure the last of them may have ended.
      guard workers > 0 else { return continuation.resume() }
      waiter = continuation
    }
  }

  func output() -> [UInt8] { Array(results.joined()) }

  private func work() async {
    await sendRest()
    workers -= 1
    if workers == 0 {
      waiter?.resume()
      waiter = nil
    }
  }

  private func sendRest() async {
    while next < lines.count {
      let index = next
      next += 1
      results[index] = await result(of: lines[index])
    }
  }

  private func result(of line: Range<Int>) async -> [UInt8] {
    var text = JSONText()
    do throws(Refusal) {
      let receipt = try await send(line)
      text.field("status", receipt.status)
      receipt.write(to: &text)
    } catch {
      Problem(error).write(to: &text)
    }
    return text.finish() + [UInt8(ascii: "\n")]
  }

  private func send(_ line: Range<Int>) async throws(Refusal) -> SendReceipt {
    try services.takeSend(caller)
    let value = try JSONParser.value(of: body, in: line)
    return try await Sending.send(SendRequest(Fields(value, at: "")), by: caller, services)
  }
}
