/// A named piece of work that a loop does again and again, and that no caller waits for.
///
///     let refresh = PeriodicWork("keys", every: .seconds(1)) { try await keys.refresh(from: store) }
///     scope.start { await refresh.run(on: loop, noting: failures) }
///
/// A round that fails is noted, and the next round comes at its usual time.
package struct PeriodicWork {
  package enum Start: Sendable {
    case atOnce, afterInterval
  }

  /// The name under which its failures are counted.
  package let name: String
  private let interval: Duration
  private let start: Start
  private let asksStoreEachRound: Bool
  private let work: () async throws -> Void

  /// - Parameters:
  ///   - interval: from the end of one round to the beginning of the next.
  ///   - start: when the first round begins.
  ///   - asksStoreEachRound: true if each round asks the store, so that a success shows that the store answers.
  package init(
    _ name: String, every interval: Duration, start: Start = .atOnce,
    asksStoreEachRound: Bool = false, _ work: @escaping () async throws -> Void
  ) {
    self.name = name
    self.interval = interval
    self.start = start
    self.asksStoreEachRound = asksStoreEachRound
    self.work = work
  }

  /// Does the work until the task is cancelled.
  package func run(on loop: EventLoop, noting failures: WorkFailures) async {
    failures.announce(name)
    if start == .afterInterval, await !rest(on: loop) { return }
    repeat {
      await failures.watch(name, on: loop.name, isRegular: asksStoreEachRound, work)
    } while await rest(on: loop)
  }

  /// - Returns: false if the task is cancelled.
  private func rest(on loop: EventLoop) async -> Bool {
    (try? await loop.sleep(for: interval)) != nil
  }
}
