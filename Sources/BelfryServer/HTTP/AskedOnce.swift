import BelfryModel
import Synchronization

/// What a send is recognised by when it is repeated.
struct RepeatedName: Hashable, Sendable {
  private let space: SpaceID
  private let dedupe: Dedupe

  /// Nil of a send that cannot be repeated, and of one that is refused.
  init?(_ sends: Result<[SendNotification], Refusal>) {
    guard case .success(let sends) = sends, let repetition = sends.first?.repetition else { return nil }
    (space, dedupe) = (repetition.send.space, repetition.send.dedupe)
  }
}

/// Lets of sends under one name one after the other be asked about, over all loops of a broker: who repeats a send that a
/// callback has yet to answer gets its receipt, and no second question.
final class AskedOnce: Sendable {
  private struct State {
    var held: Set<RepeatedName> = []
    var waiting: [RepeatedName: [CheckedContinuation<Void, Never>]] = [:]
  }

  private let state = Mutex(State())

  /// Holds all of the names, as soon as none of them is held. Nobody holds some while waiting for others, so no two wait
  /// for each other.
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

  /// - Returns: one that somebody else holds; then none is held.
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
