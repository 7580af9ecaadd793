/*
 * Between a server and its system: a clock that steps, a disk that is full, a flush that takes long. Preloaded into
 * redis-server and belfry, and told what to do through a mapped file, so that a step happens while they run.
 *
 * The monotonic clock is left alone: the kernel never steps it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

struct told {
  volatile int64_t step_nanoseconds;
  volatile int32_t disk_is_full;
  volatile int32_t flush_milliseconds;
};

static struct told nothing;
static struct told *told = &nothing;

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("FAULTS_TOLD");
  if (!path) return;
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  void *memory = mmap(NULL, sizeof *told, PROT_READ, MAP_SHARED, file, 0);
  close(file);
  if (memory != MAP_FAILED) told = memory;
}

static const int64_t SECOND = 1000000000;

/* The system call itself: nothing is allocated or looked up, so this works wherever it is called from. */
int clock_gettime(clockid_t clock, struct timespec *time) {
  int result = (int)syscall(SYS_clock_gettime, clock, time);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
    int64_t all = (int64_t)time->tv_sec * SECOND + time->tv_nsec + told->step_nanoseconds;
    time->tv_sec = all / SECOND;
    time->tv_nsec = all % SECOND;
  }
  return result;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
  (void)zone;
  struct timespec now;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
  time->tv_sec = now.tv_sec;
  time->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *result) {
  struct timespec now;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return (time_t)-1;
  if (result) *result = now.tv_sec;
  return now.tv_sec;
}

/* Of files alone: a full disk does not concern sockets. */
static int is_file(int descriptor) {
  struct stat about;
  return fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode);
}

ssize_t write(int descriptor, const void *bytes, size_t length) {
  if (told->disk_is_full && is_file(descriptor)) {
    errno = ENOSPC;
    return -1;
  }
  return syscall(SYS_write, descriptor, bytes, length);
}

static void wait_for_the_disk(void) {
  if (told->flush_milliseconds > 0) usleep((useconds_t)told->flush_milliseconds * 1000);
}

int fdatasync(int descriptor) {
  wait_for_the_disk();
  return (int)syscall(SYS_fdatasync, descriptor);
}

int fsync(int descriptor) {
  wait_for_the_disk();
  return (int)syscall(SYS_fsync, descriptor);
}
