import BelfryModel
import BelfryStore

/// Somebody who wants to know when an account's feed may have something new.
protocol FeedFollower: AnyObject {
  /// Something arrived in a space of the account.
  func arrived(in space: ActiveSpace)
  /// The account's spaces, standings or the live channels changed: go by the store, from the cursor on.
  func lostTrack()
}

/// An account with at least one follower on this loop: its view, kept up to date, and its spaces, kept
/// subscribed.
final class AccountSession {
  let account: AccountID
  private unowned let hub: Hub
  private(set) var view: AccountView?
  private(set) var followers: [any FeedFollower] = []
  private(set) var isStale = true
  /// Counts how often the view was found to be wrong: what began with another generation's is void.
  private(set) var generation = 0
  private var spaces: [SpaceID: ActiveSpace] = [:]
  private var isRefreshing = false
  private var waiting: [CheckedContinuation<Void, Never>] = []

  init(_ account: AccountID, hub: Hub) {
    self.account = account
    self.hub = hub
  }

  func add(_ follower: any FeedFollower) { followers.append(follower) }

  func remove(_ follower: any FeedFollower) {
    followers.removeAll { $0 === follower }
    if followers.isEmpty { letGo(allBut: []) }
  }

  /// The spaces that are followed, for a consumer that begins to read from their rings.
  var activeSpaces: Dictionary<SpaceID, ActiveSpace>.Values { spaces.values }

  // MARK: What arrives

  func receive(_ item: RingItem, in space: ActiveSpace) {
    if case .read(let echo) = item.kind { apply(echo) }
    for follower in followers { follower.arrived(in: space) }
  }

  private func apply(_ echo: ReadEcho) {
    view?.read.mark(echo.items)
    if let watermark = echo.watermark { view?.read.raise(to: watermark) }
  }

  /// What the view says may be wrong from now on.
  func becomeStale() {
    isStale = true
    generation += 1
    for follower in followers { follower.lostTrack() }
  }

  // MARK: The view

  /// The view as it is now, with all its spaces subscribed.
  func current() async throws(StoreError) -> AccountView {
    while true {
      if !isStale, let view { return view }
      if isRefreshing {
        await withCheckedContinuation { waiting.append($0) }
        continue
      }
      try await refresh()
    }
  }

  private func refresh() async throws(StoreError) {
    isRefreshing = true
    defer {
      isRefreshing = false
      for continuation in waiting { continuation.resume() }
      waiting = []
    }
    isStale = false
    do throws(StoreError) {
      // Subscribed first, read afterwards: a change that the reads miss comes as a message.
      try await follow([.personal(account)])
      view = try await AccountView.load(account, from: hub.store) { (index) throws(StoreError) in
        let wanted = index.filter(\.isMember).map(\.space)
        self.letGo(allBut: Set(wanted + [.personal(self.account)]))
        try await self.follow(wanted)
      }
    } catch {
      isStale = true
      throw error
    }
  }

  private func follow(_ wanted: [SpaceID]) async throws(StoreError) {
    for space in wanted where spaces[space] == nil {
      spaces[space] = hub.follow(space, session: self)
    }
    try await hub.waitUntilSubscribed(wanted)
    // The last follower may have gone meanwhile; nobody else would let go of these.
    if followers.isEmpty { letGo(allBut: []) }
  }

  private func letGo(allBut wanted: Set<SpaceID>) {
    for (space, active) in spaces where !wanted.contains(space) {
      hub.unfollow(active, session: self)
      spaces[space] = nil
    }
    if wanted.isEmpty { isStale = true }
  }
}
