/// How a synchronous callback on the loop starts asynchronous work without an unstructured task: the scope
/// runs it as a child of `run()`, on the loop, and nothing it started outlives it.
///
/// It is an actor on the loop only so that its children begin there, and call the other actors on the loop
/// without a hop. What is `nonisolated` is for the loop's thread alone, which is checked.
package actor LoopScope {
  private nonisolated let loop: EventLoop
  private var works: [(() async -> Void)?] = []
  /// The first work in `works` that has not begun.
  private var head = 0
  /// Works that have no child task yet.
  private var unclaimed = 0
  /// Children that have done their work and wait for another.
  private var idle: [CheckedContinuation<Void, Never>] = []
  private var isClosed = false
  private var waiter: CheckedContinuation<Void, Never>?

  /// Children kept waiting, at most. A child that ends is searched for among all that are in the group, which
  /// with thousands of requests or streams under way took half of the time it takes to open another, and one
  /// that begins is a task to be made. So many pieces of work are seldom begun in one turn of the loop; each
  /// child kept costs a task's memory, about a kilobyte.
  static let idleLimit = 64

  package nonisolated var unownedExecutor: UnownedSerialExecutor {
    unsafe loop.asUnownedSerialExecutor()
  }

  package init(on loop: EventLoop) {
    self.loop = loop
  }

  /// Runs what is started until `close()` or until the caller is cancelled, then until all of it has ended.
  /// Called once.
  package func run() async {
    await withDiscardingTaskGroup { group in
      // One closure for all children, isolated to the scope because it captures it.
      // SAFETY: it cannot be sent for that reason alone, and its children run where it was made.
      nonisolated(unsafe) let step: @isolated(any) () async -> Void = { await self.serve() }
      repeat {
        await waitForWork()
        for _ in 0..<takeUnclaimed() { unsafe group.addTask(executorPreference: loop, operation: step) }
      } while !isClosed
      // What had not begun by then still runs, cancelled, so that it can say goodbye.
      group.cancelAll()
    }
  }

  /// Starts the work in a job of its own, in the order of the calls. It begins when `run()` does, if that has
  /// yet to come.
  /// - Returns: false if the scope is closed; the work is dropped then.
  @discardableResult
  package nonisolated func start(_ work: @escaping () async -> Void) -> Bool {
    // SAFETY: it moves from one part of the loop's thread to another.
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

  /// One piece of work for each time it is woken, so that the loop sees every one as a job of its own.
  private func serve() async {
    await runNext()
    while !isClosed, idle.count < Self.idleLimit {
      await withCheckedContinuation { continuation in
        // Again, in here: nobody would wake it any more.
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
        // Looked at in here: between an outer look and this closure others may have run.
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
  /// Does all of it side by side, and comes back when it is done. What the scope does not take any more, since
  /// it is closing, is done by the caller.
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

/// Pieces of work that somebody waits for, on the loop's thread.
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
