internal import Glibc

/// This machine's clock: for when tokens expire and what people read, never for order.
package enum WallClock {
  /// Since 1970.
  package static func nowMilliseconds() -> Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
  }
}
