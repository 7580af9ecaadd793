enum SortedSetCommands {
  static let specs: [CommandSpec] = [
    CommandSpec("ZADD", -4, .grows, .first, add),
    CommandSpec("ZINCRBY", 4, .grows, .first, increase),
    CommandSpec("ZREM", -3, .writes, .first, remove),
    CommandSpec("ZCARD", 2, [], .first, count),
    CommandSpec("ZSCORE", 3, [], .first, score),
    CommandSpec("ZMSCORE", -3, [], .first, scores),
    CommandSpec("ZRANDMEMBER", -2, [], .first, random),
    CommandSpec("ZRANGE", -4, [], .first, SortedSetRanges.range),
    CommandSpec("ZRANGEBYSCORE", -4, [], .first, SortedSetRanges.byScore),
    CommandSpec("ZREVRANGEBYLEX", -4, [], .first, SortedSetRanges.reversedByText),
    CommandSpec("ZLEXCOUNT", 4, [], .first, SortedSetRanges.countByText),
  ]

  private struct AddOptions {
    var isOnlyNew = false
    var isOnlyPresent = false
    var isOnlyGreater = false
    var isOnlyLess = false
    var countsChanges = false

    /// Returns false if the word is no option.
    mutating func readOption(_ word: Bytes) -> Bool {
      if word.isWord("NX") {
        isOnlyNew = true
      } else if word.isWord("XX") {
        isOnlyPresent = true
      } else if word.isWord("GT") {
        isOnlyGreater = true
      } else if word.isWord("LT") {
        isOnlyLess = true
      } else if word.isWord("CH") {
        countsChanges = true
      } else {
        return false
      }
      return true
    }

    func check() throws(CommandError) {
      if isOnlyNew && isOnlyPresent {
        throw CommandError("ERR XX and NX options at the same time are not compatible")
      }
      if isOnlyGreater && (isOnlyNew || isOnlyLess) || isOnlyLess && isOnlyNew {
        throw CommandError("ERR GT, LT, and/or NX options at the same time are not compatible")
      }
    }

    func accepts(_ score: Double, over known: Double?) -> Bool {
      guard let known else { return !isOnlyPresent }
      return !(isOnlyNew || isOnlyGreater && score <= known || isOnlyLess && score >= known)
    }
  }

  static func add(_ call: CommandCall) throws(CommandError) -> SimulatedReply {
    var (options, index) = (AddOptions(), 2)
    while index < call.arguments.count, options.readOption(call.arguments[index]) { index += 1 }
    if index == call.arguments.count || (call.arguments.count - index) % 2 == 1 { throw .syntax }
    try options.check()
    var elements: [(score: Double, member: Bytes)] = []
    for place in stride(from: index, to: call.arguments.count, by: 2) {
      elements.append((try call.double(place), call.arguments[place + 1]))
    }
    let (added, changed) = try call.change(SortedSetValue.self, call.key) { set in
      var (added, changed) = (0, 0)
      for (score, member) in elements {
        let known = set.score(of: member)
        guard options.accepts(score, over: known) else { continue }
        if known == nil { added += 1 }
        if known != nil, known != score { changed += 1 }
        if known != score { set.set(member, score) }
      }
      return (added, changed)
    }
    if added + changed > 0 { call.noteChange() }
    return .integer(options.countsChanges ? added + changed : added)
  }

  static func increase(_ call: CommandCall) throws(CommandError) -> SimulatedReply {
    let more = try call.double(2)
    let sum = try call.change(SortedSetValue.self, call.key) { set throws(CommandError) in
      let sum = (set.score(of: call.arguments[3]) ?? 0) + more
      if sum.isNaN { throw CommandError("ERR resulting score is not a number (NaN)") }
      set.set(call.arguments[3], sum)
      return sum
    }
    call.noteChange()
    return .bulk(scoreText(sum))
  }

  static func remove(_ call: CommandCall) throws(CommandError) -> SimulatedReply {
    let removed = try call.changeIfPresent(SortedSetValue.self, call.key) { set in
      call.arguments(from: 2).count { set.remove($0) }
    }
    if let removed, removed > 0 { call.noteChange() }
    return .integer(removed ?? 0)
  }

  static func count(_ call: CommandCall) throws(CommandError) -> SimulatedReply {
    .integer(try call.read(SortedSetValue.self, call.key)?.count ?? 0)
  }

  static func score(_ call: CommandCall) throws(CommandError) -> SimulatedReply {
    .optional(try call.read(SortedSetValue.self, call.key)?.score(of: call.arguments[2]).map(scoreText))
  }

  static func scores(_ call: CommandCall) throws(CommandError) -> SimulatedReply {
    let set = try call.read(SortedSetValue.self, call.key)
    return .array(call.arguments(from: 2).map { .optional(set?.score(of: $0).map(scoreText)) })
  }

  static func random(_ call: CommandCall) throws(CommandError) -> SimulatedReply {
    if call.arguments.count == 2 {
      guard let set = try call.read(SortedSetValue.self, call.key) else { return .null }
      return .bulk(set.elements[call.redis.random.below(set.count)].member)
    }
    let count = try call.integer(2)
    let hasScores = call.arguments.count == 4 && call.arguments[3].isWord("WITHSCORES")
    if call.arguments.count > 3, !hasScores { throw .syntax }
    guard let set = try call.read(SortedSetValue.self, call.key) else { return .array([]) }
    // If all are wanted, Redis gives them from the last to the first.
    return reply(call.redis.random.pick(count, of: set.elements.reversed()), hasScores: hasScores)
  }

  static func reply(_ elements: [SortedSetValue.Element], hasScores: Bool) -> SimulatedReply {
    guard hasScores else { return .bulks(elements.map(\.member)) }
    return .array(elements.flatMap { [.bulk($0.member), .bulk(scoreText($0.score))] })
  }
}

/// A score as Redis writes it, with 17 digits at most.
func scoreText(_ score: Double) -> Bytes {
  if score.isInfinite { return Bytes((score < 0 ? "-inf" : "inf").utf8) }
  return LuaMachine.text(of: score)
}
