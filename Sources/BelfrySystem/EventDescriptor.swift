import CLinux
import Glibc

/// A descriptor (eventfd) that is readable from when it was set until it is cleared, for threads and loops that wait for
/// it among others.
package final class EventDescriptor: Sendable {
  package let descriptor: Int32

  package init() throws(SystemError) {
    descriptor = try systemCall("eventfd") { eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK)) }
  }

  deinit {
    close(descriptor)
  }

  package func set() { eventfd_write(descriptor, 1) }

  package func clear() {
    var count: eventfd_t = 0
    unsafe eventfd_read(descriptor, &count)
  }

  package var isSet: Bool { wait(until: .now) }

  /// - Returns: whether it is set.
  package func wait(until deadline: ContinuousClock.Instant) -> Bool {
    !Poll.readable([descriptor], until: deadline).isEmpty
  }

  package func wait() {
    while !wait(until: .now + .seconds(86_400)) {}
  }
}
