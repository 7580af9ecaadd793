/// Starts asynchronous work from synchronous callbacks on the loop, without unstructured tasks: all of it runs as
/// children of `run()`, on the loop, and none outlives the scope.
///
/// An actor so that its children begin on the loop and call other actors there without a hop. The `nonisolated`
/// functions are for the loop's thread alone, which is checked.
package actor LoopScope {
  private nonisolated let loop: EventLoop
  private var works: [(() async -> Void)?] = []
  /// The index in `works` of the first that has not begun.
  private var head = 0
  /// The number of works that have no child task yet.
  private var unclaimed = 0
  /// Child tasks that have done their work and wait for more.
  private var idle: [CheckedContinuation<Void, Never>] = []
  private var isClosed = false
  private var waiter: CheckedContinuation<Void, Never>?

  /// The most child tasks that are kept for reuse. Making a task costs time, and so does ending one: the
  /// group searches for it among all, which took half of the time of opening a stream while thousands were
  /// open. More than 64 are seldom started in one turn of the loop; each costs about a kilobyte.
  static let idleLimit = 64

  package nonisolated var unownedExecutor: UnownedSerialExecutor {
    unsafe loop.asUnownedSerialExecutor()
  }

  package init(on loop: EventLoop) {
    self.loop = loop
  }

  /// Runs all started work until `close()` or until the caller is cancelled, then until all of it has ended.
  /// Called once.
  package func run() async {
    await withDiscardingTaskGroup { group in
      // One closure for all children. SAFETY: it is not sendable only because it is isolated to the scope, by
      // capturing it, and the children run in that isolation.
      nonisolated(unsafe) let step: @isolated(any) () async -> Void = { await self.serve() }
      repeat {
        await waitForWork()
        for _ in 0..<takeUnclaimed() { unsafe group.addTask(executorPreference: loop, operation: step) }
      } while !isClosed
      // Work that has not begun at this point still runs, cancelled, so that it can clean up.
      group.cancelAll()
    }
  }

  /// Starts the work in a job of its own, in the order of the calls; not before `run()` begins.
  /// - Returns: false if the scope is closed; the work is dropped then.
  @discardableResult
  package nonisolated func start(_ work: @escaping () async -> Void) -> Bool {
    // SAFETY: the work does not leave the loop's thread.
    nonisolated(unsafe) let work = work
    return assumeIsolated { unsafe $0.append(work) }
  }

  /// Cancels all work; `run()` returns when the last has ended.
  package nonisolated func close() {
    assumeIsolated { scope in
      scope.isClosed = true
      scope.wake()
      for child in scope.idle { child.resume() }
      scope.idle.removeAll()
    }
  }

  private func append(_ work: @escaping () async -> Void) -> Bool {
    guard !isClosed else { return false }
    works.append(work)
    if let child = idle.popLast() {
      child.resume()
    } else {
      unclaimed += 1
      wake()
    }
    return true
  }

  /// The life of a child task: one piece of work for each time it is resumed, so that each is a job of its own.
  private func serve() async {
    await runNext()
    while !isClosed, idle.count < Self.idleLimit {
      await withCheckedContinuation { continuation in
        // This is checked again here: after `close()` nobody would resume it.
        guard !isClosed else { return continuation.resume() }
        idle.append(continuation)
      }
      await runNext()
    }
  }

  private func runNext() async {
    guard head < works.count, let work = works[head] else { return }
    works[head] = nil
    head += 1
    if head == works.count {
      works.removeAll(keepingCapacity: true)
      head = 0
    }
    await work()
  }

  private func waitForWork() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        // Checked here, since other jobs may have run since it was checked outside.
        guard unclaimed == 0, !isClosed else { return continuation.resume() }
        waiter = continuation
      }
    } onCancel: {
      // A cancellation may come from any thread.
      if loop.isCurrent { close() } else { loop.perform { self.close() } }
    }
  }

  private func takeUnclaimed() -> Int {
    defer { unclaimed = 0 }
    return unclaimed
  }

  private func wake() {
    waiter?.resume()
    waiter = nil
  }
}

extension LoopScope {
  /// Does all of the work concurrently, and returns when it is done. If the scope is closed, the caller does it.
  package nonisolated func all(_ works: [() async -> Void]) async {
    let side = SideBySide()
    for work in works {
      side.missing += 1
      let hasStarted = start {
        await work()
        side.end()
      }
      if !hasStarted {
        await work()
        side.end()
      }
    }
    await withCheckedContinuation { side.wait($0) }
  }
}

/// Counts concurrent works down for the caller that awaits all of them. On the loop's thread only.
private final class SideBySide {
  var missing = 0
  private var waiter: CheckedContinuation<Void, Never>?

  func wait(_ continuation: CheckedContinuation<Void, Never>) {
    if missing == 0 { continuation.resume() } else { waiter = continuation }
  }

  func end() {
    missing -= 1
    guard missing == 0 else { return }
    waiter?.resume()
    waiter = nil
  }
}
