package import BelfryModel
import BelfryRedis

// MARK: - Indexes of spaces

extension RedisStore {
  package func index(of account: AccountID) async throws(StoreError) -> [IndexEntry] {
    try await indexes(of: [account])[0]
  }

  /// Exact from the limit on; below it, what the index holds in all is near enough and costs one cheap
  /// command, even for the thousand accounts that may be added at once.
  package func spaceCounts(of accounts: [AccountID], in kind: SpaceKind) async throws(StoreError) -> [Int] {
    let commands = accounts.map { RedisCommand("HLEN", RedisLayout.spaces(of: $0)) }
    let replies = try await pipeline(commands, at: "space counts")
    var counts = try reading(at: "space counts") { () throws(RedisError) in
      try replies.map { reply throws(RedisError) in Int(try reply.integer()) }
    }
    let full = counts.indices.filter { counts[$0] >= limits.spacesPerAccount(kind) }
    let exact = try await indexes(of: full.map { accounts[$0] })
    for (position, index) in zip(full, exact) {
      counts[position] = index.count { $0.isMember && $0.space.kind == kind }
    }
    return counts
  }

  private func indexes(of accounts: [AccountID]) async throws(StoreError) -> [[IndexEntry]] {
    let commands = accounts.map { RedisCommand("HGETALL", RedisLayout.spaces(of: $0)) }
    let replies = try await pipeline(commands, at: "index")
    var indexes: [[IndexEntry]] = []
    for (account, reply) in zip(accounts, replies) {
      let place = "index of \(account)"
      let words = try reading(at: place) { () throws(RedisError) in
        try reply.array().map { word throws(RedisError) in try word.string() }
      }
      var index: [IndexEntry] = []
      for position in stride(from: 0, to: words.count - 1, by: 2) {
        guard let entry = IndexEntry(field: words[position], text: words[position + 1]) else {
          throw StoreError(.corrupt, words[position], at: place)
        }
        index.append(entry)
      }
      indexes.append(index.sorted { $0.space.key < $1.space.key })
    }
    return indexes
  }
}

extension IndexEntry {
  /// `<joined|left> <version> <addedAt>`
  fileprivate init?(field: String, text: String) {
    let words = text.split(separator: " ")
    guard words.count == 3, let kind = IndexChange.Kind(rawValue: String(words[0])),
      let space = SpaceID(key: field), let version = MessageID(streamForm: words[1]),
      let addedAt = MessageID(streamForm: words[2])
    else { return nil }
    self.init(space: space, isMember: kind == .joined, version: version, addedAt: addedAt)
  }
}

// MARK: - Read state

extension RedisStore {
  /// The set first: should a mark-read move ids from it under the watermark in between, they are found
  /// in both places instead of in neither.
  package func readState(of account: AccountID) async throws(StoreError) -> ReadState {
    let place = "read state of \(account)"
    let replies = try await pipeline(
      [
        RedisCommand("SMEMBERS", RedisLayout.read(of: account)),
        RedisCommand("HGET", RedisLayout.account(account), RedisLayout.watermarkField),
      ], at: place)
    return try reading(at: place) { () throws(RedisError) in
      let watermark = try replies[1].ifPresent?.decimalID() ?? .zero
      var state = ReadState(watermark: watermark)
      state.mark(try replies[0].array().map { reply throws(RedisError) in try reply.decimalID() })
      return state
    }
  }

  package func markRead(_ mark: ReadMark, by account: AccountID) async throws(StoreError) -> Int {
    let personal = SpaceID.personal(account)
    let echo = ReadEcho(items: mark.items, watermark: mark.watermark, upTo: mark.upTo, device: mark.device)
    var call = RedisCommand(calling: .markRead, in: personal.partition)
    call.append(account.text)
    call.append(LiveText.read(echo))
    call.append(watermark: mark.watermark)
    call.append(list: mark.items.map(\.text))
    // The account's own log has one reader. Which ids are from it only the log knows; the others of its
    // partition are not found there.
    call.append(list: mark.items.filter { $0.partition == personal.partition }.map(\.streamForm))
    call.append(list: mark.letters.map(\.key))
    let place = "mark read of \(account)"
    let reply = try await self.call(call, at: place)
    return try reading(at: place) { () throws(RedisError) in Int(try reply.integer()) }
  }

  package func compactReadState(of account: AccountID, to watermark: MessageID) async throws(StoreError) {
    var call = RedisCommand(calling: .compactRead, in: SpaceID.personal(account).partition)
    call.append(account.text)
    call.append(watermark: watermark)
    let place = "compact read state of \(account)"
    let reply = try await self.call(call, at: place)
    _ = try reading(at: place) { () throws(RedisError) in try reply.integer() }
  }
}

extension RedisCommand {
  /// The watermark, and the stream id after it, which Lua cannot compute: everything before that is read.
  fileprivate mutating func append(watermark: MessageID?) {
    append(watermark?.text ?? "")
    append(watermark.map { $0 < .last ? MessageID($0.raw + 1) ?? $0 : $0 }?.streamForm ?? "")
  }

  fileprivate mutating func append(list words: [String]) {
    append(words.count)
    append(contentsOf: words)
  }
}

extension RedisReply {
  fileprivate func decimalID() throws(RedisError) -> MessageID {
    guard let id = MessageID(decimalBytes: try bytes()[...]) else {
      throw RedisError(.unexpectedReply, cause: "wanted a message id", place: "reply")
    }
    return id
  }
}
