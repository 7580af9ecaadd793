// Counts Redis's replies (RESP2). Source: redis.io, "Redis serialization protocol specification".
#pragma once

#include "support.h"

struct resp_input {
  uint64_t skip;  // bytes of a string, and its end
  uint32_t open[16];  // elements still to come, of each array around
  uint8_t depth;
  uint8_t line_count;
  char line[32];  // the beginning of a line
};

// Complete replies that end in these bytes. A reply that is an error ends the program.
uint64_t resp_replies(struct resp_input *, const char *bytes, size_t count);
