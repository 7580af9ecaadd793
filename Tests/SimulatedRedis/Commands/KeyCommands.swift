/// Commands about keys of any kind, and strings.
enum KeyCommands {
  static let specs: [CommandSpec] = [
    CommandSpec("DEL", -2, .writes, .all, delete),
    CommandSpec("UNLINK", -2, .writes, .all, delete),
    CommandSpec("EXISTS", -2, [], .all, exists),
    CommandSpec("TYPE", 2, [], .first, type),
    CommandSpec("COPY", -3, .grows, .firstTwo, copy),
    CommandSpec("RENAME", 3, .writes, .firstTwo, rename),
    CommandSpec("PEXPIRE", -3, .writes, .first, expire),
    CommandSpec("PEXPIREAT", -3, .writes, .first, expireAt),
    CommandSpec("PERSIST", 2, .writes, .first, persist),
    CommandSpec("PTTL", 2, [], .first, timeToLive),
    CommandSpec("PEXPIRETIME", 2, [], .first, expireTime),
    CommandSpec("SCAN", -2, [], .none, scan),
    CommandSpec("DBSIZE", 1, [], .none, count),
    CommandSpec("FLUSHALL", -1, .writes, .none, flush),
    CommandSpec("GET", 2, [], .first, get),
    CommandSpec("GETDEL", 2, .writes, .first, getAndDelete),
    CommandSpec("SET", -3, .grows, .first, set),
  ]

  static func delete(_ call: CommandCall) -> SimulatedReply {
    var count = 0
    for key in call.arguments(from: 1) where call.findKey(key) != nil {
      call.redis.database.remove(key)
      count += 1
    }
    if count > 0 { call.noteChange() }
    return .integer(count)
  }

  static func exists(_ call: CommandCall) -> SimulatedReply {
    .integer(call.arguments(from: 1).count { call.findKey($0) != nil })
  }

  static func type(_ call: CommandCall) -> SimulatedReply {
    .status(Bytes((call.findKey(call.key)?.value.kind ?? "none").utf8))
  }

  static func copy(_ call: CommandCall) throws(CommandError) -> SimulatedReply {
    let target = call.arguments[2]
    var replaces = false
    for option in call.arguments(from: 3) {
      guard option.isWord("REPLACE") else { throw .syntax }
      replaces = true
    }
    if call.key == target { throw CommandError("ERR source and destination objects are the same") }
    guard let found = call.findKey(call.key) else { return .integer(0) }
    if call.findKey(target) != nil, !replaces { return .integer(0) }
    call.redis.database.put(target, found)
    call.noteChange()
    return .integer(1)
  }

  static func rename(_ call: CommandCall) throws(CommandError) -> SimulatedReply {
    guard let found = call.findKey(call.key) else { throw .noKey }
    if call.key == call.arguments[2] { return .ok }
    call.redis.database.remove(call.key)
    call.redis.database.put(call.arguments[2], found)
    call.noteChange()
    return .ok
  }

  static func scan(_ call: CommandCall) throws(CommandError) -> SimulatedReply {
    let (keys, next) = try ScanPage(call, cursorAt: 1).page(of: call.redis.database.scanOrder)
    return ScanPage.reply(keys.filter { call.findKey($0) != nil }.map { .bulk($0) }, next: next)
  }

  static func count(_ call: CommandCall) -> SimulatedReply { .integer(call.redis.database.keys.count) }

  static func flush(_ call: CommandCall) -> SimulatedReply {
    call.redis.database = Database(call.redis.options.limits)
    call.noteChange()
    return .ok
  }
}

// MARK: Expiry

extension KeyCommands {
  static func expire(_ call: CommandCall) throws(CommandError) -> SimulatedReply {
    let (time, isTooLarge) = try call.integer(2).addingReportingOverflow(call.redis.nowMilliseconds)
    if isTooLarge { throw CommandError("ERR invalid expire time in 'pexpire' command") }
    return try setExpiry(call, time)
  }

  static func expireAt(_ call: CommandCall) throws(CommandError) -> SimulatedReply {
    try setExpiry(call, call.integer(2))
  }

  private static func setExpiry(
    _ call: CommandCall, _ time: Int64
  ) throws(CommandError) -> SimulatedReply {
    var options: Set<String> = []
    for word in call.arguments(from: 3) {
      let option = String(decoding: word.uppercased, as: UTF8.self)
      guard ["NX", "XX", "GT", "LT"].contains(option) else {
        throw CommandError(Bytes("ERR Unsupported option ".utf8) + word)
      }
      options.insert(option)
    }
    guard let found = call.findKey(call.key) else { return .integer(0) }
    let known = found.expiresAt
    if options.contains("NX"), known != nil { return .integer(0) }
    if options.contains("XX"), known == nil { return .integer(0) }
    if options.contains("GT"), known.map({ time <= $0 }) ?? true { return .integer(0) }
    if options.contains("LT"), let known, time >= known { return .integer(0) }
    if time <= call.redis.nowMilliseconds, !call.redis.isReplaying {
      call.redis.database.remove(call.key)
      call.noteChange(as: [Bytes("DEL".utf8), call.key])
    } else {
      call.redis.database.setExpiry(call.key, time)
      call.noteChange(as: [Bytes("PEXPIREAT".utf8), call.key, Bytes(String(time).utf8)])
    }
    return .integer(1)
  }

  static func persist(_ call: CommandCall) -> SimulatedReply {
    guard call.findKey(call.key)?.expiresAt != nil else { return .integer(0) }
    call.redis.database.setExpiry(call.key, nil)
    call.noteChange()
    return .integer(1)
  }

  static func timeToLive(_ call: CommandCall) -> SimulatedReply {
    guard let found = call.findKey(call.key) else { return .integer(-2) }
    return .integer(found.expiresAt.map { max($0 - call.redis.nowMilliseconds, 0) } ?? -1)
  }

  static func expireTime(_ call: CommandCall) -> SimulatedReply {
    guard let found = call.findKey(call.key) else { return .integer(-2) }
    return .integer(found.expiresAt ?? -1)
  }
}

// MARK: Strings

extension KeyCommands {
  static func get(_ call: CommandCall) throws(CommandError) -> SimulatedReply {
    .optional(try call.read(StringValue.self, call.key)?.text)
  }

  static func getAndDelete(_ call: CommandCall) throws(CommandError) -> SimulatedReply {
    guard let value = try call.read(StringValue.self, call.key) else { return .null }
    call.redis.database.remove(call.key)
    call.noteChange(as: [Bytes("DEL".utf8), call.key])
    return .bulk(value.text)
  }

  static func set(_ call: CommandCall) throws(CommandError) -> SimulatedReply {
    let options = try SetOptions(call)
    let found = call.findKey(call.key)
    if options.isOnlyNew && found != nil || options.isOnlyPresent && found == nil { return .null }
    let expiresAt = options.keepsExpiry ? found?.expiresAt : options.expiresAt
    let value = StringValue(text: call.arguments[2])
    call.redis.database.put(call.key, Database.Key(value: .string(value), expiresAt: expiresAt))
    var words = call.arguments.prefix(3)
    if let time = options.expiresAt { words += [Bytes("PXAT".utf8), Bytes(String(time).utf8)] }
    if options.keepsExpiry { words.append(Bytes("KEEPTTL".utf8)) }
    call.noteChange(as: Array(words))
    return .ok
  }
}

/// The options of SET.
private struct SetOptions {
  var expiresAt: Int64?
  var isOnlyNew = false
  var isOnlyPresent = false
  var keepsExpiry = false

  init(_ call: CommandCall) throws(CommandError) {
    var (index, expiryPlace) = (3, Int?.none)
    while index < call.arguments.count {
      let word = call.arguments[index]
      index += 1
      if word.isWord("NX") {
        isOnlyNew = true
      } else if word.isWord("XX") {
        isOnlyPresent = true
      } else if word.isWord("KEEPTTL") {
        keepsExpiry = true
      } else {
        guard expiryPlace == nil, index < call.arguments.count, Self.units.contains(word.uppercased) else {
          throw .syntax
        }
        expiryPlace = index
        index += 1
      }
    }
    if isOnlyNew && isOnlyPresent || keepsExpiry && expiryPlace != nil { throw .syntax }
    guard let expiryPlace else { return }
    let unit = call.arguments[expiryPlace - 1]
    expiresAt = try Self.expiry(unit, try call.integer(expiryPlace), call.redis.nowMilliseconds)
  }

  private static let units = ["EX", "PX", "EXAT", "PXAT"].map { Bytes($0.utf8) }

  private static func expiry(
    _ unit: Bytes, _ number: Int64, _ now: Int64
  ) throws(CommandError) -> Int64 {
    let factor: Int64 = unit.isWord("EX") || unit.isWord("EXAT") ? 1_000 : 1
    let (milliseconds, isFactorTooLarge) = number.multipliedReportingOverflow(by: factor)
    let beginning = unit.isWord("EX") || unit.isWord("PX") ? now : 0
    let (time, isTooLarge) = milliseconds.addingReportingOverflow(beginning)
    if number <= 0 || isFactorTooLarge || isTooLarge {
      throw CommandError("ERR invalid expire time in 'set' command")
    }
    return time
  }
}
