enum SetCommands {
  static let specs: [CommandSpec] = [
    CommandSpec("SADD", -3, .grows, .first, add),
    CommandSpec("SREM", -3, .writes, .first, remove),
    CommandSpec("SCARD", 2, [], .first, count),
    CommandSpec("SISMEMBER", 3, [], .first, isMember),
    CommandSpec("SMISMEMBER", -3, [], .first, areMembers),
    CommandSpec("SMEMBERS", 2, [], .first, members),
    CommandSpec("SSCAN", -3, [], .first, scan),
  ]

  static func add(_ call: CommandCall) throws(CommandError) -> SimulatedReply {
    let added = try call.change(SetValue.self, call.key) { set in
      call.arguments(from: 2).count { set.insert($0) }
    }
    if added > 0 { call.noteChange() }
    return .integer(added)
  }

  static func remove(_ call: CommandCall) throws(CommandError) -> SimulatedReply {
    let removed = try call.changeIfPresent(SetValue.self, call.key) { set in
      call.arguments(from: 2).count { set.remove($0) }
    }
    if let removed, removed > 0 { call.noteChange() }
    return .integer(removed ?? 0)
  }

  static func count(_ call: CommandCall) throws(CommandError) -> SimulatedReply {
    .integer(try call.read(SetValue.self, call.key)?.count ?? 0)
  }

  static func isMember(_ call: CommandCall) throws(CommandError) -> SimulatedReply {
    .integer(try call.read(SetValue.self, call.key)?.contains(call.arguments[2]) == true ? 1 : 0)
  }

  static func areMembers(_ call: CommandCall) throws(CommandError) -> SimulatedReply {
    let set = try call.read(SetValue.self, call.key)
    return .array(call.arguments(from: 2).map { .integer(set?.contains($0) == true ? 1 : 0) })
  }

  static func members(_ call: CommandCall) throws(CommandError) -> SimulatedReply {
    .bulks(try call.read(SetValue.self, call.key)?.members ?? [])
  }

  static func scan(_ call: CommandCall) throws(CommandError) -> SimulatedReply {
    let page = try ScanPage(call, cursorAt: 2)
    let found = try call.changeIfPresent(SetValue.self, call.key) { set in
      set.keepOrder()
      return set
    }
    guard let set = found else { return ScanPage.reply([], next: 0) }
    guard set.isTable else {
      return ScanPage.reply(page.matching(set.members).map { .bulk($0) }, next: 0)
    }
    let (members, next) = page.page(of: set.scanOrder)
    return ScanPage.reply(members.map { .bulk($0) }, next: next)
  }
}
