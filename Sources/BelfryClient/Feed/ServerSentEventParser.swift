/// Reads a `text/event-stream` in pieces of any size, as the network delivers them.
///
/// Source: WHATWG HTML, "Server-sent events", parsing and interpreting an event stream. Any bytes are a
/// valid stream; only a length can be wrong.
struct ServerSentEventParser: Sendable {
  private let limitBytes: Int
  private var line: [UInt8] = []
  private var isFirstLine = true
  /// True if the last byte was CR. It ended the line at once, so an LF that follows belongs to it.
  private var endedByCR = false

  private var name = ""
  private var data: String?
  private var lastID: String?
  private var hasNewID = false

  init(limitBytes: Int = ClientLimits.eventBytes) { self.limitBytes = limitBytes }

  /// Appends the items that the bytes complete. Items that were complete before the wrong line are kept.
  mutating func parse(_ bytes: some Collection<UInt8>, into items: inout [FeedItem]) throws(FeedFlaw) {
    for byte in bytes {
      switch byte {
      case UInt8(ascii: "\n") where endedByCR:
        endedByCR = false
      case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
        endedByCR = byte == UInt8(ascii: "\r")
        try endLine(into: &items)
      default:
        endedByCR = false
        guard line.count < limitBytes else { throw FeedFlaw.tooLong(limitBytes: limitBytes) }
        line.append(byte)
      }
    }
  }

  // MARK: Lines

  private mutating func endLine(into items: inout [FeedItem]) throws(FeedFlaw) {
    var content = line[...]
    if isFirstLine, content.starts(with: [0xef, 0xbb, 0xbf]) { content = content.dropFirst(3) }
    isFirstLine = false
    if content.isEmpty {
      dispatch(into: &items)
    } else {
      try readField(content, into: &items)
    }
    line.removeAll(keepingCapacity: true)
  }

  private mutating func readField(_ content: ArraySlice<UInt8>, into items: inout [FeedItem])
    throws(FeedFlaw)
  {
    let colon = content.firstIndex(of: UInt8(ascii: ":")) ?? content.endIndex
    var value = content[colon...].dropFirst()
    if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
    let text = String(decoding: value, as: UTF8.self)

    switch String(decoding: content[..<colon], as: UTF8.self) {
    case "event":
      name = text
    case "data":
      let joined = data.map { $0 + "\n" + text } ?? text
      guard joined.utf8.count <= limitBytes else { throw FeedFlaw.tooLong(limitBytes: limitBytes) }
      data = joined
    case "id" where !text.contains("\0"):
      lastID = text
      hasNewID = true
    case "retry"
    where !text.isEmpty && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }:
      if let milliseconds = Int64(text) { items.append(.retry(.milliseconds(milliseconds))) }
    default:
      // Comments, whose name is empty, and names that a later broker may use.
      break
    }
  }

  private mutating func dispatch(into items: inout [FeedItem]) {
    if let data {
      items.append(.event(name: name.isEmpty ? "message" : name, data: data, id: lastID))
    } else if hasNewID, let lastID {
      items.append(.position(id: lastID))
    }
    name = ""
    data = nil
    hasNewID = false
  }
}
