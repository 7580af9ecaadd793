enum HashCommands {
  static let specs: [CommandSpec] = [
    CommandSpec("HSET", -4, .grows, .first, set),
    CommandSpec("HSETNX", 4, .grows, .first, setIfMissing),
    CommandSpec("HGET", 3, [], .first, get),
    CommandSpec("HMGET", -3, [], .first, getMany),
    CommandSpec("HGETALL", 2, [], .first, getAll),
    CommandSpec("HKEYS", 2, [], .first, fields),
    CommandSpec("HLEN", 2, [], .first, count),
    CommandSpec("HEXISTS", 3, [], .first, exists),
    CommandSpec("HDEL", -3, .writes, .first, delete),
    CommandSpec("HINCRBY", 4, .grows, .first, increase),
    CommandSpec("HSCAN", -3, [], .first, scan),
    CommandSpec("HRANDFIELD", -2, [], .first, random),
  ]

  static func set(_ call: CommandCall) throws(CommandError) -> SimulatedReply {
    if call.arguments.count % 2 == 1 { throw .arity("hset") }
    let added = try call.change(HashValue.self, call.key) { hash in
      hash.prepare(for: call.arguments(from: 2))
      return stride(from: 2, to: call.arguments.count, by: 2).count {
        hash.set(call.arguments[$0], call.arguments[$0 + 1])
      }
    }
    call.noteChange()
    return .integer(added)
  }

  static func setIfMissing(_ call: CommandCall) throws(CommandError) -> SimulatedReply {
    let isNew = try call.change(HashValue.self, call.key) { hash in
      if hash[call.arguments[2]] != nil { return false }
      hash.prepare(for: call.arguments(from: 2))
      return hash.set(call.arguments[2], call.arguments[3])
    }
    if isNew { call.noteChange() }
    return .integer(isNew ? 1 : 0)
  }

  static func get(_ call: CommandCall) throws(CommandError) -> SimulatedReply {
    .optional(try call.read(HashValue.self, call.key)?[call.arguments[2]])
  }

  static func getMany(_ call: CommandCall) throws(CommandError) -> SimulatedReply {
    let hash = try call.read(HashValue.self, call.key)
    return .array(call.arguments(from: 2).map { .optional(hash?[$0]) })
  }

  static func getAll(_ call: CommandCall) throws(CommandError) -> SimulatedReply {
    guard let hash = try read(call) else { return .array([]) }
    return .array(pairs(hash, hash.fields))
  }

  static func fields(_ call: CommandCall) throws(CommandError) -> SimulatedReply {
    .bulks(try read(call)?.fields ?? [])
  }

  static func count(_ call: CommandCall) throws(CommandError) -> SimulatedReply {
    .integer(try call.read(HashValue.self, call.key)?.count ?? 0)
  }

  static func exists(_ call: CommandCall) throws(CommandError) -> SimulatedReply {
    .integer(try call.read(HashValue.self, call.key)?[call.arguments[2]] != nil ? 1 : 0)
  }

  static func delete(_ call: CommandCall) throws(CommandError) -> SimulatedReply {
    let removed = try call.changeIfPresent(HashValue.self, call.key) { hash in
      call.arguments(from: 2).count { hash.remove($0) }
    }
    if let removed, removed > 0 { call.noteChange() }
    return .integer(removed ?? 0)
  }

  static func increase(_ call: CommandCall) throws(CommandError) -> SimulatedReply {
    let more = try call.integer(3)
    let sum = try call.change(HashValue.self, call.key) { hash throws(CommandError) in
      let text = hash[call.arguments[2]] ?? Bytes("0".utf8)
      guard let number = text.integer else { throw CommandError("ERR hash value is not an integer") }
      let (sum, isTooLarge) = number.addingReportingOverflow(more)
      if isTooLarge { throw CommandError("ERR increment or decrement would overflow") }
      hash.set(call.arguments[2], Bytes(String(sum).utf8))
      return sum
    }
    call.noteChange()
    return .integer(sum)
  }

  static func scan(_ call: CommandCall) throws(CommandError) -> SimulatedReply {
    let page = try ScanPage(call, cursorAt: 2)
    guard let hash = try read(call) else { return ScanPage.reply([], next: 0) }
    // A list is scanned at once, however few elements are asked for.
    guard hash.isTable else {
      return ScanPage.reply(pairs(hash, page.matching(hash.fields)), next: 0)
    }
    let (fields, next) = page.page(of: hash.scanOrder)
    return ScanPage.reply(pairs(hash, fields), next: next)
  }

  static func random(_ call: CommandCall) throws(CommandError) -> SimulatedReply {
    if call.arguments.count == 2 {
      guard let hash = try read(call) else { return .null }
      return .bulk(hash.fields[call.redis.random.below(hash.count)])
    }
    let count = try call.integer(2)
    if call.arguments.count > 4 || call.arguments.count == 4 && !call.arguments[3].isWord("WITHVALUES") {
      throw .syntax
    }
    guard let hash = try read(call) else { return .array([]) }
    let fields = call.redis.random.pick(count, of: hash.fields)
    return call.arguments.count == 4 ? .array(pairs(hash, fields)) : .bulks(fields)
  }

  /// The hash, with the order of its fields made only once.
  private static func read(_ call: CommandCall) throws(CommandError) -> HashValue? {
    try call.changeIfPresent(HashValue.self, call.key) { hash in
      hash.keepOrder()
      return hash
    }
  }

  private static func pairs(_ hash: HashValue, _ fields: [Bytes]) -> [SimulatedReply] {
    fields.flatMap { [.bulk($0), .optional(hash[$0])] }
  }
}

extension RandomNumbers {
  /// Elements as HRANDFIELD and ZRANDMEMBER pick them: different ones, or, with a negative count, that many with repeats.
  mutating func pick<Element>(_ count: Int64, of elements: [Element]) -> [Element] {
    if count < 0 { return (0..<Int(-count)).map { _ in elements[below(elements.count)] } }
    guard count < elements.count else { return elements }
    var left = elements
    return (0..<Int(count)).map { _ in left.remove(at: below(left.count)) }
  }
}
