/// The price of a request for the account that makes it. It measures how much work the request causes, not the request
/// itself.
///
/// An account is served while it is not in debt, and pays afterwards for the work that its requests caused. A send to 500
/// accounts is one request and 500 feeds that change, and the next request waits until that is paid. A trusted back end
/// pays nothing: it belongs to the deployment and acts for many.
package struct Price: Sendable, Hashable {
  /// The pace that pays: the account's pace of sends or of reads.
  package enum Pace: Sendable, Hashable {
    case sends, reads
  }

  package let pace: Pace
  /// The price of the request itself, for any number of names in it.
  package let base: Int
  /// The further price for each account, server or channel in the lists of its body.
  package let perName: Int
  /// The further price for each full KiB of its body. Redis keeps much of it until retention ends, so an account that writes
  /// large texts would otherwise fill it forty times as fast as others.
  package let perKiB: Int

  /// The request costs no more than being asked, or it is charged later, when more is known.
  package static let nothing = Price(pace: .reads, base: 0, perName: 0, perKiB: 0)
  /// One append. The price for the receivers is charged when they are known.
  package static let send = Price(pace: .sends, base: 1, perName: 0, perKiB: 1)
  /// A batch. In addition, each of its lines pays as a send does, before it is read.
  package static let batch = Price(pace: .sends, base: 1, perName: 0, perKiB: 0)
  /// Several records that are read, changed and announced.
  package static let operation = Price(pace: .sends, base: 5, perName: 1, perKiB: 1)
  /// A page of a list, or one thing.
  package static let read = Price(pace: .reads, base: 1, perName: 0, perKiB: 0)

  /// The further price, by the lists and the size of a body.
  package func priceOfBody(names: Int, bytes: Int) -> Int { perName * names + perKiB * (bytes / 1_024) }
  /// For each further receiver of a direct send: an entry in another feed.
  package static func receivers(_ count: Int) -> Int { max(count - 1, 0) }
  /// For a search by id through the spaces of other accounts. Redis reads eight logs in the time of one send.
  package static func search(throughLogs count: Int) -> Int { count / 8 }
  /// For a page of notifications, in addition to ``read``: each hundred of them cost the loop about a millisecond.
  package static func page(of notifications: Int) -> Int { notifications / 100 }
}
