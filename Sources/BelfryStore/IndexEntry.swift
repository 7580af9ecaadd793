package import BelfryModel

/// One space in an account's index: the list of spaces the account belongs or belonged to.
///
/// The index lies in the account's partition and the memberships in the space's, so the index learns of a change some
/// time after it was committed. The entry keeps what it learned when, so that a feed that was read in between takes a
/// late change into account neither twice nor never.
package struct IndexEntry: Sendable, Hashable {
  /// The index's knowledge of the space from `addedAt` on.
  package struct State: Sendable, Hashable {
    /// The last id of the space's partition when the account joined or left. Membership intervals that began after it
    /// were not known yet.
    package var version: MessageID
    /// An id of the account's own partition, allotted when the index learned that the latest known interval had begun.
    /// A cursor that has taken the index into account only up to an earlier id does not cover that interval.
    package var addedAt: MessageID

    package init(version: MessageID, addedAt: MessageID) {
      self.version = version
      self.addedAt = addedAt
    }
  }

  /// The index learned of a membership interval.
  package struct Transition: Sendable, Hashable {
    /// The state from then on.
    package var state: State
    /// The state before; nil if the index knew nothing, or if that state is no longer kept.
    package var before: State?
  }

  /// As many earlier states as an account has earlier membership intervals in a space.
  package static func earlierMax(in space: SpaceID) -> Int { space.kind.intervalsMax - 1 }

  package var space: SpaceID
  /// False: the account has left. The space stays in its feed until retention has passed what the account may see.
  package var isMember: Bool
  package var state: State
  /// The states before each return of the account, the latest first.
  package var earlier: [State]

  package init(space: SpaceID, isMember: Bool, state: State, earlier: [State] = []) {
    self.space = space
    self.isMember = isMember
    self.state = state
    self.earlier = earlier
  }

  package var version: MessageID { state.version }
  package var addedAt: MessageID { state.addedAt }

  /// The transitions of the index after `id`, an id of the account's partition, oldest first.
  package func transitions(after id: MessageID) -> [Transition] {
    var transitions: [Transition] = []
    let all = [state] + earlier
    for (index, state) in all.enumerated() where state.addedAt > id {
      transitions.append(Transition(state: state, before: index + 1 < all.count ? all[index + 1] : nil))
    }
    return transitions.reversed()
  }

  /// The state of the index at `id`, an id of the account's partition; nil if the index knew nothing then.
  package func state(through id: MessageID) -> State? {
    // A feed asks this of thousands of spaces, and nearly always the latest state is the answer.
    if addedAt <= id { return state }
    return earlier.first { $0.addedAt <= id }
  }
}
