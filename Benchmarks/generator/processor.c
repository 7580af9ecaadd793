#include "processor.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "support.h"

enum { PROCESSES_MAX = 16 };
static long watched[PROCESSES_MAX];
static int watched_count;

void processor_watch(const char *processes) {
  for (const char *at = processes; *at; at += *at == ',') {
    if (watched_count == PROCESSES_MAX) fail("too many processes to watch");
    char *end;
    watched[watched_count++] = strtol(at, &end, 10);
    if (end == at) fail("not process ids: %s", processes);
    at = end;
  }
}

// The scheduler's own account of a thread. `utime` and `stime` count in hundredths of a second, which would be
// one part in a hundred of a round.
static uint64_t spent_by_threads(long process) {
  char path[320];
  snprintf(path, sizeof path, "/proc/%ld/task", process);
  DIR *threads = opendir(path);
  if (!threads) fail("process %ld is gone", process);
  uint64_t sum = 0;
  for (struct dirent *entry; (entry = readdir(threads));) {
    if (entry->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "/proc/%ld/task/%s/schedstat", process, entry->d_name);
    FILE *file = fopen(path, "r");
    unsigned long long spent = 0;
    if (!file || fscanf(file, "%llu", &spent) != 1) fail("cannot read %s", path);
    fclose(file);
    sum += spent;
  }
  closedir(threads);
  return sum;
}

// Redis rewrites its append-only file in a child; `schedstat` of the parent says nothing of it.
static uint64_t spent_by_children(long process) {
  char path[64], line[1024];
  snprintf(path, sizeof path, "/proc/%ld/stat", process);
  FILE *file = fopen(path, "r");
  if (!file || !fgets(line, sizeof line, file)) fail("process %ld is gone", process);
  fclose(file);
  long user, kernel;
  // After the name, which may hold anything: state, eleven numbers, utime, stime, and the children's.
  const char *fields = strrchr(line, ')');
  if (!fields
      || sscanf(fields + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %ld %ld", &user, &kernel) != 2)
    fail("cannot understand %s", path);
  return (uint64_t)(user + kernel) * (SECOND / (uint64_t)sysconf(_SC_CLK_TCK));
}

uint64_t processor_spent(void) {
  uint64_t sum = 0;
  for (int i = 0; i < watched_count; i++) sum += spent_by_threads(watched[i]) + spent_by_children(watched[i]);
  return sum;
}

uint64_t processor_spent_here(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return (uint64_t)time.tv_sec * SECOND + (uint64_t)time.tv_nsec;
}
