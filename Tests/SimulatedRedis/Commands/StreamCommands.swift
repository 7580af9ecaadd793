enum StreamCommands {
  static let specs: [CommandSpec] = [
    CommandSpec("XADD", -5, .grows, .first, StreamAppending.add),
    CommandSpec("XTRIM", -4, .writes, .first, StreamAppending.trim),
    CommandSpec("XDEL", -3, .writes, .first, delete),
    CommandSpec("XLEN", 2, [], .first, count),
    CommandSpec("XRANGE", -4, [], .first, range),
    CommandSpec("XREVRANGE", -4, [], .first, reversedRange),
    CommandSpec("XINFO", -2, [], .second, tellFacts),
  ]

  static func delete(_ call: CommandCall) throws(CommandError) -> SimulatedReply {
    guard try call.read(StreamValue.self, call.key) != nil else { return .integer(0) }
    var ids: [StreamID] = []
    for text in call.arguments(from: 2) {
      guard let id = StreamID(text) else { throw .invalidStreamID }
      ids.append(id)
    }
    let deleted = try call.changeIfPresent(StreamValue.self, call.key) { stream in
      ids.count { stream.delete($0) }
    }
    if let deleted, deleted > 0 { call.noteChange() }
    return .integer(deleted ?? 0)
  }

  static func count(_ call: CommandCall) throws(CommandError) -> SimulatedReply {
    .integer(try call.read(StreamValue.self, call.key)?.count ?? 0)
  }

  static func range(_ call: CommandCall) throws(CommandError) -> SimulatedReply {
    try range(call, isReversed: false)
  }

  static func reversedRange(_ call: CommandCall) throws(CommandError) -> SimulatedReply {
    try range(call, isReversed: true)
  }

  private static func range(
    _ call: CommandCall, isReversed: Bool
  ) throws(CommandError) -> SimulatedReply {
    let start = try rangeStart(call.arguments[isReversed ? 3 : 2])
    let end = try rangeEnd(call.arguments[isReversed ? 2 : 3])
    var most: Int?
    for place in stride(from: 4, to: call.arguments.count, by: 2) {
      guard place + 1 < call.arguments.count, call.arguments[place].isWord("COUNT") else { throw .syntax }
      most = Int(clamping: max(try call.integer(place + 1), 0))
    }
    guard let stream = try call.read(StreamValue.self, call.key) else { return .array([]) }
    if most == 0 { return .nullArray }
    let entries = stream.entries(from: start, through: end, most: most, isReverse: isReversed)
    return .array(entries.map(\.reply))
  }

  private static func rangeStart(_ text: Bytes) throws(CommandError) -> StreamID {
    if text == [UInt8(ascii: "-")] { return .zero }
    if text == [UInt8(ascii: "+")] { return .max }
    guard text.first == UInt8(ascii: "(") else {
      guard let id = StreamID(text) else { throw .invalidStreamID }
      return id
    }
    guard let id = StreamID(Bytes(text.dropFirst())) else { throw .invalidStreamID }
    guard let next = id.next else { throw CommandError("ERR invalid start ID for the interval") }
    return next
  }

  private static func rangeEnd(_ text: Bytes) throws(CommandError) -> StreamID {
    if text == [UInt8(ascii: "-")] { return .zero }
    if text == [UInt8(ascii: "+")] { return .max }
    guard text.first == UInt8(ascii: "(") else {
      guard let id = StreamID(text, missing: .max) else { throw .invalidStreamID }
      return id
    }
    guard let id = StreamID(Bytes(text.dropFirst()), missing: .max) else { throw .invalidStreamID }
    guard let previous = id.previous else { throw CommandError("ERR invalid end ID for the interval") }
    return previous
  }

  static func tellFacts(_ call: CommandCall) throws(CommandError) -> SimulatedReply {
    guard call.arguments[1].isWord("STREAM") else { throw .syntax }
    if call.arguments.count < 3 { throw .arity("xinfo|stream") }
    guard let stream = try call.read(StreamValue.self, call.arguments[2]) else { throw .noKey }
    if call.arguments.count > 3 {
      let word = String(decoding: call.arguments[1], as: UTF8.self)
      throw CommandError("ERR unknown subcommand or wrong number of arguments for '\(word)'. Try XINFO HELP.")
    }
    let all = { (isReverse: Bool) in
      stream.entries(from: .zero, through: .max, most: 1, isReverse: isReverse).first?.reply ?? .null
    }
    let facts: [(String, SimulatedReply)] = [
      ("length", .integer(stream.count)),
      ("radix-tree-keys", .integer(stream.nodes.count)),
      ("radix-tree-nodes", .integer(RadixTree.nodeCount(stream.nodes.map(\.first)))),
      ("last-generated-id", .bulk(stream.last.text)),
      ("max-deleted-entry-id", .bulk(stream.lastDeleted.text)),
      ("entries-added", .integer(stream.added)),
      ("recorded-first-entry-id", .bulk(stream.first.text)),
      ("groups", .integer(0)),
      ("first-entry", all(false)),
      ("last-entry", all(true)),
    ]
    return .array(facts.flatMap { [.text($0.0), $0.1] })
  }
}

/// The tree in which Redis finds the nodes of a stream by the bytes of their first ids.
private enum RadixTree {
  /// - Parameter ids: in order.
  static func nodeCount(_ ids: [StreamID]) -> Int {
    if ids.isEmpty { return 1 }
    let keys = ids.map { id in
      [id.milliseconds, id.sequence].flatMap { number in
        (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * UInt64($0))) }
      }
    }
    return count(keys[...], from: 0)
  }

  /// The nodes of the keys that share all bytes up to here.
  private static func count(_ keys: ArraySlice<Bytes>, from start: Int) -> Int {
    guard let first = keys.first, let last = keys.last, start < first.count else { return 1 }
    // The keys are in order, so the first and the last one share as much as all.
    var shared = start
    while shared < first.count, first[shared] == last[shared] { shared += 1 }
    let prefix = shared > start ? 1 : 0
    if shared == first.count { return prefix + 1 }
    var (sum, at) = (prefix + 1, keys.startIndex)
    while at < keys.endIndex {
      let byte = keys[at][shared]
      let end = keys[at...].firstIndex { $0[shared] != byte } ?? keys.endIndex
      sum += count(keys[at..<end], from: shared + 1)
      at = end
    }
    return sum
  }
}
