import BelfryModel
import BelfryStore

/// The live channels of the spaces somebody on this loop follows, each subscribed once.
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

  /// Called for a space that begins to be followed, in the loop's scope.
  func subscribe(_ space: SpaceID) async {
    do throws(StoreError) {
      try await live.subscribe(space)
      end(space, .subscribed)
    } catch {
      end(space, .failed(error))
    }
  }

  func begin(_ space: SpaceID) { states[space] = .subscribing([]) }

  /// Nothing is subscribed any more: the loop is ending.
  func giveUp(_ space: SpaceID) {
    end(space, .failed(StoreError(.unavailable, "the loop is ending", at: "subscribe \(space)")))
  }

  func unsubscribe(_ space: SpaceID) {
    end(space, .failed(StoreError(.unavailable, "nobody follows it any more", at: "subscribe \(space)")))
    states[space] = nil
    live.unsubscribe(space)
  }

  /// Returns once messages of the space are certain to arrive.
  func wait(for space: SpaceID) async throws(StoreError) {
    await withCheckedContinuation { continuation in
      // Looked at in here: between an outer look and this closure others may have run.
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
