package import BelfryModel
import BelfryRedis

extension RedisStore {
  package func mailboxes(
    of accounts: [AccountID], writtenToBy sender: AccountID?
  ) async throws(StoreError) -> [MailboxLevel] {
    let commands = accounts.flatMap { account in
      [
        RedisCommand("XLEN", at: layout.log(.personal(account))),
        RedisCommand("HGET", layout.account(account), RedisLayout.directMessagesField),
      ] + (sender.map { [RedisCommand("HGET", layout.shares(at: account), $0.text)] } ?? [])
    }
    let replies = try await pipeline(commands, at: "mailboxes")
    return try reading(at: "mailboxes") { () throws(RedisError) in
      var levels: [MailboxLevel] = []
      for index in stride(from: 0, to: replies.count, by: sender == nil ? 2 : 3) {
        levels.append(
          MailboxLevel(
            entries: Int(try replies[index].integer()), directMessages: try replies[index + 1].count(),
            fromSender: sender == nil ? 0 : try replies[index + 2].count()))
      }
      return levels
    }
  }
}

extension RedisReply {
  /// A number that a hash keeps; nothing is none.
  fileprivate func count() throws(RedisError) -> Int {
    guard let present = ifPresent else { return 0 }
    guard let number = Int(try present.string()) else {
      throw RedisError(.unexpectedReply, cause: "expected a number", place: "reply")
    }
    return number
  }
}
