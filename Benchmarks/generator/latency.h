// How long things took, and the half and the hundredth of them that took longest.
#pragma once

#include "support.h"

struct latencies {
  uint32_t *microseconds;
  size_t count, room;
};

void latencies_add(struct latencies *, uint64_t nanoseconds);
// In microseconds; 0 when there are none. Sorts what it is given.
double latencies_percentile(struct latencies *, double percent);
