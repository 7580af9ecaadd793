package import BelfryLoop
package import BelfryModel
package import BelfryStore

/// Reads from the store what accounts see, on one event loop: pages of unread notifications, single notifications, and the
/// reason why an account sees one. It also marks notifications as read.
///
/// A feed is never stored. It is the merge of the logs of all spaces that an account has been in, less what is not
/// for the account and what the account has read (``FeedScan``).
package final class FeedReader {
  package let store: any Store
  package let limits: Limits
  /// The queue in which all scans of the loop take turns: those of pages and those of consumers that catch up.
  package let scans = FairQueue(places: scansAtOnceMax, perAccount: scansPerAccountMax)
  /// The pages, counts and marks of everything that hold entries. Each of them keeps what it has fetched until its next turn
  /// among the scans. So few are begun at a time, and the others wait before they hold anything.
  let readings = FairQueue(places: readingsAtOnceMax, perAccount: readingsPerAccountMax)
  /// Shared by those who count.
  let recent = RecentStretches()
  /// Shared by all scans.
  package let hidden = HiddenStretches()
  package private(set) var scanCount = 0
  let loop: EventLoop
  let scope: LoopScope

  /// When ten thousand consumers come back at once, this many read from the store at a time. The others wait instead
  /// of filling the pipeline through which all commands go.
  static let scansAtOnceMax = 64
  /// Enough for an account's devices to come back together, and so few that an account that asks for dozens of pages
  /// at once leaves nearly all of Redis's answers to others.
  static let scansPerAccountMax = 4

  /// One may hold some megabytes, if the entries are large.
  static let readingsAtOnceMax = 256
  static let readingsPerAccountMax = 4

  package init(store: any Store, limits: Limits, loop: EventLoop, scope: LoopScope) {
    self.store = store
    self.limits = limits
    self.loop = loop
    self.scope = scope
  }

  package func countScan() { scanCount += 1 }

  /// Ends work for a client that has gone or has its answer, and any work if the broker shuts down: a scan of an account that
  /// sees little of what is there may go on for minutes.
  func checkIsWanted(_ isWanted: () -> Bool) throws(StoreError) {
    guard isWanted(), !Task.isCancelled else {
      throw StoreError(.unavailable, "nobody waits for the answer any more", at: "feed")
    }
  }
}
