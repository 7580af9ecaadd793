extension EventLoop {
  /// Suspends the caller, which is isolated to an actor on this loop, by a timer of the loop.
  ///
  /// The isolation is a parameter for the closure inside to capture: a closure that captures none, given to
  /// the standard library's `with...` functions, runs on the global pool even where its function does not.
  package func sleep(
    for duration: Duration, isolation: isolated (any Actor)? = #isolation
  ) async throws(CancellationError) {
    try await sleep(until: .now + duration)
  }

  package func sleep(
    until deadline: ContinuousClock.Instant, isolation: isolated (any Actor)? = #isolation
  ) async throws(CancellationError) {
    checkIsolated()
    let sleeper = Sleeper(loop: self)
    await withTaskCancellationHandler {
      _ = isolation
      await withCheckedContinuation { sleeper.begin($0, until: deadline) }
    } onCancel: {
      // A cancellation may come from any thread; the sleeper lives on the loop's.
      if isCurrent { sleeper.cancel() } else { perform { sleeper.cancel() } }
    }
    if sleeper.isCancelled { throw CancellationError() }
  }
}

/// One sleep, on its loop's thread.
///
/// SAFETY of `@unchecked Sendable`: the cancellation handler only carries it across, see above.
private final class Sleeper: @unchecked Sendable {
  private(set) var isCancelled = false
  private let loop: EventLoop
  private var timer: LoopTimer?
  private var continuation: CheckedContinuation<Void, Never>?

  init(loop: EventLoop) {
    self.loop = loop
  }

  func begin(_ continuation: CheckedContinuation<Void, Never>, until deadline: ContinuousClock.Instant) {
    // The handler of a task that is cancelled already has run by now.
    guard !isCancelled else { return continuation.resume() }
    self.continuation = continuation
    timer = loop.schedule(at: deadline) { [self] in wake() }
  }

  func cancel() {
    isCancelled = true
    timer?.cancel()
    wake()
  }

  private func wake() {
    timer = nil
    continuation?.resume()
    continuation = nil
  }
}
