import Foundation
import Glibc
import Synchronization

/// The time of day as a redis-server of the test's own sees it: ahead of the machine's, or behind. Periods of
/// time, such as timeouts, are not affected.
///
/// A library that is loaded before all others answers the calls by which programs ask for the time. It adds the
/// number in a file, or gives the time in the file, if the clock stands still.
package final class ShiftedClock: Sendable {
  let folder: String
  private let seconds = Mutex<Int64>(0)
  private let file: Int32

  package init() async throws {
    folder = try makeTemporaryFolder()
    file = unsafe open(folder + "/offset", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    try write(0, at: 0)
    try write(0, at: 1)
    let source = folder + "/clock.c"
    try Self.source.write(toFile: source, atomically: false, encoding: .utf8)
    let log = folder + "/compiler.log"
    // The toolchain brings it.
    let compiler = try ChildProcess(
      ["clang", "-shared", "-fPIC", "-O1", "-o", libraryPath, source], output: log, folder: folder)
    guard await compiler.hasEnded(within: .seconds(60)), FileManager.default.fileExists(atPath: libraryPath)
    else { throw FixtureError("the clock does not compile:\n\(lastLogLines(of: log))") }
  }

  deinit {
    close(file)
    removeFolder(folder)
  }

  /// How far it is ahead of the machine's.
  package var offsetSeconds: Int64 { seconds.withLock { $0 } }

  /// From now on, in the running server, too.
  package func step(bySeconds change: Int64) throws {
    try seconds.withLock { seconds in
      seconds += change
      try write(seconds, at: 0)
    }
  }

  /// From now on it stands still at this time, until it is set to another one.
  /// - Parameter microseconds: since 1970.
  package func standStill(atMicroseconds microseconds: Int64) throws { try write(microseconds, at: 1) }

  var environment: [String: String] { ["LD_PRELOAD": libraryPath, "BELFRY_TEST_CLOCK": offsetPath] }

  private var libraryPath: String { folder + "/clock.so" }
  private var offsetPath: String { folder + "/offset" }

  /// In place: the server has mapped the file. Its first number is the offset, and the second one the time at which the
  /// clock stands, or 0.
  private func write(_ number: Int64, at place: Int) throws {
    // SAFETY: pwrite reads the number during the call only.
    let count = unsafe withUnsafeBytes(of: number) { unsafe pwrite(file, $0.baseAddress, 8, 8 * place) }
    if count != 8 { throw FixtureError("the clock cannot be set: errno \(errno)") }
  }

  private static let source = """
    #define _GNU_SOURCE
    #include <fcntl.h>
    #include <stdint.h>
    #include <stdlib.h>
    #include <sys/mman.h>
    #include <sys/syscall.h>
    #include <sys/time.h>
    #include <time.h>
    #include <unistd.h>

    static volatile int64_t *offset;

    __attribute__((constructor)) static void map_offset(void) {
      const char *path = getenv("BELFRY_TEST_CLOCK");
      int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
      if (file < 0) return;
      void *page = mmap(0, 2 * sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
      close(file);
      if (page != MAP_FAILED) offset = page;
    }

    int clock_gettime(clockid_t clock, struct timespec *time) {
      int status = syscall(SYS_clock_gettime, clock, time);
      int is_shifted = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
      if (status != 0 || !offset || !is_shifted) return status;
      time->tv_sec += *offset;
      if (offset[1]) *time = (struct timespec){offset[1] / 1000000, offset[1] % 1000000 * 1000};
      return status;
    }

    int gettimeofday(struct timeval *time, void *zone) {
      struct timespec now;
      int status = clock_gettime(CLOCK_REALTIME, &now);
      if (status == 0) *time = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
      return status;
    }

    time_t time(time_t *out) {
      struct timespec now;
      clock_gettime(CLOCK_REALTIME, &now);
      if (out) *out = now.tv_sec;
      return now.tv_sec;
    }
    """
}
