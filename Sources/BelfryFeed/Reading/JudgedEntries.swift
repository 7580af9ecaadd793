package import BelfryModel
package import BelfryStore

// Single entries, and whether an account is shown them: what a feed would say of each, without reading the feed.
extension FeedReader {
  /// Entries, and what says whether the account is shown them.
  struct Judged {
    var view: AccountView
    /// Those of the ids that name an entry where the account is or was.
    var located: [LocatedEntry]
    var nowMilliseconds: Int64
  }

  /// The entry as it is now, if the account is to be shown it: if it is for the account, which has not read it, and
  /// neither recalled nor expired, and wanted.
  package func unread(
    _ id: MessageID, in space: SpaceID, by account: AccountID
  ) async throws(StoreError) -> LogEntry? {
    let found = try await judged([id], for: account, in: space)
    return found.located.first {
      found.view.visibility(of: $0, limits, nowMilliseconds: found.nowMilliseconds).isVisible
    }?.entry
  }

  /// In two round trips: first the account, then the entries and the account's memberships in their spaces.
  ///
  /// - Parameters:
  ///   - ids: ascending.
  ///   - space: where they are; nil: in any of the account's spaces.
  func judged(
    _ ids: [MessageID], for account: AccountID, in space: SpaceID? = nil
  ) async throws(StoreError) -> Judged {
    let now = try await store.nowMilliseconds()
    let (index, read, preferences) = try await store.accountState(of: account, among: ids)
    let personal = SpaceID.personal(account)
    let wanted = Set(ids.flatMap { store.partitions.holding($0) })
    let known = index.map { $0.space }.filter { wanted.contains(store.partitions.holding($0)) }
    let spaces = space.map { [$0].filter { $0 != personal } } ?? known
    let own = space.map { [$0] } ?? spaces + [personal]
    let (memberships, located) = try await both(
      { () async throws(StoreError) in
        try await FeedSnapshot.memberships(of: account, in: spaces, from: self.store)
      },
      { () async throws(StoreError) in
        try await self.locate(ids, in: own)
      })
    return Judged(
      view: AccountView(
        account: account, index: index, memberships: memberships, read: read, preferences: preferences),
      located: located, nowMilliseconds: now)
  }

  /// Asks the store for two things at once. The commands that both send in one turn of the loop are one round trip.
  private func both<First, Second>(
    _ first: @escaping () async throws(StoreError) -> First,
    _ second: @escaping () async throws(StoreError) -> Second
  ) async throws(StoreError) -> (First, Second) {
    var results: (first: Result<First, StoreError>?, second: Result<Second, StoreError>?)
    await scope.all([
      { results.first = await result(of: first) },
      { results.second = await result(of: second) },
    ])
    guard let first = results.first, let second = results.second else {
      throw StoreError(.unavailable, "the loop is ending", at: "read state")
    }
    return (try first.get(), try second.get())
  }
}

private func result<Value>(of work: () async throws(StoreError) -> Value) async -> Result<Value, StoreError> {
  do throws(StoreError) {
    return .success(try await work())
  } catch {
    return .failure(error)
  }
}
