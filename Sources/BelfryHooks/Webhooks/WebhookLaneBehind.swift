import BelfryModel
import BelfryStore
import BelfrySystem

// Spaces with a copy that could not be delivered, and the later copies of these spaces.

extension WebhookLane {
  /// How many pages of copies are searched at a time for those of one space.
  private static let pagesAtOnce = 32

  /// Delivers copies of some of the spaces that are behind and due, each as far as possible.
  /// - Returns: true if there were any. Nil if nothing more can be delivered now.
  func deliverBehind() async throws(StoreError) -> Bool? {
    if behind.count == 0 { return false }
    let due = try await dispatcher.store.dueCopies(
      for: .webhook(endpointID), in: partition, by: WallClock.nowMilliseconds(), limit: Self.dueAtOnce)
    behind.take(due)
    for (space, held) in due.spaces {
      // Without it nothing is tried, and the copies that are due would stay due for ever.
      guard dispatcher.endpoint(endpointID) != nil, try await deliver(held, of: space) else { return nil }
    }
    return !due.spaces.isEmpty
  }

  /// Delivers the copies of one space whose ids are known. If none is known, it delivers those that it finds.
  /// - Returns: false if nothing more can be delivered now.
  private func deliver(_ waiting: HeldCopies, of space: SpaceID) async throws(StoreError) -> Bool {
    var held = waiting
    if held.ids.isEmpty {
      try await search(for: space, &held)
      behind.put(held, of: space)
      guard try await save() else { return false }
    }
    // The first one alone: it may fail again, and then the others would be read in vain.
    var count = 1
    while !held.ids.isEmpty {
      let ids = Array(held.ids.prefix(count))
      count = HeldCopies.idsMax
      for copy in try await dispatcher.store.copies(in: partition, ids: ids) {
        switch try await attempt(copy, of: space, &held) {
        case .passed: continue
        case .failed: return true
        case .stopped: return false
        }
      }
    }
    return true
  }

  private enum Step { case passed, failed, stopped }

  /// Tries the first copy that waits, and saves the result.
  /// - Parameter copy: nil if it has fallen out of retention.
  private func attempt(
    _ copy: EntryCopy?, of space: SpaceID, _ held: inout HeldCopies
  ) async throws(StoreError) -> Step {
    var outcome: WebhookOutcome?
    if let copy { outcome = await attempt(copy) } else { state.lost += 1 }
    switch outcome {
    case .gone?, .notTried?: return .stopped
    case .failed(let failure)?:
      held.attempts += 1
      held.dueAtMilliseconds =
        WallClock.nowMilliseconds() + delayMilliseconds(attempts: held.attempts, failure)
      behind.put(held, of: space)
      return try await save() ? .failed : .stopped
    case .delivered?, nil:
      held.ids.removeFirst()
      (held.attempts, held.dueAtMilliseconds) = (0, 0)
      behind.put(held, of: space)
      guard try await save() else { return .stopped }
      return dispatcher.mustYield(endpointID) ? .stopped : .passed
    }
  }

  /// Searches the copies of a space, from the place up to which they are known and as far as its turn goes.
  private func search(for space: SpaceID, _ held: inout HeldCopies) async throws(StoreError) {
    guard var after = held.rest?.predecessor, let endpoint = dispatcher.endpoint(endpointID) else { return }
    for _ in 0..<Self.pagesAtOnce {
      let copies = try await dispatcher.store.copies(
        in: partition, after: after, through: state.position, limit: Self.copiesAtOnce)
      for copy in copies where copy.space == space && endpoint.wants(copy) {
        guard held.ids.count < HeldCopies.idsMax else {
          held.rest = copy.id
          return
        }
        held.ids.append(copy.id)
      }
      guard let last = copies.last?.id, last < state.position else {
        held.rest = nil
        return
      }
      after = last
    }
    held.rest = MessageID(after.raw + 1)
  }
}
