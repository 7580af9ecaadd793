import BelfryFeed
import BelfryModel
import BelfryStore
import ModelSamples

/// An entry, where it stands, and whether an account sees it.
struct Seen {
  var space: SpaceID
  var entry: LogEntry
  var visibility: Visibility
  var id: MessageID { entry.id }
}

// The feed of an account in the plainest form: every entry of every space in its index, judged.
extension World {
  func feed(of account: AccountID) async throws -> [Seen] {
    let read = try await store.wholeReadState(of: account)
    let spaces =
      try await store.index(of: account).map(\.space).sorted { $0.key < $1.key } + [.personal(account)]
    let logs = try await wholeLogs(of: spaces)
    learn(logs.last ?? [])
    let memberships = try await memberships(of: account, in: spaces)
    let now = try await store.nowMilliseconds()
    let preferences = try await store.records([.preferences(of: account)]).preferences(of: account)
    var feed: [Seen] = []
    for (space, (log, membership)) in zip(spaces, zip(logs, memberships)) {
      feed += log.filter { $0.updates == nil }.map { entry in
        Seen(
          space: space, entry: entry,
          visibility: Visibility.of(
            entry.id, entry.audience, type: entry.type, isRecalled: entry.isRecalled, in: space, for: account,
            membership: membership, read: read, preferences: preferences, retentionFloor: .zero,
            nowMilliseconds: now))
      }
    }
    return feed
  }

  /// The entries that the account sees, in the order in which they were sent.
  func visible(to account: AccountID) async throws -> [Seen] {
    let seen = try await feed(of: account).filter(\.visibility.isVisible)
    let numbers = try seen.map { try number(of: $0.id) }
    return zip(numbers, seen).sorted { $0.0 < $1.0 }.map(\.1)
  }

  /// The unread entries, as they are counted for clients. They are those that the account sees, once indexes
  /// know of all spaces.
  func counts(of account: AccountID, isRelayed: Bool) async throws -> String {
    let snapshot = try await FeedSnapshot.take(of: account, from: store)
    let scan = FeedScan(snapshot, at: nil, retentionFloor: beginning, in: store)
    var count = UnreadCount()
    while let found = try await scan.next() { count.add(found, of: scan) }
    var visible = UnreadCounts()
    for seen in try await self.visible(to: account) { visible.add(seen.entry, in: seen.space) }
    guard !isRelayed || count.counts == visible else {
      throw Broken("\(account) is told \(count.counts), and sees \(visible)")
    }
    return String(decoding: count.counts.json, as: UTF8.self)
  }

  func wholeLogs(of spaces: [SpaceID]) async throws -> [[LogEntry]] {
    try await store.entries(spaces.map { LogRequest($0, after: .zero, limit: 1_000_000) })
  }

  func memberships(of account: AccountID, in spaces: [SpaceID]) async throws -> [Membership] {
    func addresses(_ space: SpaceID) -> [RecordAddress] {
      [.member(account, of: space), .former(account, of: space)]
    }
    let rosters: Set<SpaceKind> = [.server, .group, .room]
    let records = try await store.records(spaces.filter { rosters.contains($0.kind) }.flatMap(addresses))
    var memberships: [Membership] = []
    for space in spaces {
      guard rosters.contains(space.kind) else {
        memberships.append(.always)
        continue
      }
      let texts = addresses(space).compactMap { records.text($0) }
      guard texts.count <= 1 else { throw Broken("\(account) is and was a member of \(space)") }
      let record = texts.first.map { MemberRecord(text: $0) }
      if case .some(nil) = record { throw Broken("\(account) of \(space) is \(texts)") }
      memberships.append(record.flatMap(\.self)?.membership ?? .never)
    }
    return memberships
  }
}
