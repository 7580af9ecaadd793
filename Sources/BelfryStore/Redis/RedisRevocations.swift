package import BelfryModel
import BelfryRedis

/// Tokens of this account that were issued before this time, in milliseconds since 1970, are void.
package struct Revocation: Sendable, Hashable {
  package var account: AccountID
  package var before: Int64
}

/// The tokens that were revoked since a broker last asked.
package enum RevocationNews: Sendable, Hashable {
  case nothing
  case some([Revocation])
  /// There are more than are kept, or Redis has lost data: any token may be revoked.
  case unknown
}

extension RedisStore {
  /// The most revocations that are read at once. If there are more, any token may be revoked.
  static let revocationsAtOnce = 1_000
  private static let accountsPerCommand = 512

  /// Voids the tokens of an account. All brokers learn of it.
  package func revoke(_ revocation: Revocation) async throws(StoreError) {
    let calls = [
      layout.call(.revokeTokens, in: layout.partition(of: revocation.account)),
      layout.call(.announceRevocation, in: layout.brokersHome),
    ].map { call in
      var call = call
      call.append(revocation.account.text)
      call.append(revocation.before)
      return call
    }
    _ = try await checked(calls, at: "revoke")
  }

  /// For each account the time before which its tokens are void; nil if none are.
  package func revocations(of accounts: [AccountID]) async throws(StoreError) -> [Int64?] {
    let groups = Dictionary(grouping: accounts.indices) { layout.partition(of: accounts[$0]) }
      .flatMap { partition, places in
        stride(from: 0, to: places.count, by: Self.accountsPerCommand).map { first in
          (partition: partition, places: places[first..<min(first + Self.accountsPerCommand, places.count)])
        }
      }
    let commands = groups.map { group in
      var command = RedisCommand("ZMSCORE", layout.revoked(group.partition))
      for place in group.places { command.append(accounts[place].text) }
      return command
    }
    let replies = try await pipeline(commands, at: "revocations")
    var found = accounts.map { _ in Int64?.none }
    try reading(at: "revocations") { () throws(RedisError) in
      for (group, reply) in zip(groups, replies) {
        for (place, value) in zip(group.places, try reply.array(count: group.places.count)) {
          // A value that cannot be read was not written by a broker, and must not let anybody in.
          found[place] = try value.ifPresent.map { text throws(RedisError) in
            Int64(try text.string()) ?? .max
          }
        }
      }
    }
    return found
  }

  /// The tokens that were revoked since the last answer, and the place to go on from.
  /// - Parameter last: the place that the last answer gave; nil if it gave none.
  package func revocations(
    since last: String?
  ) async throws(StoreError) -> (news: RevocationNews, last: String?) {
    let key = layout.revocations
    let newest = try await entries(RedisCommand("XREVRANGE", key, "+", "-", "COUNT", 1)).first?.id
    if newest == last { return (.nothing, last) }
    let found = try await entries(
      RedisCommand("XRANGE", key, last ?? "-", "+", "COUNT", Self.revocationsAtOnce + 1))
    // The last one that was read is still there, so nothing between was trimmed or lost.
    guard last == nil || found.first?.id == last, found.count <= Self.revocationsAtOnce, let end = found.last
    else { return (.unknown, newest) }
    let new = found.dropFirst(last == nil ? 0 : 1)
    let revocations = new.compactMap(\.revocation)
    // An entry that cannot be read may be about any account.
    return (revocations.count == new.count ? .some(revocations) : .unknown, end.id)
  }

  private func entries(
    _ command: RedisCommand
  ) async throws(StoreError) -> [(id: String, revocation: Revocation?)] {
    let place = "revocations"
    let reply = try await pipeline([command], at: place)[0]
    return try reading(at: place) { () throws(RedisError) in
      var entries: [(id: String, revocation: Revocation?)] = []
      for entry in try reply.array() {
        let parts = try entry.array(count: 2)
        let fields = try parts[1].array()
        var revocation: Revocation?
        if fields.count == 4, let account = AccountID(try fields[1].string()),
          let before = Int64(try fields[3].string())
        {
          revocation = Revocation(of: account, before: before)
        }
        entries.append((try parts[0].string(), revocation))
      }
      return entries
    }
  }
}

extension Revocation {
  package init(of account: AccountID, before: Int64) {
    self.account = account
    self.before = before
  }
}

extension RedisLayout {
  /// Sorted set: by account the time before which its tokens are void.
  func revoked(_ partition: Partition) -> String { prefix(partition) + "revoked" }

  /// One stream for all accounts, so that a broker asks for one thing.
  fileprivate var revocations: String { prefix(brokersHome) + "revocations" }
}
