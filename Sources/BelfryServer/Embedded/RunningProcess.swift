import CLinux
import Glibc

/// A process, held by a descriptor (pidfd): its number cannot come to mean another one meanwhile.
final class RunningProcess: Sendable {
  let processID: pid_t
  /// Readable when the process has ended.
  let descriptor: Int32

  /// nil if there is no such process.
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

  /// - Returns: whether it ended in time.
  func waitForEnd(for timeout: Duration) -> Bool {
    !Poll.readable([descriptor], until: .now + timeout).isEmpty
  }

  /// Takes note of the end of a child, which otherwise stays in the kernel's table. Returns how it ended.
  func reap() -> String {
    var status: Int32 = 0
    while unsafe waitpid(processID, &status, 0) < 0 {
      if errno != EINTR { return "ended, nobody knows how" }
    }
    // The encoding of wait(2), whose macros Swift does not see.
    let signal = status & 0x7f
    return signal == 0 ? "exited with status \(status >> 8 & 0xff)" : "was ended by signal \(signal)"
  }
}

/// Waiting for descriptors on a thread that has nothing else to do.
enum Poll {
  /// - Returns: those of the descriptors that are readable or hung up; none when the deadline passed.
  static func readable(_ descriptors: [Int32], until deadline: ContinuousClock.Instant) -> [Int32] {
    wait(descriptors, for: Int16(POLLIN), until: deadline)
  }

  static func wait(
    _ descriptors: [Int32], for events: Int16, until deadline: ContinuousClock.Instant
  ) -> [Int32] {
    var polls = descriptors.map { pollfd(fd: $0, events: events, revents: 0) }
    while true {
      let count = unsafe poll(&polls, nfds_t(polls.count), millisecondsLeft(until: deadline))
      if count >= 0 { return polls.filter { $0.revents != 0 }.map(\.fd) }
      guard errno == EINTR || errno == EAGAIN else { return [] }
    }
  }

  /// Asks again and again, for what no descriptor tells of.
  static func until(_ deadline: ContinuousClock.Instant, _ isTrue: () -> Bool) -> Bool {
    while !isTrue() {
      guard .now < deadline else { return false }
      _ = readable([], until: min(deadline, .now + .milliseconds(20)))
    }
    return true
  }

  private static func millisecondsLeft(until deadline: ContinuousClock.Instant) -> Int32 {
    let (seconds, attoseconds) = ContinuousClock.now.duration(to: deadline).components
    // Rounded up: rounded down, the last millisecond would be spent spinning.
    let milliseconds = min(seconds, 86_400) * 1_000 + attoseconds / 1_000_000_000_000_000 + 1
    return Int32(max(milliseconds, 0))
  }
}
