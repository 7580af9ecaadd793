package import BelfrySystem
import CLinux
import Glibc
import Synchronization

/// One thread, one epoll, and everything that lives on them. The loop is the executor of the actors placed
/// on it (`unownedExecutor`), so they need no locks and switch between one another without a hop.
///
/// A task that works on the loop should have the loop as its executor preference (`addTask(executorPreference:)`,
/// `withTaskExecutorPreference`), which its children inherit. Without the preference each continuation is resumed on
/// the global pool first: 17 us instead of half of one.
///
/// One iteration: wait, descriptor handlers, due timers, jobs, hooks. Handlers, timers and hooks are plain closures
/// on the loop's thread; they enter an actor through `assumeIsolated`.
///
/// SAFETY of `@unchecked Sendable`: other threads use only `inbox`, `owner` and `thread`, which are safe by themselves.
/// Everything else is reached behind `isCurrent`.
package final class EventLoop: SerialExecutor, TaskExecutor, @unchecked Sendable {
  /// Jobs run in one iteration before the loop looks at its descriptors again. At about a microsecond a job, I/O
  /// waits a few milliseconds at most.
  static let jobsPerIteration = 4_096

  package let name: String
  let thread = Mutex<SystemThread?>(nil)
  private let inbox: Inbox
  private let owner = Atomic<pthread_t>(0)

  private let poller: Poller
  private var watches = WatchTable()
  private var timers = TimerHeap()
  private var hooks: [LoopHook] = []
  private var jobs = Queue<UnownedJob>()
  private var batch: [Inbox.Item] = []
  private var isStopping = false
  private var isRunningHooks = false
  private var areHooksRequired = false
  /// When this iteration began to dispatch events.
  package private(set) var now = ContinuousClock.now

  package init(name: String) throws(SystemError) {
    self.name = name
    inbox = try Inbox()
    poller = try Poller()
    try poller.add(inbox.descriptor, .readable, token: EventLoop.inboxToken)
  }

  // MARK: From any thread

  /// Whether the caller runs on the loop's thread.
  package var isCurrent: Bool {
    owner.load(ordering: .relaxed) == pthread_self()
  }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    if isCurrent {
      jobs.append(job)
    } else {
      inbox.append(.job(job))
    }
  }

  /// Runs the action on the loop's thread, in its next iteration.
  package func perform(_ action: @escaping @Sendable () -> Void) {
    inbox.append(.action(action))
  }

  package func checkIsolated() {
    precondition(isCurrent, "not on the thread of loop \(name)")
  }

  package func isIsolatingCurrentContext() -> Bool? {
    isCurrent
  }

  /// Ends `run()` as soon as no job is left. Jobs enqueued later never run: await what lives on the loop before
  /// stopping it.
  package func stop() {
    perform { self.isStopping = true }
  }

  // MARK: The iteration

  /// Runs the loop on the calling thread until `stop()`. A loop runs once.
  package func run() {
    occupyThread {
      while !hasEnded { iterate(isWaiting: true) }
    }
  }

  /// Makes the calling thread the loop's own for as long as the body takes.
  private func occupyThread(_ body: () -> Void) {
    let (isFree, _) = owner.compareExchange(expected: 0, desired: pthread_self(), ordering: .relaxed)
    precondition(isFree, "loop \(name) is already running")
    defer { owner.store(0, ordering: .relaxed) }
    body()
  }

  private func iterate(isWaiting: Bool) {
    dispatchEvents(waitingAtMost: isWaiting ? timeoutMilliseconds() : 0)
    fireTimers()
    runJobs()
    areHooksRequired = false
    isRunningHooks = true
    for hook in hooks { hook.run() }
    isRunningHooks = false
  }

  private func dispatchEvents(waitingAtMost timeoutMilliseconds: Int32) {
    let count: Int
    do {
      count = try poller.wait(timeoutMilliseconds: timeoutMilliseconds)
    } catch {
      // Only a bad epoll descriptor fails here, and the loop alone owns it.
      preconditionFailure("loop \(name) lost its poller: \(error)")
    }
    now = .now
    for index in 0..<count {
      let (token, readiness) = poller.event(index)
      if token == EventLoop.inboxToken {
        takeInbox()
      } else {
        watches.find(token: token)?.dispatch(readiness)
      }
    }
  }

  private func takeInbox() {
    inbox.take(into: &batch)
    for item in batch {
      switch item {
      case .job(let job): jobs.append(job)
      case .action(let action): action()
      }
    }
    batch.removeAll(keepingCapacity: true)
  }

  private func fireTimers() {
    let timersThen = timers.timersEver
    while let timer = timers.popDue(at: now, setBefore: timersThen) { timer.fire() }
  }

  private func runJobs() {
    let serialExecutor = unsafe asUnownedSerialExecutor()
    let taskExecutor = unsafe asUnownedTaskExecutor()
    for _ in 0..<EventLoop.jobsPerIteration {
      guard let job = jobs.popFirst() else { return }
      unsafe job.runSynchronously(isolatedTo: serialExecutor, taskExecutor: taskExecutor)
    }
  }

  /// How long to wait for events, rounded up: if it woke early, the loop would spin until the timer is due.
  private func timeoutMilliseconds() -> Int32 {
    if isBusy { return 0 }
    guard let earliest = timers.earliest else { return -1 }
    let remaining = ContinuousClock.now.duration(to: earliest)
    guard remaining > .zero else { return 0 }
    let (seconds, attoseconds) = remaining.components
    let milliseconds =
      min(seconds, 86_400) * 1_000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
    return Int32(milliseconds)
  }

  /// True if the next iteration has work even if no event comes and no timer is due.
  private var isBusy: Bool { !jobs.isEmpty || areHooksRequired }

  /// No watch has this token: their generations begin at 1.
  private static let inboxToken: UInt64 = 0
}

// MARK: Without a thread of its own

/// A simulation has many loops on one thread. It asks each loop when there is work, and lets one of them do an iteration.
/// libuv has the same for programs that embed it: `uv_backend_fd`, `uv_backend_timeout` and `UV_RUN_NOWAIT`.
///
/// Only the thread that drives the loop uses these functions, and never between the beginning and the end of `run()`.
extension EventLoop {
  /// The descriptor that is readable while events wait for the loop.
  package var eventDescriptor: Int32 { poller.descriptor }

  /// The time at which the loop has work even if no event comes: now or earlier if it has some already; nil if it waits
  /// for events alone.
  package var nextDeadline: ContinuousClock.Instant? { isBusy ? now : timers.earliest }

  /// True if the loop was stopped and has no job left.
  package var hasEnded: Bool { isStopping && jobs.isEmpty }

  /// Does one iteration on the calling thread, without waiting for events. The loop is current until it returns.
  package func iterateOnce() { occupyThread { iterate(isWaiting: false) } }
}

// MARK: On the loop's thread only

extension EventLoop {
  /// Calls the handler in every iteration in which the descriptor is ready, until the watch is cancelled.
  /// A hang-up or an error is reported even when nothing is asked for.
  package func watch(
    _ descriptor: Int32, for interest: Readiness, _ handler: @escaping (Readiness) -> Void
  ) throws(SystemError) -> Watch {
    checkIsolated()
    let watch = Watch(
      loop: self, descriptor: descriptor, generation: watches.nextGeneration(), interest: interest,
      handler: handler)
    try poller.add(descriptor, interest, token: watch.token)
    watches.insert(watch)
    return watch
  }

  func change(_ watch: Watch, _ interest: Readiness) throws(SystemError) {
    checkIsolated()
    try poller.change(watch.descriptor, interest, token: watch.token)
  }

  func remove(_ watch: Watch) {
    checkIsolated()
    poller.remove(watch.descriptor)
    watches.remove(watch)
  }

  package func schedule(after delay: Duration, _ action: @escaping () -> Void) -> LoopTimer {
    // Not the cached `now`, which may be long ago: the timer would fire early.
    schedule(at: .now + delay, action)
  }

  package func schedule(
    at deadline: ContinuousClock.Instant, _ action: @escaping () -> Void
  ) -> LoopTimer {
    checkIsolated()
    let timer = LoopTimer(loop: self, deadline: deadline, action: action)
    timers.insert(timer)
    return timer
  }

  func remove(_ timer: LoopTimer) {
    checkIsolated()
    timers.remove(timer)
  }

  /// Runs the action in each iteration, after the jobs and before the loop waits, in the order of the phases.
  package func beforeWaiting(_ phase: LoopHook.Phase, _ action: @escaping () -> Void) -> LoopHook {
    checkIsolated()
    let hook = LoopHook(phase, loop: self, action: action)
    let place = hooks.firstIndex { $0.phase > phase } ?? hooks.endIndex
    hooks.insert(hook, at: place)
    return hook
  }

  /// Makes all hooks run once more before the loop waits. Needed only while hooks run, for what one of them leaves
  /// to itself or to another that has run already; the next iteration then does not wait for events.
  package func requireHooks() {
    checkIsolated()
    if isRunningHooks { areHooksRequired = true }
  }

  func remove(_ hook: LoopHook) {
    checkIsolated()
    hooks.removeAll { $0 === hook }
  }
}

extension EventLoop {
  /// Starts a thread of the loop's name that runs the loop.
  package func spawnThread() throws(SystemError) {
    let started = try SystemThread(name) { self.run() }
    thread.withLock { $0 = started }
  }

  /// Waits until the thread has ended. Called on that thread itself it would wait forever, so it does not.
  package func join() {
    guard !isCurrent else { return }
    let taken = thread.withLock { thread in
      defer { thread = nil }
      return thread
    }
    taken?.join()
  }
}
