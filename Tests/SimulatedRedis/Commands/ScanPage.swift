/// The arguments of a scan, and its reply.
struct ScanPage {
  private let cursor: UInt64
  private var count = 10
  private var pattern: Bytes?

  init(_ call: CommandCall, cursorAt place: Int) throws(CommandError) {
    guard let cursor = call.arguments[place].unsigned else { throw CommandError("ERR invalid cursor") }
    self.cursor = cursor
    var index = place + 1
    while index < call.arguments.count {
      guard index + 1 < call.arguments.count else { throw .syntax }
      if call.arguments[index].isWord("COUNT") {
        count = Int(clamping: try call.integer(index + 1))
        if count < 1 { throw .syntax }
      } else if call.arguments[index].isWord("MATCH") {
        pattern = call.arguments[index + 1]
      } else {
        throw .syntax
      }
      index += 2
    }
  }

  /// The elements of a page of a table that match, and the cursor to go on from.
  func page(of order: ScanOrder) -> (texts: [Bytes], next: UInt64) {
    let page = order.page(from: cursor, count: count)
    return (matching(page.texts), page.next)
  }

  func matching(_ texts: [Bytes]) -> [Bytes] {
    guard let pattern else { return texts }
    return texts.filter { $0.matches(pattern) }
  }

  static func reply(_ elements: [SimulatedReply], next: UInt64) -> SimulatedReply {
    .array([.text(String(next)), .array(elements)])
  }
}
