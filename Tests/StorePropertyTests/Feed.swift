import BelfryModel
import BelfryStore

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
    let read = try await store.readState(of: account)
    let spaces =
      try await store.index(of: account).map(\.space).sorted { $0.key < $1.key } + [.personal(account)]
    let logs = try await store.entries(spaces.map { LogRequest($0, after: .zero, limit: 1_000_000) })
    var feed: [Seen] = []
    for (space, log) in zip(spaces, logs) {
      let standing = try await standing(of: account, in: space)
      feed += log.map { entry in
        Seen(
          space: space, entry: entry,
          visibility: Visibility.of(
            entry.id, entry.audience, for: account, standing: standing, read: read, retentionFloor: .zero))
      }
    }
    return feed
  }

  /// What the account sees, in the order in which it was sent.
  func visible(to account: AccountID) async throws -> [Seen] {
    let seen = try await feed(of: account).filter(\.visibility.isVisible)
    let numbers = try seen.map { try number(of: $0.id) }
    return zip(numbers, seen).sorted { $0.0 < $1.0 }.map(\.1)
  }

  func standing(of account: AccountID, in space: SpaceID) async throws -> Standing {
    guard space.kind == .server else { return .owner }
    let addresses = [RecordAddress.member(account, of: space), .former(account, of: space)]
    let records = try await store.records(addresses)
    let texts = addresses.compactMap { records.text($0) }
    guard texts.count <= 1 else { throw Broken("\(account) is and was a member of \(space)") }
    guard let text = texts.first else { return .stranger }
    guard let record = MemberRecord(text: text) else { throw Broken("\(account) of \(space) is \(text)") }
    return record.standing
  }
}
