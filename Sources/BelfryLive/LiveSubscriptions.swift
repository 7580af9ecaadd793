import BelfryModel
import BelfryStore

/// True if every new message of a followed space arrives on this loop.
enum LiveSubscription {
  case subscribing([CheckedContinuation<Void, Never>])
  case subscribed
  /// In a box of its own, since there are as many of these as spaces, and hardly any has failed.
  indirect case failed(StoreError)
}

/// Subscribes to the live channels of the spaces that are followed on this loop, each once.
final class LiveSubscriptions {
  private let live: any LiveFeed

  init(live: any LiveFeed) {
    self.live = live
  }

  /// Subscribes to a space that begins to be followed. Runs in the loop's scope.
  func subscribe(_ active: ActiveSpace) async {
    // Nobody may follow it any more by the time this runs, and nothing would end the subscription then.
    guard case .subscribing = active.subscription else { return }
    do throws(StoreError) {
      try await live.subscribe(active.space)
      end(active, .subscribed)
    } catch {
      end(active, .failed(error))
    }
  }

  /// Fails the subscription, since the loop is ending and subscribes to nothing any more.
  func giveUp(_ active: ActiveSpace) { fail(active, because: "the loop is ending") }

  func unsubscribe(_ active: ActiveSpace) {
    fail(active, because: "nobody follows it any longer")
    live.unsubscribe(active.space)
  }

  /// Returns once every new message of the space arrives.
  func wait(for active: ActiveSpace) async throws(StoreError) {
    await withCheckedContinuation { continuation in
      // Checked in here: between a check outside and this closure the state may have changed.
      guard case .subscribing(let waiting) = active.subscription else { return continuation.resume() }
      active.subscription = .subscribing(waiting + [continuation])
    }
    switch active.subscription {
    case .subscribed: return
    case .failed(let error): throw error
    case .subscribing:
      throw StoreError(.unavailable, "the subscription is tried again", at: "subscribe \(active.space)")
    }
  }

  private func fail(_ active: ActiveSpace, because cause: String) {
    end(active, .failed(StoreError(.unavailable, cause, at: "subscribe \(active.space)")))
  }

  private func end(_ active: ActiveSpace, _ subscription: LiveSubscription) {
    guard case .subscribing(let waiting) = active.subscription else { return }
    active.subscription = subscription
    for continuation in waiting { continuation.resume() }
  }
}
