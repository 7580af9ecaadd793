import CLinux
import Glibc

/// The thread on which a `RedisKeeper` runs.
struct KeeperThread {
  private let thread: pthread_t

  init(running keeper: RedisKeeper) throws(StartError) {
    // Signals are for the broker's loops; none interrupts this thread.
    var all = sigset_t()
    var before = sigset_t()
    unsafe sigfillset(&all)
    unsafe pthread_sigmask(SIG_SETMASK, &all, &before)
    defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }

    var created = pthread_t()
    let context = unsafe Unmanaged.passRetained(keeper)
    let result = unsafe pthread_create(&created, nil, runKeeperThread, context.toOpaque())
    guard result == 0 else {
      unsafe context.release()
      errno = result
      throw .refused(.redisUnusable, "cannot start a thread", at: "redis-server")
    }
    thread = created
  }

  /// Once only.
  func join() {
    pthread_join(thread, nil)
  }
}

// SAFETY: the pointer is the reference that `KeeperThread` retained for this thread.
private nonisolated func runKeeperThread(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let context = unsafe context else { return nil }
  unsafe linux_name_this_thread("embedded-redis")
  unsafe Unmanaged<RedisKeeper>.fromOpaque(context).takeRetainedValue().run()
  return nil
}

/// Something that happens once, which threads can wait for among other descriptors.
final class EventDescriptor: Sendable {
  let descriptor: Int32

  init() throws(StartError) {
    descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
    guard descriptor >= 0 else { throw .refused(.redisUnusable, "cannot wait for it", at: "redis-server") }
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
