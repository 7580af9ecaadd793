#define _GNU_SOURCE
#include "simulated_machine.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

static _Thread_local bool is_simulated;
static _Thread_local int64_t monotonic_nanoseconds;
static _Thread_local int64_t wall_nanoseconds;
static _Thread_local uint64_t random_state;
static _Thread_local uint64_t escaped_jobs;

static void watch_global_executor(void);

void machine_begin(int64_t monotonic, int64_t wall) {
  watch_global_executor();
  machine_set_clocks(monotonic, wall);
  random_state = 0;
  escaped_jobs = 0;
  is_simulated = true;
}

void machine_end(void) { is_simulated = false; }

void machine_set_clocks(int64_t monotonic, int64_t wall) {
  monotonic_nanoseconds = monotonic;
  wall_nanoseconds = wall;
}

uint64_t machine_swap_randomness(uint64_t state) {
  uint64_t present = random_state;
  random_state = state;
  return present;
}

uint64_t machine_escaped_jobs(void) { return escaped_jobs; }

// The function of this name in the libraries that come after the executable. It is looked up once.
static void *find_next(void **known, const char *name) {
  void *found = __atomic_load_n(known, __ATOMIC_RELAXED);
  if (found == NULL) {
    found = dlsym(RTLD_NEXT, name);
    __atomic_store_n(known, found, __ATOMIC_RELAXED);
  }
  return found;
}

// MARK: Time

static int tell(int64_t nanoseconds, struct timespec *result) {
  result->tv_sec = nanoseconds / 1000000000;
  result->tv_nsec = nanoseconds % 1000000000;
  return 0;
}

int clock_gettime(clockid_t clock, struct timespec *result) {
  if (is_simulated) {
    switch (clock) {
      case CLOCK_REALTIME:
      case CLOCK_REALTIME_COARSE:
        return tell(wall_nanoseconds, result);
      case CLOCK_MONOTONIC:
      case CLOCK_MONOTONIC_COARSE:
      case CLOCK_MONOTONIC_RAW:
      case CLOCK_BOOTTIME:
        return tell(monotonic_nanoseconds, result);
      default:
        break;  // the processor's time, which nothing in a simulation goes by
    }
  }
  static void *known;
  int (*next)(clockid_t, struct timespec *) = find_next(&known, "clock_gettime");
  return next(clock, result);
}

int gettimeofday(struct timeval *result, void *zone) {
  (void)zone;
  struct timespec now;
  int status = clock_gettime(CLOCK_REALTIME, &now);
  if (status == 0) {
    result->tv_sec = now.tv_sec;
    result->tv_usec = now.tv_nsec / 1000;
  }
  return status;
}

time_t time(time_t *result) {
  struct timespec now = {0};
  clock_gettime(CLOCK_REALTIME, &now);
  if (result != NULL) *result = now.tv_sec;
  return now.tv_sec;
}

// MARK: Random numbers

// SplitMix64, as SeededGenerator.swift has it.
static uint64_t next_random(void) {
  random_state += 0x9e3779b97f4a7c15;
  uint64_t mixed = random_state;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
  return mixed ^ (mixed >> 31);
}

static void fill(void *bytes, size_t count) {
  for (size_t filled = 0; filled < count; filled += sizeof(uint64_t)) {
    uint64_t word = next_random();
    size_t rest = count - filled;
    memcpy((char *)bytes + filled, &word, rest < sizeof word ? rest : sizeof word);
  }
}

// Swift's library asks the kernel for random numbers through this function. It has as many arguments as the call takes, and
// at most six; those that the caller left out are passed on as they happen to be, which the kernel ignores.
__attribute__((no_sanitize("address"))) long syscall(long number, ...) {
  long argument[6];
  va_list list;
  va_start(list, number);
  for (int index = 0; index < 6; index++) argument[index] = va_arg(list, long);
  va_end(list);
  if (is_simulated && number == SYS_getrandom) {
    fill((void *)argument[0], (size_t)argument[1]);
    return argument[1];
  }
  static void *known;
  long (*next)(long, ...) = find_next(&known, "syscall");
  return next(number, argument[0], argument[1], argument[2], argument[3], argument[4], argument[5]);
}

ssize_t getrandom(void *bytes, size_t count, unsigned int flags) { return syscall(SYS_getrandom, bytes, count, flags); }

int getentropy(void *bytes, size_t count) { return getrandom(bytes, count, 0) == (ssize_t)count ? 0 : -1; }

// MARK: Jobs

// Swift's runtime calls this hook, if there is one, in place of the function that it is given.
typedef __attribute__((swiftcall)) void (*enqueue_call)(void *job);
typedef __attribute__((swiftcall)) void (*enqueue_hook)(void *job, enqueue_call enqueue);

static __attribute__((swiftcall)) void count_and_enqueue(void *job, enqueue_call enqueue) {
  if (is_simulated) escaped_jobs++;
  enqueue(job);
}

static void watch_global_executor(void) {
  enqueue_hook *hook = dlsym(RTLD_DEFAULT, "swift_task_enqueueGlobal_hook");
  // Without the hook nothing would notice a job that escapes. A test plants one.
  if (hook != NULL) __atomic_store_n(hook, count_and_enqueue, __ATOMIC_RELAXED);
}
