/// What a request costs the account that makes it, as data beside its route: how much it causes, not that it was made.
///
/// An account is served while it is not in debt, and pays what its requests turn out to cause afterwards: a send to
/// 500 accounts is one request and 500 feeds that change, and the next one waits until that is paid off. A trusted
/// back end pays nothing: it is the deployment's own, and acts for many.
package struct Price: Sendable, Hashable {
  /// In sends of the account's pace, or in reads of it.
  package enum Pace: Sendable, Hashable {
    case sends, reads
  }

  package let pace: Pace
  /// Whatever the request names.
  package let base: Int
  /// More for each account, server or channel in the lists of its body.
  package let perName: Int

  /// What costs no more than being asked, or is charged where more is known of it.
  package static let nothing = Price(pace: .reads, base: 0, perName: 0)
  /// One append. What it costs for its receivers is charged when they are known.
  package static let send = Price(pace: .sends, base: 1, perName: 0)
  /// Several records that are read, changed and told of.
  package static let operation = Price(pace: .sends, base: 5, perName: 1)
  /// A page of something, or one of it.
  package static let read = Price(pace: .reads, base: 1, perName: 0)

  /// For each further receiver of what is sent to accounts directly: an entry in a feed of its own.
  package static func receivers(_ count: Int) -> Int { max(count - 1, 0) }
  /// For a search by an id through the spaces of others: Redis reads eight of their logs in the time of one send.
  package static func search(throughLogs count: Int) -> Int { count / 8 }
  /// Of a page of notifications beyond ``read``: each hundred of them cost the loop about a millisecond.
  package static func page(of notifications: Int) -> Int { notifications / 100 }
}
