import CLinux
import Glibc

/// Work that has a thread of its own, for it may wait for the system.
protocol ThreadWork: AnyObject, Sendable {
  var threadName: String { get }
  /// The thread ends when it returns.
  func run()
}

/// A thread for one piece of work.
struct WorkThread {
  private let thread: pthread_t

  init(running work: any ThreadWork) throws(StartError) {
    // Signals are for the broker's loops; none interrupts this thread.
    var all = sigset_t()
    var before = sigset_t()
    unsafe sigfillset(&all)
    unsafe pthread_sigmask(SIG_SETMASK, &all, &before)
    defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }

    var created = pthread_t()
    let context = unsafe Unmanaged.passRetained(StartedWork(work))
    let result = unsafe pthread_create(&created, nil, runWork, context.toOpaque())
    guard result == 0 else {
      unsafe context.release()
      errno = result
      throw .refused(.systemRefused, "cannot start a thread", at: work.threadName)
    }
    thread = created
  }

  /// Once only.
  func join() {
    pthread_join(thread, nil)
  }
}

private final class StartedWork {
  let work: any ThreadWork

  init(_ work: any ThreadWork) { self.work = work }
}

// SAFETY: the pointer is the reference that `WorkThread` retained for this thread.
private nonisolated func runWork(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let context = unsafe context else { return nil }
  let work = unsafe Unmanaged<StartedWork>.fromOpaque(context).takeRetainedValue().work
  unsafe linux_name_this_thread(work.threadName)
  work.run()
  return nil
}

/// Something that happens once, which threads can wait for among other descriptors.
final class EventDescriptor: Sendable {
  let descriptor: Int32

  init() throws(StartError) {
    descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
    guard descriptor >= 0 else { throw .refused(.systemRefused, "cannot wait", at: "eventfd") }
  }

  deinit {
    close(descriptor)
  }

  func set() {
    eventfd_write(descriptor, 1)
  }

  var isSet: Bool { wait(until: .now) }

  /// - Returns: whether it has happened.
  func wait(until deadline: ContinuousClock.Instant) -> Bool {
    !Poll.readable([descriptor], until: deadline).isEmpty
  }

  func wait() {
    while !wait(until: .now + .seconds(86_400)) {}
  }
}
