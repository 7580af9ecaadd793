import BelfryModel
import BelfryStore

/// Somebody who wants to know when an account's feed may have something new.
protocol FeedFollower: AnyObject {
  /// Something arrived in a space of the account.
  func notify(of followed: FollowedSpace)
  /// The account's spaces, memberships or the live channels changed: go by the store, from the cursor on.
  func lostTrack()
  /// Something of the space was missed, after this id.
  func missed(in space: SpaceID, since id: MessageID)
  /// The broker is shutting down.
  func sendAway()
}

/// An account with at least one follower on this loop: what it has read, kept up to date, and its spaces, kept
/// subscribed, with its membership in each.
final class AccountSession {
  let account: AccountID
  private unowned let hub: Hub
  /// Nil until there was a snapshot. Of the rest of its view only the memberships last, in its followed spaces: there
  /// are as many of these objects as accounts with streams.
  private(set) var read: ReadState?
  private(set) var followers: [any FeedFollower] = []
  /// Counts how often that was found to be out of date: what began in another generation is void.
  private(set) var generation = 0
  private var spaces: [SpaceID: FollowedSpace] = [:]
  private var isTakingSnapshot = false
  /// What was marked read while a snapshot is taken: it may have read the state before that.
  private var echoes: [ReadEcho] = []

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
  var followedSpaces: Dictionary<SpaceID, FollowedSpace>.Values { spaces.values }

  func followed(of space: SpaceID) -> FollowedSpace? { spaces[space] }

  // MARK: What arrives

  /// At once, before anybody is told of it: what is shown from now on goes by it.
  func receive(_ echo: ReadEcho) {
    if isTakingSnapshot { echoes.append(echo) }
    apply(echo)
  }

  /// Something arrived in a space of the account.
  func notify(of followed: FollowedSpace) {
    for follower in followers { follower.notify(of: followed) }
  }

  private func apply(_ echo: ReadEcho) {
    read?.apply(echo, hub.store.partitions)
  }

  /// What is known of the account may be wrong from now on.
  func becomeStale() {
    generation += 1
    for follower in followers { follower.lostTrack() }
  }

  // MARK: The account as it is

  /// The account as it is now, with all its spaces subscribed.
  func snapshot() async throws(StoreError) -> FeedSnapshot {
    try await hub.snapshots.pass(as: account) { () async throws(StoreError) in
      let sequence = self.hub.sequence
      self.isTakingSnapshot = true
      defer {
        self.isTakingSnapshot = false
        self.echoes = []
      }
      try await self.follow([.personal(self.account)])
      let snapshot = try await FeedSnapshot.take(of: self.account, from: self.hub.store) {
        (spaces) throws(StoreError) in
        self.letGo(allBut: Set(spaces + [.personal(self.account)]))
        try await self.follow(spaces)
      }
      self.read = snapshot.view.read
      for echo in self.echoes { self.apply(echo) }
      self.joinRings(snapshot, since: sequence)
      // Others are shown what arrives by the same memberships. By new ones they would be shown a stay that their cursors
      // have not taken into account, and again once they have.
      if self.takeMemberships(of: snapshot.view), self.followers.count > 1 { self.becomeStale() }
      return snapshot
    }
  }

  private func joinRings(_ snapshot: FeedSnapshot, since sequence: UInt64) {
    for (space, end, _) in snapshot.ends {
      // A ring that was broken off meanwhile: what was missed may have come after the snapshot.
      guard let followed = spaces[space], followed.active.ring.droppedThrough <= sequence else { continue }
      hub.join(followed, at: end)
    }
  }

  /// - Returns: whether any is another than before.
  private func takeMemberships(of view: AccountView) -> Bool {
    var isAnyNew = false
    for (space, followed) in spaces {
      let membership = view.memberships[space] ?? .never
      if followed.membership != membership { isAnyNew = true }
      followed.membership = membership
    }
    return isAnyNew
  }

  private func follow(_ wanted: [SpaceID]) async throws(StoreError) {
    // The last follower may have gone meanwhile; nobody else would let go of these.
    defer { if followers.isEmpty { letGo(allBut: []) } }
    for space in wanted where spaces[space] == nil {
      spaces[space] = hub.follow(space, session: self)
    }
    try await hub.waitUntilSubscribed(wanted)
  }

  private func letGo(allBut wanted: Set<SpaceID>) {
    for (space, followed) in spaces where !wanted.contains(space) {
      hub.unfollow(followed)
      spaces[space] = nil
    }
  }
}
