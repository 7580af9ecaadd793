import Glibc

/// Waiting for descriptors on a thread that has nothing else to do.
package enum Poll {
  /// - Returns: those of the descriptors that are readable or hung up; none when the deadline passed.
  package static func readable(_ descriptors: [Int32], until deadline: ContinuousClock.Instant) -> [Int32] {
    wait(descriptors, for: Int16(POLLIN), until: deadline)
  }

  package static func wait(
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
  package static func until(_ deadline: ContinuousClock.Instant, _ isTrue: () -> Bool) -> Bool {
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
