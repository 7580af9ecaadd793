import BelfrySystem
import CLinux
import Glibc

/// A process, held by a descriptor (pidfd). Unlike a process number, a descriptor never comes to mean another
/// process.
final class RunningProcess: Sendable {
  let processID: pid_t
  /// Readable when the process has ended.
  let descriptor: Int32

  /// Nil if there is no such process.
  init?(_ processID: pid_t) {
    self.processID = processID
    descriptor = pidfd_open(processID, 0)
    if descriptor < 0 { return nil }
  }

  deinit {
    close(descriptor)
  }

  func signal(_ number: Int32) {
    _ = pidfd_send_signal(descriptor, number, nil, 0)
  }

  /// - Returns: true if it ended in time.
  func waitForEnd(for timeout: Duration) -> Bool {
    !Poll.readable([descriptor], until: .now + timeout).isEmpty
  }

  /// Waits for the end of a child, and removes it from the kernel's table.
  /// - Returns: the way in which it ended, in words.
  func reap() -> String {
    var status: Int32 = 0
    while unsafe waitpid(processID, &status, 0) < 0 {
      if errno != EINTR { return "ended for an unknown reason" }
    }
    // The encoding of wait(2), whose macros Swift does not see.
    let signal = status & 0x7f
    return signal == 0 ? "exited with status \(status >> 8 & 0xff)" : "was ended by signal \(signal)"
  }
}
