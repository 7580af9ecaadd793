/// How a synchronous callback on the loop starts asynchronous work without an unstructured task: the scope
/// runs it as a child of `run()`, on the loop, and nothing it started outlives it.
///
/// It lives on the loop's thread, like everything that starts work in it.
package final class LoopScope {
  private let queue: WorkQueue
  private let runner: ScopeRunner

  package init(on loop: EventLoop) {
    queue = WorkQueue(loop: loop)
    runner = ScopeRunner(loop: loop, queue: queue)
  }

  /// Runs what is started until `close()` or until the caller is cancelled, then until all of it has ended.
  /// Called once, from an actor on the loop. The isolation is a parameter for the reason `sleep` has one.
  package func run(isolation: isolated (any Actor)? = #isolation) async {
    await withDiscardingTaskGroup { group in
      _ = isolation
      while await queue.waitForWork() {
        for _ in 0..<queue.takeCount() { group.addTask(operation: runner.runNext) }
      }
      // What was started and has not begun still runs, cancelled, so that it can say goodbye.
      for _ in 0..<queue.takeCount() { group.addTask(operation: runner.runNext) }
      group.cancelAll()
    }
  }

  /// Starts the work in one of the next iterations' jobs, in the order of the calls.
  /// - Returns: false if the scope is closed; the work is dropped then.
  @discardableResult
  package func start(_ work: @escaping () async -> Void) -> Bool {
    queue.append(work)
  }

  /// Cancels all work; `run()` returns when the last has ended.
  package func close() {
    queue.close()
  }
}

/// The isolation in which a scope's work begins. Sharing its executor with the actors on the loop, the work
/// calls them without a hop; a child task with none would begin on the global pool.
private actor ScopeRunner {
  private nonisolated let loop: EventLoop
  private let queue: WorkQueue

  nonisolated var unownedExecutor: UnownedSerialExecutor {
    unsafe loop.asUnownedSerialExecutor()
  }

  init(loop: EventLoop, queue: WorkQueue) {
    self.loop = loop
    self.queue = queue
  }

  func runNext() async {
    guard let work = queue.popFirst() else { return }
    await work()
  }
}

/// Work not yet begun, oldest first.
///
/// SAFETY of `@unchecked Sendable`: used on the loop's thread only; the scope, its runner and its
/// cancellation handler carry it from one to the other.
private final class WorkQueue: @unchecked Sendable {
  private let loop: EventLoop
  private var works: [(() async -> Void)?] = []
  private var head = 0
  /// Works that no child task was made for yet.
  private var unclaimed = 0
  private var isClosed = false
  private var waiter: CheckedContinuation<Void, Never>?

  init(loop: EventLoop) {
    self.loop = loop
  }

  func append(_ work: @escaping () async -> Void) -> Bool {
    loop.checkIsolated()
    guard !isClosed else { return false }
    works.append(work)
    unclaimed += 1
    wake()
    return true
  }

  func popFirst() -> (() async -> Void)? {
    guard head < works.count else { return nil }
    let work = works[head]
    works[head] = nil
    head += 1
    if head == works.count {
      works.removeAll(keepingCapacity: true)
      head = 0
    }
    return work
  }

  /// Returns false once closed.
  func waitForWork(isolation: isolated (any Actor)? = #isolation) async -> Bool {
    loop.checkIsolated()
    await withTaskCancellationHandler {
      _ = isolation
      if unclaimed == 0, !isClosed {
        await withCheckedContinuation { waiter = $0 }
      }
    } onCancel: {
      if loop.isCurrent { close() } else { loop.perform { self.close() } }
    }
    return !isClosed
  }

  func takeCount() -> Int {
    defer { unclaimed = 0 }
    return unclaimed
  }

  func close() {
    isClosed = true
    wake()
  }

  private func wake() {
    waiter?.resume()
    waiter = nil
  }
}
