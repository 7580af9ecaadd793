// Counts a word in bytes as they arrive.
#pragma once

#include "support.h"

struct matches {
  size_t matched;
  uint64_t count;
};

// `word` must not begin with a part that it repeats: after a mismatch the search goes on behind it.
void matches_find(struct matches *, const char *word, const char *bytes, size_t count);
