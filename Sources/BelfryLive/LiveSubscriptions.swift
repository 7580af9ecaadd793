import BelfryModel
import BelfryStore

/// The subscriptions to the live channels of all spaces that are followed on this loop, one for each space.
final class LiveSubscriptions {
  private enum State {
    case subscribing([CheckedContinuation<Void, Never>])
    case subscribed
    case failed(StoreError)
  }

  private let live: any LiveFeed
  private var states: [SpaceID: State] = [:]

  init(live: any LiveFeed) {
    self.live = live
  }

  /// Subscribes to a space that begins to be followed. Runs in the loop's scope.
  func subscribe(_ space: SpaceID) async {
    do throws(StoreError) {
      try await live.subscribe(space)
      end(space, .subscribed)
    } catch {
      end(space, .failed(error))
    }
  }

  func begin(_ space: SpaceID) { states[space] = .subscribing([]) }

  /// Fails the subscription, since the loop is ending and subscribes to nothing any more.
  func giveUp(_ space: SpaceID) {
    end(space, .failed(StoreError(.unavailable, "the loop is ending", at: "subscribe \(space)")))
  }

  func unsubscribe(_ space: SpaceID) {
    end(space, .failed(StoreError(.unavailable, "nobody follows it any more", at: "subscribe \(space)")))
    states[space] = nil
    live.unsubscribe(space)
  }

  /// Returns once every new message of the space arrives.
  func wait(for space: SpaceID) async throws(StoreError) {
    await withCheckedContinuation { continuation in
      // Checked in here: between a check outside and this closure the state may have changed.
      guard case .subscribing(let waiting) = states[space] else { return continuation.resume() }
      states[space] = .subscribing(waiting + [continuation])
    }
    switch states[space] {
    case .subscribed: return
    case .failed(let error): throw error
    case .subscribing, nil: throw StoreError(.unavailable, "not followed", at: "subscribe \(space)")
    }
  }

  /// Whether a subscription is to be tried anew.
  func hasFailed(_ space: SpaceID) -> Bool {
    if case .failed = states[space] { true } else { false }
  }

  private func end(_ space: SpaceID, _ state: State) {
    guard case .subscribing(let waiting) = states[space] else { return }
    states[space] = state
    for continuation in waiting { continuation.resume() }
  }
}
