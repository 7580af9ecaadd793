/// An account sets its preferences. All of its devices follow them from then on, and are shown their
/// notifications again.
package struct SetPreferences: Operation {
  package var space: SpaceID
  package var account: AccountID
  package var preferences: [Preference]
  package var actor: Actor

  package init(_ preferences: [Preference], of account: AccountID, actor: Actor) {
    space = .personal(account)
    self.account = account
    self.preferences = preferences
    self.actor = actor
  }

  package var needs: [RecordAddress] { [.preferences(of: account)] }

  package func decide(_ records: Records, context: DecisionContext) throws(Refusal) -> Decision<[Preference]>
  {
    try actor.requireActing(for: account, to: "set preferences")
    let now = context.nowMilliseconds
    let known = try records.preferences(of: account)
    try check(known, nowMilliseconds: now)
    let preferences = preferences.filter { !$0.hasEnded(nowMilliseconds: now) }
    guard known.current(nowMilliseconds: now) != preferences else { return Decision(nil, preferences) }
    var transaction = Transaction(space)
    transaction.preconditions = records.unchanged(needs)
    transaction.changes[.preferences(of: account)] = .some(try Preferences.text(preferences))
    transaction.changedMemberships = [account]
    return Decision(transaction, preferences)
  }

  /// A preference that has ended is accepted if the account has it, and dropped. A client that adds a
  /// preference to those that it was shown may have been shown it before it ended.
  private func check(_ known: Preferences, nowMilliseconds now: Int64) throws(Refusal) {
    guard preferences.count <= Limits.preferencesPerAccount else {
      throw .invalid(
        "preferences", "must have at most \(Limits.preferencesPerAccount) elements, not \(preferences.count)")
    }
    var seen: Set<Place> = []
    for (index, one) in preferences.enumerated() {
      if one.hasEnded(nowMilliseconds: now), known.all.contains(one) { continue }
      let field = "preferences[\(index)]"
      if let space = one.space { try check(space, field + ".space") }
      for (place, type) in (one.types ?? []).enumerated() {
        let field = "\(field).types[\(place)]"
        guard let known = Catalogue.type(type) else {
          throw .invalid(field, "is \(type), which is not a notification type")
        }
        guard known.critical != .everybody || one.level == .all else {
          throw .invalid(
            field, "is \(known.name), which preferences cannot turn off: its level can only be all")
        }
      }
      if one.hasEnded(nowMilliseconds: now) {
        throw .invalid(field + ".until", "must lie in the future, in milliseconds since 1970")
      }
      // If two preferences are equally specific, nobody could say which one applies.
      let types = one.types.map { $0.map(Int?.some) } ?? [nil]
      for type in types where !seen.insert(Place(space: one.space, type: type)).inserted {
        throw .invalid(field, "is a second preference for the same space and type")
      }
    }
  }

  private func check(_ space: SpaceID, _ field: String) throws(Refusal) {
    switch space.kind {
    case .server, .group, .room:
      if EntityID(space.name) != nil { return }
    case .account:
      if space == .personal(account) { return }
    case .direct: break
    }
    throw .invalid(
      field,
      "must be `server:`, `group:` or `room:` and an id, or `account:\(account)` for your own direct messages; to hear nothing from another account, block it"
    )
  }

  private struct Place: Hashable {
    var space: SpaceID?
    var type: Int?
  }
}
