extension EventLoop {
  /// Suspends the caller, which must be isolated to an actor on this loop, by a timer of the loop.
  ///
  /// - Parameters:
  ///   - call: ends the sleep before its time.
  ///   - isolation: captured by the closure inside. Without, the standard library's `with…` functions would run
  ///     the closure on the global pool.
  /// - Throws: if the task is cancelled before or meanwhile.
  package func sleep(
    for duration: Duration, orUntil call: WakeUpCall? = nil, isolation: isolated (any Actor)? = #isolation
  ) async throws(CancellationError) {
    try await sleep(until: .now + duration, or: call)
  }

  package func sleep(
    until deadline: ContinuousClock.Instant, or call: WakeUpCall? = nil,
    isolation: isolated (any Actor)? = #isolation
  ) async throws(CancellationError) {
    checkIsolated()
    let sleeper = Sleeper(loop: self)
    call?.add(sleeper)
    defer { call?.remove(sleeper) }
    await withTaskCancellationHandler {
      _ = isolation
      await withCheckedContinuation { sleeper.begin($0, until: deadline) }
    } onCancel: {
      // Called on any thread, while the sleeper belongs to the loop's.
      if isCurrent { sleeper.cancel() } else { perform { sleeper.cancel() } }
    }
    if sleeper.isCancelled { throw CancellationError() }
  }
}

/// Ends sleeps before their time. Belongs to the loop on which they are.
package final class WakeUpCall {
  private var sleepers: [ObjectIdentifier: Sleeper] = [:]
  /// How often it was called.
  package private(set) var count = 0

  package init() {}

  /// Ends all sleeps that have this call.
  package func wakeAll() {
    count += 1
    for sleeper in sleepers.values { sleeper.wake() }
  }

  fileprivate func add(_ sleeper: Sleeper) { sleepers[ObjectIdentifier(sleeper)] = sleeper }
  fileprivate func remove(_ sleeper: Sleeper) { sleepers[ObjectIdentifier(sleeper)] = nil }
}

/// One sleep, on its loop's thread.
///
/// SAFETY of `@unchecked Sendable`: the cancellation handler only passes it on to the loop's thread.
private final class Sleeper: @unchecked Sendable {
  private(set) var isCancelled = false
  private let loop: EventLoop
  private var timer: LoopTimer?
  private var continuation: CheckedContinuation<Void, Never>?

  init(loop: EventLoop) {
    self.loop = loop
  }

  func begin(_ continuation: CheckedContinuation<Void, Never>, until deadline: ContinuousClock.Instant) {
    // If the task was cancelled before, its handler has run by now.
    guard !isCancelled else { return continuation.resume() }
    self.continuation = continuation
    timer = loop.schedule(at: deadline) { [self] in wake() }
  }

  func cancel() {
    isCancelled = true
    wake()
  }

  /// Ends the sleep. Does nothing if it has ended.
  func wake() {
    timer?.cancel()
    timer = nil
    continuation?.resume()
    continuation = nil
  }
}
