package import BelfrySystem

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
