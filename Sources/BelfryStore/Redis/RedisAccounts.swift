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
      let words = try reading(at: place) { () throws(RedisError) in try reply.array() }
      var reader = words.reader
      var index: [IndexEntry] = []
      index.reserveCapacity(words.count / 2)
      for _ in 0..<words.count / 2 {
        let (field, text) = try reading(at: place) { () throws(RedisError) in
          (try reader.bytes(), try reader.bytes())
        }
        guard let entry = IndexEntry(field: field, text: text) else {
          throw StoreError(.corrupt, String(decoding: field, as: UTF8.self), at: place)
        }
        index.append(entry)
      }
      indexes.append(index)
    }
    return indexes
  }

  /// One command per space for as long as the account belongs there, as it nearly always does. Elsewhere both
  /// tables are asked, as of one moment: an account that comes back in between would be found in neither.
  package func memberRecords(
    of account: AccountID, in spaces: [SpaceID]
  ) async throws(StoreError) -> [MemberRecord?] {
    let place = "member records of \(account)"
    let commands = spaces.map { space in
      var command = RedisCommand("HGET", at: RedisLayout.table(TableAddress(space, .roster)))
      command.append(account.text)
      return command
    }
    let replies = try await pipeline(commands, at: place)
    var members = try reading(at: place) { () throws(RedisError) in
      try replies.map { reply throws(RedisError) in try reply.ifPresent?.bytes() }
    }.map { $0.flatMap { MemberRecord(bytes: $0) } }
    let absent = members.indices.filter { members[$0] == nil }
    if absent.isEmpty { return members }
    let asked = absent.map {
      [RecordAddress.member(account, of: spaces[$0]), .former(account, of: spaces[$0])]
    }
    let found = try await records(asked.flatMap(\.self))
    for (index, addresses) in zip(absent, asked) {
      members[index] =
        addresses.lazy.compactMap { found.text($0) }.compactMap { MemberRecord(text: $0) }.first
    }
    return members
  }
}

extension IndexEntry {
  /// `<joined|left>[ <version> <addedAt>]+`: what is known now, and what was before, the latest first.
  fileprivate init?(field: ArraySlice<UInt8>, text: ArraySlice<UInt8>) {
    let end = text.firstIndex(of: Self.blank) ?? text.endIndex
    var rest = text[end...]
    guard let kind = Self.kinds.first(where: { $0.word == text[..<end] })?.kind,
      let space = SpaceID(keyBytes: field), let known = Self.takeKnowledge(from: &rest)
    else { return nil }
    self.init(space: space, isMember: kind == .joined, known: known)
    while !rest.isEmpty {
      guard let known = Self.takeKnowledge(from: &rest) else { return nil }
      earlier.append(known)
    }
  }

  private static func takeKnowledge(from text: inout ArraySlice<UInt8>) -> Knowledge? {
    guard let version = takeID(from: &text), let addedAt = takeID(from: &text) else { return nil }
    return Knowledge(version: version, addedAt: addedAt)
  }

  private static func takeID(from text: inout ArraySlice<UInt8>) -> MessageID? {
    guard text.first == blank else { return nil }
    text.removeFirst()
    let end = text.firstIndex(of: blank) ?? text.endIndex
    defer { text = text[end...] }
    return MessageID(streamBytes: text[..<end])
  }

  private static let blank = UInt8(ascii: " ")

  private static let kinds = IndexChange.Kind.allCases.map { (word: ArraySlice($0.rawValue.utf8), kind: $0) }
}

// MARK: - Read state

extension RedisStore {
  /// The set first: should a mark-read move ids from it under the watermark in between, they are found
  /// in both places instead of in neither.
  package func readState(of account: AccountID) async throws(StoreError) -> ReadState {
    let place = "read state of \(account)"
    let replies = try await pipeline(
      [RedisCommand("SMEMBERS", RedisLayout.read(of: account)), watermarkCommand(of: account)], at: place)
    return try reading(at: place) { () throws(RedisError) in
      var state = ReadState(watermark: try replies[1].watermark())
      for reply in try replies[0].array() { state.mark(try reply.decimalID()) }
      return state
    }
  }

  package func readState(
    of account: AccountID, among ids: [MessageID]
  ) async throws(StoreError) -> ReadState {
    if ids.isEmpty { return ReadState() }
    let place = "read state of \(account)"
    var isMember = RedisCommand("SMISMEMBER", RedisLayout.read(of: account))
    for id in ids { isMember.append(id.text) }
    let replies = try await pipeline([isMember, watermarkCommand(of: account)], at: place)
    return try reading(at: place) { () throws(RedisError) in
      var state = ReadState(watermark: try replies[1].watermark())
      for (id, reply) in zip(ids, try replies[0].array(count: ids.count)) where try reply.integer() == 1 {
        state.mark(id)
      }
      return state
    }
  }

  private func watermarkCommand(of account: AccountID) -> RedisCommand {
    RedisCommand("HGET", RedisLayout.account(account), RedisLayout.watermarkField)
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
  fileprivate func watermark() throws(RedisError) -> MessageID { try ifPresent?.decimalID() ?? .zero }

  fileprivate func decimalID() throws(RedisError) -> MessageID {
    guard let id = MessageID(decimalBytes: try bytes()) else {
      throw RedisError(.unexpectedReply, cause: "wanted a message id", place: "reply")
    }
    return id
  }
}
