/// XADD and XTRIM, which share their options.
enum StreamAppending {
  static func add(_ call: CommandCall) throws(CommandError) -> SimulatedReply {
    let options = try TrimOptions(call, isAppending: true)
    let (place, idText) = (
      options.next, options.next < call.arguments.count ? call.arguments[options.next] : []
    )
    let wanted = try WantedID(idText)
    let fields = Array(call.arguments.dropFirst(place + 1))
    if fields.isEmpty || fields.count % 2 == 1 { throw .arity("xadd") }
    if case .full(.zero) = wanted {
      throw CommandError("ERR The ID specified in XADD must be greater than 0-0")
    }
    if options.makesNone, try call.read(StreamValue.self, call.key) == nil { return .null }
    let last = try call.read(StreamValue.self, call.key)?.last ?? .zero
    let id = try wanted.id(after: last, now: UInt64(max(call.redis.nowMilliseconds, 0)))
    var words = call.arguments
    words[place] = id.text
    try call.change(StreamValue.self, call.key) { stream in
      stream.append(StreamEntry(id: id, fields: fields))
      if let trim = options.trim { _ = stream.trim(trim) }
      options.makeExact(&words, stream)
    }
    call.noteChange(as: words)
    return .bulk(id.text)
  }

  static func trim(_ call: CommandCall) throws(CommandError) -> SimulatedReply {
    let options = try TrimOptions(call, isAppending: false)
    guard let trim = options.trim else {
      throw CommandError("ERR syntax error, XTRIM must be called with a trimming strategy")
    }
    var words = call.arguments
    let trimmed = try call.changeIfPresent(StreamValue.self, call.key) { stream in
      let trimmed = stream.trim(trim)
      options.makeExact(&words, stream)
      return trimmed
    }
    if let trimmed, trimmed > 0 { call.noteChange(as: words) }
    return .integer(trimmed ?? 0)
  }
}

/// The id that a new entry is to get.
private enum WantedID {
  case next
  case nextIn(UInt64)
  case full(StreamID)

  init(_ text: Bytes) throws(CommandError) {
    if text == [UInt8(ascii: "*")] {
      self = .next
    } else if text.suffix(2).elementsEqual("-*".utf8), let milliseconds = Bytes(text.dropLast(2)).unsigned {
      self = .nextIn(milliseconds)
    } else {
      guard let id = StreamID(text) else { throw .invalidStreamID }
      self = .full(id)
    }
  }

  func id(after last: StreamID, now: UInt64) throws(CommandError) -> StreamID {
    let tooSmall = CommandError(
      "ERR The ID specified in XADD is equal or smaller than the target stream top item")
    if last == .max {
      throw CommandError("ERR The stream has exhausted the last possible ID, unable to add more items")
    }
    switch self {
    case .next:
      if now > last.milliseconds { return StreamID(milliseconds: now, sequence: 0) }
      return last.next ?? last
    case .nextIn(let milliseconds):
      guard milliseconds >= last.milliseconds else { throw tooSmall }
      if milliseconds > last.milliseconds { return StreamID(milliseconds: milliseconds, sequence: 0) }
      guard last.sequence < .max else { throw tooSmall }
      return StreamID(milliseconds: milliseconds, sequence: last.sequence + 1)
    case .full(let id):
      guard id > last else { throw tooSmall }
      return id
    }
  }
}

/// The options of XADD before the id, and those of XTRIM.
private struct TrimOptions {
  /// Nil if nothing is to be trimmed.
  private(set) var trim: StreamTrim?
  /// XADD makes no stream that does not exist.
  private(set) var makesNone = false
  /// The argument behind the options.
  private(set) var next = 2
  /// The argument with the bound.
  private var boundPlace: Int?

  init(_ call: CommandCall, isAppending: Bool) throws(CommandError) {
    var limit: Int?
    while next < call.arguments.count {
      let word = call.arguments[next]
      if word.isWord("MAXLEN") || word.isWord("MINID"), next + 1 < call.arguments.count {
        try takeBound(call)
      } else if word.isWord("LIMIT"), next + 1 < call.arguments.count {
        limit = Int(clamping: try call.integer(next + 1))
        if let limit, limit < 0 { throw CommandError("ERR The LIMIT argument must be >= 0.") }
        next += 2
      } else if isAppending, word.isWord("NOMKSTREAM") {
        makesNone = true
        next += 1
      } else if isAppending {
        break
      } else {
        throw .syntax
      }
    }
    guard let limit else { return }
    guard let known = trim else {
      throw CommandError("ERR syntax error, LIMIT cannot be used without specifying a trimming strategy")
    }
    if !known.isApproximate {
      throw CommandError("ERR syntax error, LIMIT cannot be used without the special ~ option")
    }
    trim?.limit = limit
  }

  private mutating func takeBound(_ call: CommandCall) throws(CommandError) {
    let strategy = call.arguments[next]
    next += 1
    // As the last argument, even a sign is taken for the bound.
    let hasMore = next + 1 < call.arguments.count
    let isApproximate = hasMore && call.arguments[next] == [UInt8(ascii: "~")]
    if isApproximate || hasMore && call.arguments[next] == [UInt8(ascii: "=")] { next += 1 }
    if trim != nil {
      throw CommandError("ERR syntax error, MAXLEN and MINID options at the same time are not compatible")
    }
    let bound: TrimBound
    if strategy.isWord("MAXLEN") {
      let count = try call.integer(next)
      if count < 0 { throw CommandError("ERR The MAXLEN argument must be >= 0.") }
      bound = .count(Int(count))
    } else {
      guard let id = StreamID(call.arguments[next]) else { throw .invalidStreamID }
      bound = .from(id)
    }
    // Without a limit of its own, an approximate trim stops after a hundred nodes.
    let limit = isApproximate ? 100 * call.redis.options.limits.streamNodeEntries : 0
    trim = StreamTrim(bound: bound, isApproximate: isApproximate, limit: limit)
    boundPlace = next
    next += 1
  }

  /// Replaces the bound by one that has the same effect on every replica.
  func makeExact(_ words: inout [Bytes], _ stream: StreamValue) {
    guard let boundPlace, let trim, trim.isApproximate else { return }
    words[boundPlace - 1] = [UInt8(ascii: "=")]
    switch trim.bound {
    case .count: words[boundPlace] = Bytes(String(stream.count).utf8)
    case .from: words[boundPlace] = (stream.count == 0 ? .max : stream.first).text
    }
    let limit = boundPlace + 1
    if limit + 1 < words.count, words[limit].isWord("LIMIT") { words.removeSubrange(limit...(limit + 1)) }
  }
}
