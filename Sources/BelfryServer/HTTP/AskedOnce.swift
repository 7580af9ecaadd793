import BelfryModel
import Synchronization

/// The name that identifies a repeated send: its space and its dedupe name.
struct RepeatedName: Hashable, Sendable {
  private let space: SpaceID
  private let dedupe: Dedupe

  /// Nil for a send that cannot be repeated, and for one that is refused.
  init?(_ sends: Result<[SendNotification], Refusal>) {
    guard case .success(let sends) = sends, let repetition = sends.first?.repetition else { return nil }
    (space, dedupe) = (repetition.send.space, repetition.send.dedupe)
  }
}

/// Serializes the questions about sends with the same name, over all loops of a broker. A client that repeats
/// a send while the callback has not answered yet gets the receipt of the first send. The callback is not
/// asked a second time.
final class AskedOnce: Sendable {
  private struct State {
    var held: Set<RepeatedName> = []
    var waiting: [RepeatedName: [CheckedContinuation<Void, Never>]] = [:]
  }

  private let state = Mutex(State())

  /// Holds all of the names, as soon as none of them is held. Nobody holds some names while waiting for
  /// others, so two callers never wait for each other.
  func hold(_ names: Set<RepeatedName>, isolation: isolated (any _Concurrency.Actor)? = #isolation) async {
    while let taken = tryToHold(names) {
      await withCheckedContinuation { continuation in
        _ = isolation
        let isFree = state.withLock { state in
          guard state.held.contains(taken) else { return true }
          state.waiting[taken, default: []].append(continuation)
          return false
        }
        if isFree { continuation.resume() }
      }
    }
  }

  /// - Returns: a name that somebody else holds; then none is held.
  private func tryToHold(_ names: Set<RepeatedName>) -> RepeatedName? {
    state.withLock { state in
      if let taken = names.first(where: state.held.contains) { return taken }
      state.held.formUnion(names)
      return nil
    }
  }

  func release(_ names: Set<RepeatedName>) {
    let waiting = state.withLock { state in
      state.held.subtract(names)
      return names.flatMap { state.waiting.removeValue(forKey: $0) ?? [] }
    }
    for continuation in waiting { continuation.resume() }
  }
}
