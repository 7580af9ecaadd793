package import BelfryModel
import BelfryRedis

// MARK: - Indexes of spaces

extension RedisStore {
  package func index(of account: AccountID) async throws(StoreError) -> [IndexEntry] {
    try await indexes(of: [account])[0]
  }

  /// Exact from half the limit on. Below it the size of the whole index is answered, which is never too low and takes one
  /// cheap command, even for the thousand accounts that may be added at once.
  package func spaceCounts(of accounts: [AccountID], in kind: SpaceKind) async throws(StoreError)
    -> [SpaceCount]
  {
    let commands = accounts.map { RedisCommand("HLEN", layout.spaces(of: $0)) }
    let replies = try await pipeline(commands, at: "space counts")
    var counts = try reading(at: "space counts") { () throws(RedisError) in
      try replies.map { reply throws(RedisError) in
        let all = Int(try reply.integer())
        return SpaceCount(current: all, known: all)
      }
    }
    let full = counts.indices.filter { counts[$0].known >= limits.forcedSpacesPerAccount(kind) }
    let exact = try await indexes(of: full.map { accounts[$0] })
    for (position, index) in zip(full, exact) {
      counts[position] = SpaceCount(of: kind, in: index)
    }
    return counts
  }

  package func areMembers(
    _ accounts: [AccountID], in spaces: [SpaceID]
  ) async throws(StoreError) -> [Bool] {
    if spaces.isEmpty { return accounts.map { _ in false } }
    let commands = accounts.map { account in
      var command = RedisCommand("HMGET", layout.spaces(of: account))
      command.append(contentsOf: spaces.map(\.key))
      return command
    }
    let replies = try await pipeline(commands, at: "members")
    return try reading(at: "members") { () throws(RedisError) in
      try replies.map { reply throws(RedisError) in
        var isMember = false
        for field in try reply.array(count: spaces.count) {
          guard let text = try field.ifPresent?.bytes() else { continue }
          isMember = isMember || text.starts(with: "joined".utf8)
        }
        return isMember
      }
    }
  }

  private func indexes(of accounts: [AccountID]) async throws(StoreError) -> [[IndexEntry]] {
    let replies = try await pipeline(accounts.map(indexCommand), isAwaited: true, at: "index")
    var indexes: [[IndexEntry]] = []
    for (account, reply) in zip(accounts, replies) { indexes.append(try index(of: account, reply)) }
    return indexes
  }

  func indexCommand(_ account: AccountID) -> RedisCommand {
    RedisCommand("HGETALL", layout.spaces(of: account))
  }

  func index(of account: AccountID, _ reply: RedisReply) throws(StoreError) -> [IndexEntry] {
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
    return index
  }

  /// One command per space in which the account is a member, as it nearly always is. For the others roster and former
  /// members are read as of one moment, or an account that joins in between would be found in neither. Some spaces at a
  /// time, since there may be thousands and all callers share the limit of a pipeline.
  package func memberRecords(
    of account: AccountID, in spaces: [SpaceID]
  ) async throws(StoreError) -> [MemberRecord?] {
    var records: [MemberRecord?] = []
    records.reserveCapacity(spaces.count)
    var first = 0
    while first < spaces.count {
      let last = min(first + Self.memberRecordsAtOnce, spaces.count)
      records += try await memberRecordsAtOnce(of: account, in: spaces[first..<last])
      first = last
    }
    return records
  }

  private static let memberRecordsAtOnce = 512

  private func memberRecordsAtOnce(
    of account: AccountID, in some: ArraySlice<SpaceID>
  ) async throws(StoreError) -> [MemberRecord?] {
    let spaces = Array(some)
    let place = "member records of \(account)"
    let commands = spaces.map { space in
      var command = RedisCommand("HGET", at: layout.table(TableAddress(space, .roster)))
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

// MARK: - Invitations

extension RedisStore {
  package func invitations(to account: AccountID) async throws(StoreError) -> [InvitationPlace] {
    let place = "invitations of \(account)"
    let command = RedisCommand("HGETALL", layout.invitations(to: account))
    let replies = try await pipeline([command], isAwaited: true, at: place)
    return try reading(at: place) { () throws(RedisError) in
      var (list, reader) = (InvitationList(), try replies[0].array().reader)
      for _ in 0..<(try replies[0].array().count) / 2 {
        let (field, text) = (try reader.bytes(), try reader.bytes())
        guard let place = InvitationPlace(text: String(decoding: field, as: UTF8.self)),
          let version = MessageID(streamBytes: text)
        else { throw RedisError(.unexpectedReply, cause: "expected an invitation", place: "reply") }
        list.add(place, at: version)
      }
      return list.places
    }
  }
}

extension SpaceCount {
  init(of kind: SpaceKind, in index: [IndexEntry]) {
    let known = index.filter { $0.space.kind == kind }
    self.init(current: known.count { $0.isMember }, known: known.count)
  }
}

extension IndexEntry {
  /// `<joined|left>[ <version> <addedAt>]+`: the state, and the earlier states, the latest first.
  init?(field: ArraySlice<UInt8>, text: ArraySlice<UInt8>) {
    var words = Words(rest: text)
    guard let kind = IndexChange.Kind(rawValue: String(decoding: words.next() ?? [], as: UTF8.self)),
      let space = SpaceID(keyBytes: field), let state = Self.takeState(from: &words)
    else { return nil }
    self.init(space: space, isMember: kind == .joined, state: state)
    while !words.rest.isEmpty {
      guard let state = Self.takeState(from: &words) else { return nil }
      earlier.append(state)
    }
  }

  private static func takeState(from words: inout Words) -> State? {
    guard let version = words.next().flatMap({ MessageID(streamBytes: $0) }),
      let addedAt = words.next().flatMap({ MessageID(streamBytes: $0) })
    else { return nil }
    return State(version: version, addedAt: addedAt)
  }
}
