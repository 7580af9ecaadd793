#include "latency.h"

#include <stdlib.h>

void latencies_add(struct latencies *latencies, uint64_t nanoseconds) {
  if (latencies->count == latencies->room) {
    latencies->room = latencies->room ? latencies->room * 2 : 4096;
    latencies->microseconds = reserve(latencies->microseconds, latencies->room * sizeof *latencies->microseconds);
  }
  latencies->microseconds[latencies->count++] = (uint32_t)(nanoseconds / 1000);
}

static int compare(const void *left, const void *right) {
  uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
  return (a > b) - (a < b);
}

double latencies_percentile(struct latencies *latencies, double percent) {
  if (!latencies->count) return 0;
  qsort(latencies->microseconds, latencies->count, sizeof *latencies->microseconds, compare);
  size_t at = (size_t)((double)latencies->count * percent / 100);
  return latencies->microseconds[at < latencies->count ? at : latencies->count - 1];
}
