package import BelfryModel
import BelfryRedis

// The read state of accounts; `Functions/read.lua` describes its keys.
extension RedisStore {
  package func readStateAndPreferences(
    of account: AccountID
  ) async throws(StoreError) -> (read: ReadState, preferences: Preferences) {
    let place = "read state of \(account)"
    // The set first: a mark may move all of its ids under a watermark in between. Then the watermark is found.
    let commands = [
      RedisCommand("EXISTS", layout.read(of: account)), RedisCommand("HGETALL", layout.account(account)),
      preferencesCommand(account),
    ]
    let replies = try await pipeline(commands, isAwaited: true, at: place)
    let read = try reading(at: place) { () throws(RedisError) in
      var fields = ReadStateFields()
      let words = try replies[1].array()
      for index in stride(from: 0, to: words.count - 1, by: 2) {
        try fields.take(words[index].string(), words[index + 1])
      }
      var state = fields.state
      state.hasUnknownMarks = try replies[0].integer() > 0
      return state
    }
    return (read, try preferences(of: account, replies[2]))
  }

  package func singleMarks(
    of account: AccountID, after place: String?
  ) async throws(StoreError) -> (ids: [MessageID], next: String?) {
    let name = "marks of \(account)"
    let scan = RedisCommand("SSCAN", layout.read(of: account), place ?? "0", "COUNT", Self.marksPerPart)
    let reply = try await pipeline([scan], isAwaited: true, at: name)[0]
    return try reading(at: name) { () throws(RedisError) in
      let parts = try reply.array(count: 2)
      let ids = try parts[1].array().map { id throws(RedisError) in try id.decimalID() }
      let next = try parts[0].string()
      return (ids, next == "0" ? nil : next)
    }
  }

  /// Some fifty microseconds of Redis's time. A set in the form of an intset comes as a whole, up to 16,384 ids.
  private static let marksPerPart = 500

  package func readState(
    of account: AccountID, among ids: [MessageID]
  ) async throws(StoreError) -> ReadState {
    try await readStates(of: [account], among: ids)[0]
  }

  /// Reads the same for several accounts.
  func readStates(
    of accounts: [AccountID], among ids: [MessageID]
  ) async throws(StoreError) -> [ReadState] {
    if ids.isEmpty { return accounts.map { _ in ReadState() } }
    let question = ReadStateQuestion(ids)
    let replies = try await pipeline(
      accounts.flatMap { question.commands($0, layout) }, isAwaited: true, at: "read states")
    return try reading(at: "read states") { () throws(RedisError) in
      try accounts.indices.map { index throws(RedisError) in
        try question.state(replies.dropFirst(index * question.commandCount).prefix(question.commandCount))
      }
    }
  }

  package func accountState(
    of account: AccountID, among ids: [MessageID]
  ) async throws(StoreError) -> (index: [IndexEntry], read: ReadState, preferences: Preferences) {
    guard !ids.isEmpty else {
      let preferences = try await readStateAndPreferences(of: account).preferences
      return (try await index(of: account), ReadState(), preferences)
    }
    let question = ReadStateQuestion(ids)
    let commands = question.commands(account, layout) + [indexCommand(account), preferencesCommand(account)]
    let replies = try await pipeline(commands, isAwaited: true, at: "state of \(account)")
    let read = try reading(at: "read state of \(account)") { () throws(RedisError) in
      try question.state(replies.prefix(question.commandCount))
    }
    let others = Array(replies.dropFirst(question.commandCount))
    return (try index(of: account, others[0]), read, try preferences(of: account, others[1]))
  }

  private func preferencesCommand(_ account: AccountID) -> RedisCommand {
    let address = RecordAddress.preferences(of: account)
    return RedisCommand("HGET", layout.table(address.tableAddress), address.field)
  }

  private func preferences(of account: AccountID, _ reply: RedisReply) throws(StoreError) -> Preferences {
    let text = try reading(at: "preferences of \(account)") { () throws(RedisError) in
      try reply.ifPresent?.string()
    }
    return try Preferences(stored: text, of: account)
  }

  package func markRead(_ mark: ReadMark, by account: AccountID) async throws(StoreError) -> MarkOutcome {
    let home = layout.partition(of: account)
    var call = layout.call(.markRead, in: home, isGuarded: !redis.isSingle)
    call.append(account.text)
    call.append(mark.version)
    call.append(LiveText.read(mark.echo))
    call.append(list: mark.items.map(\.text))
    call.append(list: mark.covered.map(\.text))
    call.append(list: mark.watermarks.map(\.text))
    call.append(list: mark.caughtUp.map(\.key))
    // The log of the personal space has one reader, so its entries are deleted when they are marked. Only the log
    // knows which ids are its own: all that its partition may hold are passed to XDEL, which ignores the others.
    call.append(list: mark.items.filter { partitions.may(home, hold: $0) }.map(\.streamForm))
    // The updates of these entries are deleted with them.
    call.append(list: (mark.items + mark.covered).filter { partitions.may(home, hold: $0) }.map(\.text))
    call.append(list: mark.directMessages.map { "\($0.key)*\($1.streamForm)" }.sorted())
    let place = "mark read of \(account)"
    let reply = try await self.call(call, at: place)
    return try reading(at: place) { () throws(RedisError) in try MarkOutcome(reply) }
  }
}

extension MarkOutcome {
  /// `<count> <version>`, or `conflict`.
  fileprivate init(_ reply: RedisReply) throws(RedisError) {
    let words = try reply.string().split(separator: " ")
    if words == ["conflict"] {
      self = .conflict
    } else if words.count == 2, let count = Int(words[0]), let version = Int64(words[1]) {
      self = .marked(count, version: version)
    } else {
      throw RedisError(.unexpectedReply, cause: "expected the outcome of a mark", place: "reply")
    }
  }
}

/// A question about an account's read state by a caller that looks at a few entries.
struct ReadStateQuestion {
  private let ids: [MessageID]
  private let names: [String]

  init(_ ids: [MessageID]) {
    self.ids = ids
    names =
      ["version", "lagging"]
      + Set(ids.map { $0.partition }).map { ReadStateFields.watermarkPrefix + "\($0.number)" }
  }

  /// Ids in one command: some hundred microseconds of Redis's time, after which it serves others.
  private static let idsPerCommand = 1_000

  private var parts: [ArraySlice<MessageID>] {
    stride(from: 0, to: ids.count, by: Self.idsPerCommand).map { ids[$0...].prefix(Self.idsPerCommand) }
  }

  var commandCount: Int { parts.count + 1 }

  /// The set first: a mark that moves ids from it under a watermark in between leaves them in one of the answers.
  func commands(_ account: AccountID, _ layout: RedisLayout) -> [RedisCommand] {
    var commands = parts.map { part in
      var isMember = RedisCommand("SMISMEMBER", layout.read(of: account))
      isMember.append(contentsOf: part.map(\.text))
      return isMember
    }
    var fields = RedisCommand("HMGET", layout.account(account))
    fields.append(contentsOf: names)
    commands.append(fields)
    return commands
  }

  func state(_ replies: ArraySlice<RedisReply>) throws(RedisError) -> ReadState {
    var fields = ReadStateFields()
    for value in replies.suffix(1) {
      for (name, value) in zip(names, try value.array(count: names.count)) {
        if let value = value.ifPresent { try fields.take(name, value) }
      }
    }
    var state = fields.state
    for (part, areMembers) in zip(parts, replies) {
      for (id, reply) in zip(part, try areMembers.array(count: part.count)) where try reply.integer() == 1 {
        state.mark([id])
      }
    }
    return state
  }
}

/// The fields of an account's hash, one by one.
private struct ReadStateFields {
  static let watermarkPrefix = "w"

  private var watermarks: [MessageID] = []
  private var lagging: [SpaceID: MessageID] = [:]
  private var version: Int64 = 0

  var state: ReadState { ReadState(watermarks: watermarks, lagging: lagging, version: version) }

  mutating func take(_ name: String, _ value: RedisReply) throws(RedisError) {
    switch name {
    case "version": version = try value.string().asNumber()
    case "lagging":
      for word in try value.string().split(separator: " ") {
        let parts = word.split(separator: "*")
        guard parts.count == 2, let space = SpaceID(key: parts[0]), let id = MessageID(streamForm: parts[1])
        else { throw RedisError(.unexpectedReply, cause: "expected a space and an id", place: "lagging") }
        lagging[space] = id
      }
    default:
      if name.hasPrefix(Self.watermarkPrefix) { watermarks.append(try value.decimalID()) }
    }
  }
}

extension String {
  fileprivate func asNumber() throws(RedisError) -> Int64 {
    guard let number = Int64(self) else {
      throw RedisError(.unexpectedReply, cause: "expected a number", place: "reply")
    }
    return number
  }
}

extension RedisCommand {
  fileprivate mutating func append(list words: [String]) {
    append(words.count)
    append(contentsOf: words)
  }
}

extension RedisReply {
  fileprivate func decimalID() throws(RedisError) -> MessageID {
    guard let id = MessageID(decimalBytes: try bytes()) else {
      throw RedisError(.unexpectedReply, cause: "expected a message id", place: "reply")
    }
    return id
  }
}
