import BelfryFeed
import BelfryModel
import BelfryStore

/// The number of unread notifications that pushes tell.
struct BadgeCount: Sendable {
  /// The pushes that may share a count.
  struct Key: Hashable {
    let account: AccountID
    /// True if a gateway shows the number, so that it is noted that one is being told.
    let isNoted: Bool
  }

  /// Names the telling.
  let mark: String
  /// Nil if it could not be counted.
  let count: UnreadCount?

  static func count(
    for key: Key, by feed: FeedReader, in store: RedisStore
  ) async -> Result<BadgeCount, StoreError> {
    // This comes before the count: every mark from now on makes the number be corrected.
    let mark = PushWord.newWord()
    do throws(StoreError) {
      if key.isNoted { try await store.beginBadge(of: key.account, mark: mark) }
    } catch {
      return .failure(error)
    }
    // The number needs all spaces of the account. If one of them cannot be read, the push goes without it.
    return .success(BadgeCount(mark: mark, count: try? await countUnread(of: key.account, by: feed)))
  }

  static func countUnread(
    of account: AccountID, by feed: FeedReader
  ) async throws(StoreError) -> UnreadCount {
    do throws(Refusal) {
      return try await feed.count(for: account)
    } catch {
      throw StoreError(
        error.code == .unavailable ? .unavailable : .corrupt, error.detail, at: "counts of \(account)")
    }
  }
}
