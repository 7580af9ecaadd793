import CLinux
import Glibc

extension EventLoop {
  /// Starts a thread of the loop's name that runs the loop. Signals are left to the main thread and to
  /// `SignalWatch`: none interrupts the new thread.
  package func spawnThread() throws(LoopError) {
    var all = sigset_t()
    var before = sigset_t()
    unsafe sigfillset(&all)
    unsafe pthread_sigmask(SIG_SETMASK, &all, &before)
    defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }

    var created = pthread_t()
    let loop = unsafe Unmanaged.passRetained(self)
    let result = unsafe pthread_create(&created, nil, runLoopThread, loop.toOpaque())
    guard result == 0 else {
      unsafe loop.release()
      throw LoopError(cause: result, place: "pthread_create")
    }
    thread.withLock { $0 = created }
  }

  /// Waits until the thread has ended. Called on that thread itself it would wait forever, so it does not.
  package func join() {
    guard !isCurrent else { return }
    let taken = thread.withLock { thread in
      defer { thread = nil }
      return thread
    }
    if let taken { pthread_join(taken, nil) }
  }
}

// SAFETY: the pointer is the reference that `spawnThread` retained for this thread.
private nonisolated func runLoopThread(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let context = unsafe context else { return nil }
  let loop = unsafe Unmanaged<EventLoop>.fromOpaque(context).takeRetainedValue()
  unsafe linux_name_this_thread(loop.name)
  loop.run()
  return nil
}
