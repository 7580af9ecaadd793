import CLinux
import Glibc

/// A thread for one piece of work, which may wait for the system. Signals are left to other threads: none interrupts
/// this one.
package struct SystemThread: Sendable {
  private let thread: pthread_t

  /// Starts the thread. It ends when the work does, and is then to be joined once, or detached before.
  /// - Parameter name: as tools show it; the kernel cuts it at 15 bytes.
  package init(_ name: String, _ work: @escaping @Sendable () -> Void) throws(SystemError) {
    var all = sigset_t()
    var before = sigset_t()
    unsafe sigfillset(&all)
    unsafe pthread_sigmask(SIG_SETMASK, &all, &before)
    defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }

    var created = pthread_t()
    let start = unsafe Unmanaged.passRetained(ThreadStart(name, work))
    let result = unsafe pthread_create(&created, nil, runThread, start.toOpaque())
    guard result == 0 else {
      unsafe start.release()
      throw SystemError(cause: result, place: "pthread_create")
    }
    thread = created
  }

  /// Waits until the work has ended.
  package func join() { pthread_join(thread, nil) }

  /// Nobody will join it.
  package func detach() { pthread_detach(thread) }
}

private final class ThreadStart {
  let name: String
  let work: @Sendable () -> Void

  init(_ name: String, _ work: @escaping @Sendable () -> Void) {
    self.name = name
    self.work = work
  }
}

// SAFETY: the pointer is the reference that `SystemThread` retained for this thread.
private nonisolated func runThread(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let context = unsafe context else { return nil }
  let start = unsafe Unmanaged<ThreadStart>.fromOpaque(context).takeRetainedValue()
  unsafe linux_name_this_thread(start.name)
  start.work()
  return nil
}
