internal import Glibc

/// Milliseconds since 1970 by this machine's clock. For when tokens expire; never for order.
func wallClockMilliseconds() -> Int64 {
  var time = timespec()
  unsafe clock_gettime(CLOCK_REALTIME, &time)
  return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
}
