package import BelfryModel
import BelfryRedis

// The read state of accounts; `Functions/read.lua` describes its keys.
extension RedisStore {
  /// Reads the set first: if a mark moves ids from it under a watermark in between, they are found in both
  /// places instead of in neither.
  package func readState(of account: AccountID) async throws(StoreError) -> ReadState {
    let place = "read state of \(account)"
    return try readState(
      try await pipeline(readStateCommands(account), isAwaited: true, at: place), at: place)
  }

  package func readStateAndPreferences(
    of account: AccountID
  ) async throws(StoreError) -> (read: ReadState, preferences: Preferences) {
    let place = "read state of \(account)"
    let replies = try await pipeline(
      readStateCommands(account) + [preferencesCommand(account)], isAwaited: true, at: place)
    return (try readState(replies, at: place), try preferences(of: account, replies[2]))
  }

  private func readStateCommands(_ account: AccountID) -> [RedisCommand] {
    [RedisCommand("SMEMBERS", layout.read(of: account)), RedisCommand("HGETALL", layout.account(account))]
  }

  private func readState(_ replies: [RedisReply], at place: String) throws(StoreError) -> ReadState {
    try reading(at: place) { () throws(RedisError) in
      var fields = ReadStateFields()
      let words = try replies[1].array()
      for index in stride(from: 0, to: words.count - 1, by: 2) {
        try fields.take(words[index].string(), words[index + 1])
      }
      var state = fields.state
      state.mark(try replies[0].array().map { reply throws(RedisError) in try reply.decimalID() })
      return state
    }
  }

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
      try stride(from: 0, to: replies.count, by: 2).map { index throws(RedisError) in
        try question.state(replies[index], replies[index + 1])
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
      try question.state(replies[0], replies[1])
    }
    return (try index(of: account, replies[2]), read, try preferences(of: account, replies[3]))
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
    call.append(list: mark.directMessages.map(\.key))
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
private struct ReadStateQuestion {
  private let ids: [MessageID]
  private let texts: [String]
  private let names: [String]

  init(_ ids: [MessageID]) {
    self.ids = ids
    texts = ids.map(\.text)
    names =
      ["version", "lagging"]
      + Set(ids.map { $0.partition }).map { ReadStateFields.watermarkPrefix + "\($0.number)" }
  }

  func commands(_ account: AccountID, _ layout: RedisLayout) -> [RedisCommand] {
    var isMember = RedisCommand("SMISMEMBER", layout.read(of: account))
    isMember.append(contentsOf: texts)
    var fields = RedisCommand("HMGET", layout.account(account))
    fields.append(contentsOf: names)
    return [isMember, fields]
  }

  func state(_ areMembers: RedisReply, _ values: RedisReply) throws(RedisError) -> ReadState {
    var fields = ReadStateFields()
    for (name, value) in zip(names, try values.array(count: names.count)) {
      if let value = value.ifPresent { try fields.take(name, value) }
    }
    var state = fields.state
    for (id, reply) in zip(ids, try areMembers.array(count: ids.count)) where try reply.integer() == 1 {
      state.mark([id])
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
