/// Ranges of sorted sets, by place, score or text.
enum SortedSetRanges {
  static func range(_ call: CommandCall) throws(CommandError) -> SimulatedReply {
    let options = try RangeOptions(call, isNewForm: true)
    return try reply(call, options)
  }

  static func byScore(_ call: CommandCall) throws(CommandError) -> SimulatedReply {
    var options = try RangeOptions(call, isNewForm: false)
    options.order = .score
    return try reply(call, options)
  }

  static func reversedByText(_ call: CommandCall) throws(CommandError) -> SimulatedReply {
    var options = try RangeOptions(call, isNewForm: false)
    (options.order, options.isReversed) = (.text, true)
    return try reply(call, options)
  }

  static func countByText(_ call: CommandCall) throws(CommandError) -> SimulatedReply {
    let (low, high) = (try TextBound(call.arguments[2]), try TextBound(call.arguments[3]))
    let elements = try call.read(SortedSetValue.self, call.key)?.elements ?? []
    return .integer(byText(elements, low, high, isReversed: false).count)
  }

  /// The elements in the order of the reply. If they have several scores, their texts have no order, and the range ends at the
  /// first element beyond it.
  private static func byText(
    _ elements: [SortedSetValue.Element], _ low: TextBound, _ high: TextBound, isReversed: Bool
  ) -> [SortedSetValue.Element] {
    guard let first = elements.first, let last = elements.last, low.isBelow(last.member),
      high.isAbove(first.member)
    else { return [] }
    if isReversed {
      let beginning = elements.reversed().drop { !high.isAbove($0.member) }
      return Array(beginning.prefix { low.isBelow($0.member) })
    }
    let beginning = elements.drop { !low.isBelow($0.member) }
    return Array(beginning.prefix { high.isAbove($0.member) })
  }

  private static func reply(
    _ call: CommandCall, _ options: RangeOptions
  ) throws(CommandError) -> SimulatedReply {
    let (start, end) = options.isReversed ? (3, 2) : (2, 3)
    let inOrder: [SortedSetValue.Element]
    switch options.order {
    case .place: return try byPlace(call, options)
    case .score:
      let low = try ScoreBound(call.arguments[start])
      let high = try ScoreBound(call.arguments[end])
      let set = try call.read(SortedSetValue.self, call.key)
      let elements = set?.elements.filter { low.isBelow($0.score) && high.isAbove($0.score) } ?? []
      inOrder = options.isReversed ? elements.reversed() : elements
    case .text:
      let low = try TextBound(call.arguments[start])
      let high = try TextBound(call.arguments[end])
      let set = try call.read(SortedSetValue.self, call.key)
      inOrder = byText(set?.elements ?? [], low, high, isReversed: options.isReversed)
    }
    guard options.skip >= 0 else { return .array([]) }
    let rest = inOrder.dropFirst(options.skip)
    let page = options.most < 0 ? Array(rest) : Array(rest.prefix(options.most))
    return SortedSetCommands.reply(page, hasScores: options.hasScores)
  }

  private static func byPlace(
    _ call: CommandCall, _ options: RangeOptions
  ) throws(CommandError) -> SimulatedReply {
    var (start, end) = (Int(try call.integer(2)), Int(try call.integer(3)))
    guard let set = try call.read(SortedSetValue.self, call.key) else { return .array([]) }
    if start < 0 { start = max(start + set.count, 0) }
    if end < 0 { end += set.count }
    end = min(end, set.count - 1)
    guard start <= end, start < set.count else { return .array([]) }
    let inOrder = options.isReversed ? set.elements.reversed() : set.elements
    return SortedSetCommands.reply(Array(inOrder[start...end]), hasScores: options.hasScores)
  }
}

/// The options of a range.
private struct RangeOptions {
  enum Order {
    case place, score, text
  }

  var order = Order.place
  var isReversed = false
  var hasScores = false
  var skip = 0
  /// The number of elements; a negative one stands for all.
  var most = -1

  init(_ call: CommandCall, isNewForm: Bool) throws(CommandError) {
    var (index, isLimited) = (4, false)
    while index < call.arguments.count {
      let word = call.arguments[index]
      index += 1
      if word.isWord("WITHSCORES") {
        hasScores = true
      } else if word.isWord("LIMIT"), index + 1 < call.arguments.count {
        (skip, most) = (Int(clamping: try call.integer(index)), Int(clamping: try call.integer(index + 1)))
        isLimited = true
        index += 2
      } else if isNewForm, word.isWord("BYSCORE") {
        order = .score
      } else if isNewForm, word.isWord("BYLEX") {
        order = .text
      } else if isNewForm, word.isWord("REV") {
        isReversed = true
      } else {
        throw .syntax
      }
    }
    if isNewForm, isLimited, order == .place {
      throw CommandError(
        "ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX")
    }
    if order == .text, hasScores {
      throw CommandError("ERR syntax error, WITHSCORES not supported in combination with BYLEX")
    }
  }
}

private struct ScoreBound {
  private let score: Double
  private let isExcluded: Bool

  init(_ text: Bytes) throws(CommandError) {
    isExcluded = text.first == UInt8(ascii: "(")
    guard let score = (isExcluded ? Bytes(text.dropFirst()) : text).double else {
      throw CommandError("ERR min or max is not a float")
    }
    self.score = score
  }

  func isBelow(_ other: Double) -> Bool { isExcluded ? score < other : score <= other }
  func isAbove(_ other: Double) -> Bool { isExcluded ? score > other : score >= other }
}

private enum TextBound {
  case first, last
  case including(Bytes)
  case excluding(Bytes)

  init(_ text: Bytes) throws(CommandError) {
    switch text.first {
    case UInt8(ascii: "-") where text.count == 1: self = .first
    case UInt8(ascii: "+") where text.count == 1: self = .last
    case UInt8(ascii: "["): self = .including(Bytes(text.dropFirst()))
    case UInt8(ascii: "("): self = .excluding(Bytes(text.dropFirst()))
    default: throw CommandError("ERR min or max not valid string range item")
    }
  }

  func isBelow(_ text: Bytes) -> Bool {
    switch self {
    case .first: true
    case .last: false
    case .including(let bound): !text.precedes(bound)
    case .excluding(let bound): bound.precedes(text)
    }
  }

  func isAbove(_ text: Bytes) -> Bool {
    switch self {
    case .first: false
    case .last: true
    case .including(let bound): !bound.precedes(text)
    case .excluding(let bound): text.precedes(bound)
    }
  }
}
